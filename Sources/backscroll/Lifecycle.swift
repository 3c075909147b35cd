import Glibc
import Logging
import ServiceLifecycle
import UnixSignals

/// Waits for SIGTERM or SIGINT. A second one while the program stops ends it at once.
///
/// - Parameter onHangup: called for each SIGHUP.
func waitForStop(onHangup: @escaping @Sendable () -> Void = {}) async throws {
    let group = ServiceGroup(
        configuration: .init(
            services: [
                .init(service: Waiting(onHangup: onHangup), successTerminationBehavior: .gracefullyShutdownGroup)
            ],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "lifecycle") { _ in SwiftLogNoOpLogHandler() }))
    try await group.run()
}

/// A service that does nothing but hear signals.
private struct Waiting: Service {
    let onHangup: @Sendable () -> Void

    func run() async throws {
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        await cancelWhenGracefulShutdown {
            for await _ in hangups { onHangup() }
        }
    }
}

/// Says on standard output that the server is ready, in the line that scripts wait for.
func announce(_ url: String) {
    print("listening on \(url)")
    // A pipe is written when its buffer is full, unless told.
    fflush(nil)
}
