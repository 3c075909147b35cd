import Dispatch

/// Holds a thread until a test releases it.
final class Gate: Sendable {
    private let arrived = DispatchSemaphore(value: 0)
    private let opened = DispatchSemaphore(value: 0)

    /// Passes the gate, or waits until it opens.
    func pass() {
        arrived.signal()
        opened.wait()
    }

    /// Waits until a thread has arrived.
    func waitForArrival() {
        arrived.wait()
    }

    /// Lets `count` threads pass.
    func open(_ count: Int = 1) {
        for _ in 0..<count { opened.signal() }
    }
}
