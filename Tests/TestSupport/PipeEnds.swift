import CLibwebsockets
import Glibc

/// Both ends of a pipe. No process inherits them, unless ``spawn(_:_:input:output:)`` gives it one: a process that another
/// test starts, such as PostgreSQL, would keep the pipe open.
package struct PipeEnds {
    package let reading: Int32
    package let writing: Int32

    package init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe2(&ends, O_CLOEXEC) == 0, "there is a descriptor left")
        (reading, writing) = (ends[0], ends[1])
    }

    /// Reads until the last writer closes, or in non-blocking mode until the pipe is empty.
    package func readToEnd() -> [UInt8] {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(reading, &buffer, buffer.count)
            guard count > 0 else { return all }
            all += buffer[..<count]
        }
    }

    /// Returns everything written, and closes the pipe.
    package func finish() -> String {
        close(writing)
        defer { close(reading) }
        return String(decoding: readToEnd(), as: UTF8.self)
    }
}
