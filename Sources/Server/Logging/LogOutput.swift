import Glibc
import Synchronization

/// Where lines of the log go: a file descriptor, which is never closed.
///
/// Each line is one `write(2)` without a buffer before it, so nothing is lost when the process dies, and the threads
/// take turns, so that no line has another one in it.
public final class LogOutput: Sendable {
    /// The usual place: apart from what a command prints as its result, and collected all the same in a container.
    public static let standardError = LogOutput(descriptor: 2)
    /// For platforms that collect only this one.
    public static let standardOutput = LogOutput(descriptor: 1)

    /// The time that a line waits for room in a pipe that is full and does not block, in milliseconds.
    static let patienceMilliseconds: Int32 = 100

    private let descriptor: Int32
    /// True if the line before could not be written to its end. Held by the thread whose turn it is.
    private let torn = Mutex(false)

    /// There must be only one output for a descriptor, or else the threads do not take turns.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes a line, which ends with a line feed. What cannot be written is lost: a full disk must stop no server.
    func write(line: [UInt8]) {
        torn.withLock { torn in
            let bytes = torn ? [UInt8(ascii: "\n")] + line : line
            let written = write(bytes)
            if written > 0 { torn = written < bytes.count }
        }
    }

    /// Writes as many of the bytes as is possible, at once if the system lets it, and tells how many.
    private func write(_ bytes: [UInt8]) -> Int {
        var done = 0
        while done < bytes.count {
            // The pointer is used only inside the closure, and only for as many bytes as there are after it.
            let written = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if written >= 0 {
                done += written
            } else if errno == EAGAIN {
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&room, 1, Self.patienceMilliseconds) <= 0 { break }
            } else if errno != EINTR {
                break
            }
        }
        return done
    }
}
