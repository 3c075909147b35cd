import Glibc
import UnixSignals

/// The signals that a server lives by: trapped from the moment this is made, so that none can kill it half started.
struct ServerSignals {
    private let signals: UnixSignalsSequence

    /// Traps SIGTERM, SIGINT and SIGHUP.
    init() async {
        signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
    }

    /// Waits for SIGTERM or SIGINT.
    ///
    /// - Parameter onHangup: called for each SIGHUP.
    func waitForStop(onHangup: () async -> Void = {}) async {
        for await signal in signals {
            guard signal == .sighup else { return }
            await onHangup()
        }
    }
}

/// Says on standard output that the server is ready, in the line that scripts wait for.
func announce(_ url: String) {
    print("listening on \(url)")
    // A pipe is written when its buffer is full, unless told.
    fflush(nil)
}
