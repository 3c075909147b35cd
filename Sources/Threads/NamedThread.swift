import Glibc

/// A thread that can be joined.
public struct NamedThread: Sendable {
    private let thread: pthread_t

    /// Starts a thread with a name of at most 15 bytes.
    ///
    /// - Parameter niceness: 0 for the usual priority, up to 19 to give way to other threads, as setpriority(2) says. Linux
    ///   has a niceness for each thread.
    public init(name: String, niceness: Int32 = 0, _ body: @escaping @Sendable () -> Void) {
        var new = pthread_t()
        let work = Unmanaged.passRetained(Work(name: name, niceness: niceness, body: body))
        let failed = pthread_create(
            &new, nil,
            { work in
                // Balances the retain above.
                Unmanaged<Work>.fromOpaque(work!).takeRetainedValue().run()
                return nil
            }, work.toOpaque())
        precondition(failed == 0, "no thread could be started")
        thread = new
    }

    /// Waits for the thread to end. Must be called once.
    public func join() {
        pthread_join(thread, nil)
    }

    private final class Work: Sendable {
        private let name: String
        private let niceness: Int32
        private let body: @Sendable () -> Void

        init(name: String, niceness: Int32, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.niceness = niceness
            self.body = body
        }

        func run() {
            takeName()
            if niceness > 0 { setpriority(Int32(PRIO_PROCESS.rawValue), 0, niceness) }
            body()
        }

        /// Names the calling thread, as `top -H` and debuggers show it.
        private func takeName() {
            // The Glibc module lacks pthread_setname_np, a GNU extension.
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            guard file >= 0 else { return }
            _ = write(file, name, name.utf8.count)
            Glibc.close(file)
        }
    }
}
