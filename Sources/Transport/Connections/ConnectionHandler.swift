/// The handler of a connection: it receives bytes and writes the response to the connection.
///
/// Every call is on the connection's loop. Handlers are not Sendable and need no locks.
public protocol ConnectionHandler: AnyObject {
    /// Tells the handler that bytes have arrived. They are valid only during the call.
    func received(_ bytes: Span<UInt8>, on connection: Connection)

    /// Tells the handler that the kernel has taken all written bytes. More may be written.
    func drained(_ connection: Connection)

    /// Tells the handler that it is its turn, after ``Connection/awaitTurn()``.
    func turnCame(_ connection: Connection)

    /// Tells the handler that the time set with ``Connection/setDeadline(_:)`` has come. The connection stays open
    /// unless the handler ends it.
    func deadlineReached(_ connection: Connection)

    /// Tells the handler that the server is about to stop, so that it can end the conversation properly. The connection
    /// is closed at the end of the grace period.
    func shuttingDown(_ connection: Connection)

    /// Tells the handler that the connection has ended. It is the last call.
    func closed(_ connection: Connection)
}

extension ConnectionHandler {
    /// Does nothing: for handlers that never wait for a turn.
    public func turnCame(_ connection: Connection) {}
}
