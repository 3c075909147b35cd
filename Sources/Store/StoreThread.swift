import Glibc

/// A thread that can be waited for.
struct StoreThread: Sendable {
    private let thread: pthread_t

    /// Starts a thread with a name of at most 15 bytes.
    init(name: String, _ body: @escaping @Sendable () -> Void) {
        var new = pthread_t()
        let box = Unmanaged.passRetained(Body(body))
        let failed = pthread_create(
            &new, nil,
            { body in
                // Balances the retain above.
                Unmanaged<Body>.fromOpaque(body!).takeRetainedValue().run()
                return nil
            }, box.toOpaque())
        precondition(failed == 0, "no thread could be started")
        thread = new
    }

    /// Waits for the thread to end.
    func join() {
        pthread_join(thread, nil)
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}
