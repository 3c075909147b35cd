import CLibwebsockets
import Synchronization

/// The log of libwebsockets, which has one logger per process.
public enum LibraryLog {
    /// The severity of a line.
    public enum Level: Sendable {
        /// A failure.
        case error
        /// A warning.
        case warning
    }

    /// A struct, because a closure stored directly in a mutex is wrapped once more by each read, without end.
    private struct Sink: Sendable {
        var write: @Sendable (Level, String) -> Void
    }

    private static let sink = Mutex(Sink { _, _ in })

    /// Sends the library's errors and warnings to `sink`, line by line, from any thread.
    public static func send(to newSink: @escaping @Sendable (Level, String) -> Void) {
        sink.withLock { $0.write = newSink }
    }

    // Set once: other threads may be logging when a further context is created.
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
