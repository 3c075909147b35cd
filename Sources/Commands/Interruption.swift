import Glibc
import Synchronization

/// The state of Ctrl-C: after the first one, the command ends early and cleanly. A second one ends the process.
///
/// It works without a second thread, for commands that occupy their thread. On one processor Swift's tasks have only
/// one thread.
package enum Interruption {
    private static let flag = Atomic(false)

    /// Starts recording SIGINT and SIGTERM, each once.
    package static func watch() {
        for signal in [SIGINT, SIGTERM] {
            var action = sigaction()
            // The handler only does an atomic store, which is allowed in a signal handler (POSIX, 2.4.3).
            action.__sigaction_handler.sa_handler = { _ in Interruption.flag.store(true, ordering: .relaxed) }
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_RESTART)
            sigaction(signal, &action, nil)
        }
    }

    /// True once a signal was received.
    package static var isRequested: Bool { flag.load(ordering: .relaxed) }
}
