/// Something that only its loop may touch, carried through other threads.
///
/// A commit of the writer thread, say, has to find the feeds of a loop: it carries the `LoopBound` to the loop with
/// ``Loop/post(_:)``, and there looks inside. The last to hold it destroys the value, on whatever thread that is.
///
/// Sendable because the value is reached through `value` alone, which traps on every thread but the loop's own.
public struct LoopBound<Value>: @unchecked Sendable {
    /// The loop that the value belongs to.
    public let loop: Loop
    private let bound: Value

    /// Gives `value` to `loop`, from any thread.
    public init(_ value: sending Value, to loop: Loop) {
        self.loop = loop
        bound = value
    }

    /// Binds `value`, which lives on `loop` already. Traps when called on another thread.
    public init(_ value: Value, of loop: Loop) {
        loop.preconditionIsolated()
        self.loop = loop
        bound = value
    }

    /// The value. Traps when called on another thread.
    public var value: Value {
        loop.preconditionIsolated()
        return bound
    }
}
