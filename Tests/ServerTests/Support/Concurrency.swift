import Glibc
import TestSupport

/// Runs bodies concurrently, each on its own thread, and waits for all.
///
/// - Parameter here: Runs on the calling thread meanwhile.
/// - Throws: The first of their errors.
func concurrently(_ bodies: [@Sendable () throws -> Void], here: () throws -> Void = {}) throws {
    let errors = Recorder<(any Error)?>()
    for body in bodies {
        let work = Unmanaged.passRetained(Work { errors.record(Result { try body() }.failure) })
        var thread = pthread_t()
        let failed = pthread_create(
            &thread, nil,
            { pointer in
                // Balances the retain before `pthread_create`.
                Unmanaged<Work>.fromOpaque(pointer!).takeRetainedValue().run()
                return nil
            }, work.toOpaque())
        precondition(failed == 0, "no thread could be started")
        pthread_detach(thread)
    }
    let own = Result { try here() }.failure
    for case let error? in try errors.wait(for: bodies.count) { throw error }
    if let own { throw own }
}

private final class Work {
    let run: () -> Void

    init(_ run: @escaping () -> Void) {
        self.run = run
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
