/// The limits of connections, each with its default.
public struct TransportLimits: Sendable {
    /// Maximum number of connections of the process, over all its loops. Further ones get 503 and are closed.
    public var connections: Int
    /// Maximum number of connections accepted in one turn of a loop.
    public var acceptsPerTurn: Int
    /// Maximum number of long-lived clients (see ``Loop/clientStays()``) that a loop accepts per second while others
    /// have priority (see ``Loop/prioritizeClients()``). Further ones wait in the kernel's queue.
    public var acceptRate: Int
    /// Maximum number of such clients accepted at once.
    public var acceptBurst: Int
    /// Pause of a loop's listeners when it has run out of descriptors, so that it does not spin.
    public var acceptPause: Duration
    /// Maximum number of refused connections that a listener keeps for ``linger``, so that their clients can read the
    /// refusal. Further ones are closed at once.
    public var refusals: Int
    /// Maximum number of bytes that all connections together keep for slow clients, beyond the kernel's buffers. A
    /// connection whose bytes do not fit is ended; its client can reconnect and ask again.
    public var unsentBytes: Int
    /// The kernel's send buffer per connection in bytes (`SO_SNDBUF`; Linux doubles it for its bookkeeping).
    public var sendBuffer: Int
    /// Maximum duration of a TLS handshake, in whole seconds.
    public var handshake: Duration
    /// Maximum time for a balancer's PROXY header, in milliseconds.
    public var proxyHeader: Duration
    /// The time after which the keys of TLS session tickets are replaced, at most a day. Tickets with older keys are
    /// not accepted, and their clients make a full handshake.
    public var ticketKeys: Duration
    /// Maximum time without progress while there is something to send, in ticks of 100 ms. The connection is then
    /// ended, up to a quarter of this time later.
    public var noProgress: Duration
    /// Maximum time that a finished connection is kept to let its client read to the end.
    public var linger: Duration
    /// Maximum number of bytes read from a connection in one turn; at least 16 KiB.
    public var readSize: Int

    /// Creates limits; the arguments replace defaults.
    public init(
        connections: Int = 65_536, acceptsPerTurn: Int = 16, acceptRate: Int = 2300, acceptBurst: Int = 8,
        acceptPause: Duration = .milliseconds(100), refusals: Int = 64, unsentBytes: Int = 256 * 1024 * 1024,
        sendBuffer: Int = 64 * 1024, handshake: Duration = .seconds(10), proxyHeader: Duration = .seconds(5),
        ticketKeys: Duration = .seconds(12 * 3600), noProgress: Duration = .seconds(60), linger: Duration = .seconds(2),
        readSize: Int = 64 * 1024
    ) {
        self.connections = connections
        self.acceptsPerTurn = acceptsPerTurn
        self.acceptRate = acceptRate
        self.acceptBurst = acceptBurst
        self.acceptPause = acceptPause
        self.refusals = refusals
        self.unsentBytes = unsentBytes
        self.sendBuffer = sendBuffer
        self.handshake = handshake
        self.proxyHeader = proxyHeader
        self.ticketKeys = ticketKeys
        self.noProgress = noProgress
        self.linger = linger
        self.readSize = readSize
    }
}
