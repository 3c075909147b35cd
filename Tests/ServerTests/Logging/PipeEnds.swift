import Glibc

/// Both ends of a pipe, for a log to be read back.
struct PipeEnds {
    let reading: Int32
    let writing: Int32

    init() {
        var ends: [Int32] = [0, 0]
        precondition(pipe(&ends) == 0, "there is a descriptor left")
        // A process that another test starts, such as PostgreSQL, would keep the pipe open.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (reading, writing) = (ends[0], ends[1])
    }

    /// Reads until the last writer closes, or in non-blocking mode until the pipe is empty.
    func readToEnd() -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            guard count > 0 else { return all }
            all += buffer[..<count]
        }
    }

    /// Returns everything written, and closes the pipe.
    func finish() -> String {
        close(writing)
        defer { close(reading) }
        return String(decoding: readToEnd(), as: UTF8.self)
    }
}
