/// What serves a connection: bytes come in, and the handler writes to the connection what is to go out.
///
/// Every call comes on the connection's loop. Handlers are not Sendable and need no locks.
public protocol ConnectionHandler: AnyObject {
    /// Bytes have arrived. They are gone after the call.
    func received(_ bytes: Span<UInt8>, on connection: Connection)

    /// All that was written has left for the kernel; more may be written.
    func drained(_ connection: Connection)

    /// The time set with ``Connection/setDeadline(_:)`` has come. The connection stays as it is unless the handler
    /// does something about it.
    func deadlineReached(_ connection: Connection)

    /// The server is about to stop: say goodbye. The connection is cut when the grace period ends.
    func shuttingDown(_ connection: Connection)

    /// The connection is gone. Nothing more is called.
    func closed(_ connection: Connection)
}
