/// A value that is confined to a loop, and can be carried through other threads.
///
/// For example, a commit of the writer thread must find the feeds of a loop. It carries the `LoopBound` to the loop
/// with ``Loop/post(_:)`` and accesses the value there. The last owner destroys the value, on any thread.
///
/// Sendable because the value is accessed only through `value`, which traps on every thread but the loop's own.
public struct LoopBound<Value>: @unchecked Sendable {
    /// The loop that the value belongs to.
    public let loop: Loop
    private let bound: Value

    /// Transfers `value` to `loop`, from any thread.
    public init(_ value: sending Value, to loop: Loop) {
        self.loop = loop
        bound = value
    }

    /// Wraps `value`, which already belongs to `loop`. Traps when called on another thread.
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
