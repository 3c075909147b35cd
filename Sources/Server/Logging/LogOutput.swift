import Glibc
import Synchronization

/// The destination of log lines: a file descriptor, which is never closed.
///
/// Each line is one unbuffered `write(2)`, so nothing is lost when the process dies. Threads take turns, so lines never
/// mix.
public final class LogOutput: Sendable {
    /// The usual destination. It is separate from a command's results, and containers collect it as well.
    public static let standardError = LogOutput(descriptor: 2)
    /// For platforms that collect standard output only.
    public static let standardOutput = LogOutput(descriptor: 1)

    /// The time that a line waits for space in a full non-blocking pipe, in milliseconds.
    static let patienceMilliseconds: Int32 = 100

    private let descriptor: Int32
    /// True if the previous line was written only in part. The lock serialises the threads.
    private let torn = Mutex(false)

    /// Creates an output. Each descriptor needs a single output, or else threads do not take turns.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Writes a line, which ends with a line feed. A line that cannot be written is lost, since a full disk must not
    /// stop the server.
    func write(line: [UInt8]) {
        torn.withLock { torn in
            let bytes = torn ? [UInt8(ascii: "\n")] + line : line
            let written = write(bytes)
            if written > 0 { torn = written < bytes.count }
        }
    }

    /// Writes as many of the bytes as possible and returns their number. Makes one system call if the system takes all
    /// at once.
    private func write(_ bytes: [UInt8]) -> Int {
        var done = 0
        while done < bytes.count {
            // The pointer is used only inside the closure, for the bytes that are left.
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
