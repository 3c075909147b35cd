import CLibwebsockets
import Synchronization

/// Where libwebsockets' own words go. It has one logger for the whole process.
public enum LibraryLog {
    /// How much a line matters.
    public enum Level: Sendable {
        /// A failure.
        case error
        /// Something odd.
        case warning
    }

    /// A closure that is a mutex's value itself is wrapped once more by each read of it, without end; a struct is not.
    private struct Sink: Sendable {
        var write: @Sendable (Level, String) -> Void
    }

    private static let sink = Mutex(Sink { _, _ in })

    /// Sends the library's errors and warnings to `sink`, from any thread, a line at a time.
    public static func send(to newSink: @escaping @Sendable (Level, String) -> Void) {
        sink.withLock { $0.write = newSink }
    }

    // Once: other threads may be logging when a further context is made.
    private static let installed: Void = lws_set_log_level(LLL_ERR | LLL_WARN) { level, line in
        guard let line else { return }
        var text = String(cString: line)
        while text.last?.isNewline == true { text.removeLast() }
        let current = LibraryLog.sink.withLock { $0 }
        current.write(level == LLL_ERR ? .error : .warning, text)
    }

    static func install() {
        installed
    }
}
