/// The handler of a connection: it receives bytes and writes the response to the connection.
///
/// Every call is on the connection's loop. Handlers are not Sendable and need no locks.
public protocol ConnectionHandler: AnyObject {
    /// Handles received bytes. They are valid only during the call.
    func received(_ bytes: Span<UInt8>, on connection: Connection)

    /// Handles that the kernel has taken all written bytes; more may be written.
    func drained(_ connection: Connection)

    /// Handles the time set with ``Connection/setDeadline(_:)``. The connection stays open unless the handler ends it.
    func deadlineReached(_ connection: Connection)

    /// Handles that the server is about to stop: say goodbye. The connection is cut at the end of the grace period.
    func shuttingDown(_ connection: Connection)

    /// Handles the end of the connection. It is the last call.
    func closed(_ connection: Connection)
}
