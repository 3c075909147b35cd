import Glibc
import UnixSignals

/// The signals that control a server. They are trapped as soon as this is created, so that none kills a half-started
/// server.
package struct ServerSignals {
    private let signals: UnixSignalsSequence

    /// Traps the signals.
    package init() async {
        signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    }

    /// Waits for SIGTERM or SIGINT.
    ///
    /// - Parameter onHangup: Called for each SIGHUP.
    package func waitForStop(onHangup: () async -> Void = {}) async {
        for await signal in signals {
            guard signal == .sighup else { return }
            await onHangup()
        }
    }
}

/// Prints the line that scripts wait for: the server is ready.
package func announce(_ url: String) {
    print("listening on \(url)")
    // A pipe is fully buffered, so flush it.
    fflush(nil)
}
