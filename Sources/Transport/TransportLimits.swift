/// The bounds of connections, each with its default.
public struct TransportLimits: Sendable {
    /// Connections that the process serves at a time, over all its loops. One more gets 503 and a close.
    public var connections: Int
    /// Connections accepted in one turn of a loop before others are served again.
    public var acceptsPerTurn: Int
    /// Clients that a loop lets in per second, of those that stay (see ``Loop/clientStays()``), while it is busy with others
    /// (see ``Loop/favourClients()``); the next ones wait in the kernel's queue.
    public var acceptRate: Int
    /// How many of them may come at once.
    public var acceptBurst: Int
    /// How long a loop leaves its listeners alone when it has run out of descriptors, so that no core spins.
    public var acceptPause: Duration
    /// Refused connections that a listener keeps for ``linger``, to let their clients read the refusal. One more is
    /// closed at once.
    public var refusals: Int
    /// Bytes that all connections together keep for clients that are slow to take them, beyond what the kernel buffers. A
    /// connection whose bytes do not fit is ended: its client can come back and ask again.
    public var unsentBytes: Int
    /// What the kernel buffers for one connection, in bytes (`SO_SNDBUF`; Linux doubles it for its own books).
    public var sendBuffer: Int
    /// How long a client may take for its TLS handshake, in whole seconds.
    public var handshake: Duration
    /// How long a balancer may take for its PROXY header. In milliseconds.
    public var proxyHeader: Duration
    /// How long the keys of TLS session tickets are used, before new ones take their place; a day at most. Tickets by older
    /// keys are not accepted: their clients make a full handshake.
    public var ticketKeys: Duration
    /// A connection whose client took nothing for this long (a quarter more at most), while there was something to
    /// send, is ended. In ticks of 100 ms.
    public var noProgress: Duration
    /// How long a connection that we have finished is kept to let its client read to the end.
    public var linger: Duration
    /// The most that is read from a connection in one turn, in bytes; 16 KiB at least.
    public var readSize: Int

    /// The defaults, or some of one's own.
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
