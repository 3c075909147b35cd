import Glibc
import Synchronization

/// Whether the user has pressed Ctrl-C: the run then ends early, with its report. A second time ends the process.
enum Interruption {
    private static let flag = Atomic(false)

    /// Has SIGINT and SIGTERM noted from now on, each once.
    static func watch() {
        for signal in [SIGINT, SIGTERM] {
            var action = sigaction()
            // An atomic store is all that the handler does, which may be done in one (POSIX, 2.4.3).
            action.__sigaction_handler.sa_handler = { _ in Interruption.flag.store(true, ordering: .relaxed) }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_RESTART)
            sigaction(signal, &action, nil)
        }
    }

    /// Whether it was noted.
    static var isRequested: Bool { flag.load(ordering: .relaxed) }
}
