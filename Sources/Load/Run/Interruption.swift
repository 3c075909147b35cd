import Glibc
import Synchronization

/// True if the user has pressed Ctrl-C: what runs then ends early, in good order. A second time ends the process.
///
/// For what occupies its thread meanwhile: no second one is needed to notice the signal. On one processor Swift's tasks have
/// only one.
public enum Interruption {
    private static let flag = Atomic(false)

    /// Has SIGINT and SIGTERM noted from now on, each once.
    public static func watch() {
        for signal in [SIGINT, SIGTERM] {
            var action = sigaction()
            // An atomic store is all that the handler does, which may be done in one (POSIX, 2.4.3).
            action.__sigaction_handler.sa_handler = { _ in Interruption.flag.store(true, ordering: .relaxed) }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_RESTART)
            sigaction(signal, &action, nil)
        }
    }

    /// True if it was noted.
    public static var isRequested: Bool { flag.load(ordering: .relaxed) }
}
