import Dispatch

/// Holds a thread up until a test lets it go on.
final class Gate: Sendable {
    private let arrived = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)

    /// Called by the thread that is to be held up.
    func pass() {
        arrived.signal()
        opened.wait()
    }

    /// Waits until a thread stands before the gate.
    func waitForArrival() {
        arrived.wait()
    }

    /// Lets everyone through from now on who comes at most `count` times.
    func open(_ count: Int = 1) {
        for _ in 0..<count { opened.signal() }
    }
}
