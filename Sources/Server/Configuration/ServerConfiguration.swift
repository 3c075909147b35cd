import Chat
public import HTTP
public import Tokens
public import Transport

/// Everything about a server that can be chosen, with its defaults.
public struct ServerConfiguration: Sendable {
    /// Where to listen: a name or an address; `localhost` is 127.0.0.1 and ::1.
    public var host = "localhost"
    /// The port; 0 picks one.
    public var port = 8080
    /// The address at which metrics are served, with `/healthz` and `/readyz` and nothing else, always without TLS; `nil` to serve them at
    /// ``host`` and ``port``.
    public var metricsAddress: ListenAddress?
    /// The addresses of proxies whose word on a client's address is believed.
    public var trustedProxies: [IPRange] = []
    /// True if connections from ``trustedProxies`` begin with a header of the PROXY protocol.
    public var proxyProtocol = false
    /// The path of the SQLite database, which is made if it is not there.
    public var database = "backscroll.db"
    /// The number of loops: threads that serve connections, 1 to 64.
    public var threads = 1
    /// The number of threads that read history, 1 to 64.
    public var readers = 2
    /// The certificate for HTTPS; `nil` for HTTP.
    public var tls: TLSConfiguration?
    /// The origins whose pages may use the server, beside its own; `*` for all.
    public var allowedOrigins: [String] = []
    /// The host names that a server in open mode answers to, beside `localhost`, IP addresses and ``host``. Not used with
    /// tokens or ``insecureOpen``.
    public var allowedHosts: [String] = []
    /// What callers' tokens are held against; `nil` for open mode, in which there are none.
    public var tokens: TokenRules?
    /// True to listen beyond loopback although anybody may use any name.
    public var insecureOpen = false
    /// True if requests may ask the server to misbehave; in open mode only.
    public var faults = false
    /// How often users and addresses may do things.
    public var limits = RateLimits()
    /// True if `GET /` is the web page.
    public var page = true
    /// The bounds of connections.
    public var transport = TransportLimits()
    /// The bounds of requests.
    public var http = HTTPLimits()
    /// The time that a request may take to arrive.
    public var deadlines = HTTPDeadlines()
    /// The bounds of WebSockets.
    public var webSocket = WebSocketLimits()
    /// The interval at which an event stream gets a heartbeat, a comment that keeps proxies from ending it and shows whether its client
    /// is still there.
    public var eventHeartbeat = Duration.seconds(15)
    /// The requests that the log has a line of.
    public var requestLogging = RequestLogging.off
    /// True if messages are compressed on the WebSockets of clients that offer it.
    public var compression = true
    /// The time it takes until a user is said again to be typing in a room.
    public var typingInterval = TypingRate.defaultInterval
    /// True if rooms are made by admins only; the others are not there then.
    public var roomsByAdminsOnly = false
    /// True if only admins may make other users members of rooms.
    public var membersByAdminsOnly = false
    /// For how many days messages are kept, 1 to 36,500; `nil` for ever. Older ones become tombstones.
    public var keepDays: Int?
    /// True if subscribers are told how many are subscribed to their rooms.
    public var presence = true
    /// The time it takes until they are told again.
    public var presenceInterval = Presence.defaultInterval
    /// True if subscribers are told up to where users have read.
    public var readNotices = true
    /// The time it takes until they are told, and told again of the same user.
    public var readNoticeInterval = ReadNotices.defaultInterval
    /// The bytes of a room's latest messages that a loop keeps for its subscribers.
    public var feedBytes = 32 * 1024
    /// Maximum number of sends that wait for a commit; one more is answered 503.
    public var sendQueue = 65_536
    /// Bytes of request bodies that may be arriving or waiting for a commit, over all connections; beyond it requests are
    /// answered 503 `overloaded`.
    public var pendingBytes = 64 * 1024 * 1024
    /// Bytes of messages that all feeds together keep for subscribers that are behind; beyond it these read the store.
    public var allFeedsBytes = 128 * 1024 * 1024
    /// Maximum number of reads that wait for a reader; one more is answered 503.
    public var readQueue = 65_536
    /// Maximum number of reads of one user, or of one address without a name, that wait; one more is answered
    /// 503.
    public var readQueueOfAsker = 16_384
    /// The most pages of 8 KiB that the database may have; `nil` for no bound but the disk's.
    public var maximumDatabasePages: Int?
    /// The time that a commit waits for another program that has locked the database, in milliseconds.
    public var busyTimeout = 5000
    /// The time that connections get to end in good order when the server stops.
    public var grace = Duration.seconds(5)
    /// Called on a reader's thread before it hands over what it has read: tests hold it up there.
    var onRead: (@Sendable () -> Void)?

    /// The defaults.
    public init() {}
}

/// A host and a port to listen on.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address; `localhost` is 127.0.0.1 and ::1.
    public var host: String
    /// The port; 0 picks one.
    public var port: Int

    /// A host and a port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`, with an IPv6 address in brackets: `[::1]:9090`; `nil` if it is something else.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        var host = text[..<colon]
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = Int(digits), port <= 65_535
        else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.init(host: String(host), port: port)
    }

    /// The address as it is read.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// The time that a request may take to arrive; then the answer is 408.
public struct HTTPDeadlines: Sendable {
    /// From the connection to the first byte.
    public var firstByte = Duration.seconds(10)
    /// From the first byte of a request to the end of its head.
    public var head = Duration.seconds(10)
    /// From the end of the head to the end of the body.
    public var body = Duration.seconds(30)
    /// From an answer to the next request; then the connection is closed without a word.
    public var idle = Duration.seconds(75)

    /// The defaults.
    public init() {}
}

/// The bounds of a WebSocket.
public struct WebSocketLimits: Sendable {
    /// The largest message of a client, in bytes; a larger one closes with 1009.
    public var messageBytes = 64 * 1024
    /// The most frames that a client may send in a second; more close with 4429.
    public var framesPerSecond = 200
    /// The same for a socket for many rooms, whose client may subscribe to all of them when it comes back.
    public var framesPerSecondForRooms = 1200
    /// The most rooms that one socket is subscribed to; one more is answered `too_many_subscriptions`.
    public var subscriptions = 1000
    /// How often the client is pinged; it is gone after two that are not answered.
    public var pingInterval = Duration.seconds(30)

    /// The defaults.
    public init() {}
}
