/// Something that only its loop may touch, carried through other threads.
///
/// A commit of the writer thread, say, has to find the feeds of a loop: it carries the `LoopBound` to the loop with
/// ``Loop/post(_:)``, and there looks inside.
// Sendable because the value is reached through `value` alone, which traps on every thread but the loop's own.
public struct LoopBound<Value>: @unchecked Sendable {
    /// The loop that the value belongs to.
    public let loop: Loop
    private let bound: Value

    /// Binds `value` to `loop`. Call it on the loop, or before the loop runs.
    public init(_ value: sending Value, to loop: Loop) {
        self.loop = loop
        bound = value
    }

    /// The value. Traps when called on another thread.
    public var value: Value {
        loop.preconditionIsolated()
        return bound
    }
}
