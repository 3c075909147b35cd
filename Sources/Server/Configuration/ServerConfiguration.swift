import Chat
public import HTTP
import Store
public import Tokens
public import Transport
import Webhooks

/// The settings of a server, with their defaults.
public struct ServerConfiguration: Sendable {
    /// The name or address to listen on; `localhost` is 127.0.0.1 and ::1.
    public var host = "localhost"
    /// The port; 0 picks a free one.
    public var port = 8080
    /// The address of a separate listener for `/metrics`, `/healthz` and `/readyz`, always without TLS. With `nil`,
    /// metrics are served at ``host`` and ``port``.
    public var metricsAddress: ListenAddress?
    /// Minimum time between two computations of the metrics: 1 second. Requests in between get the last ones.
    public var metricsInterval = Duration.seconds(1)
    /// The addresses of proxies that are trusted to report a client's address.
    public var trustedProxies: [IPRange] = []
    /// True if connections from ``trustedProxies`` begin with a PROXY protocol header.
    public var proxyProtocol = false
    /// The path of the SQLite database, which is created if it does not exist; or the URL of a PostgreSQL database,
    /// `postgres://USER@HOST/DATABASE`, whose tables are created if it is empty.
    public var database = "backscroll.db"
    /// The number of loops: threads that serve connections, 1 to 64.
    public var threads = 1
    /// The number of threads that read history, 1 to 64.
    public var readers = 2
    /// The number of connections to PostgreSQL that write, 1 to 16. With SQLite there is one writer.
    public var writers = 2
    /// The certificate for HTTPS; `nil` for HTTP.
    public var tls: TLSConfiguration?
    /// The origins whose pages may use the server, in addition to its own; `*` allows all.
    public var allowedOrigins: [String] = []
    /// The host names that a server in open mode answers to, in addition to `localhost`, IP addresses and ``host``.
    /// Ignored with tokens or ``insecureOpen``.
    public var allowedHosts: [String] = []
    /// The rules that tokens are verified by; `nil` for open mode, which uses no tokens.
    public var tokens: TokenRules?
    /// True to allow listening beyond loopback in open mode, where anybody may use any name.
    public var insecureOpen = false
    /// True if requests may ask for injected faults; in open mode only.
    public var faults = false
    /// Rate limits of users and addresses.
    public var limits = RateLimits()
    /// True if `GET /` serves the web page.
    public var page = true
    /// Limits on connections.
    public var transport = TransportLimits()
    /// Limits on requests.
    public var http = HTTPLimits()
    /// The time limits for the arrival of a request.
    public var deadlines = HTTPDeadlines()
    /// Limits on WebSockets.
    public var webSocket = WebSocketLimits()
    /// The interval between heartbeats on an event stream. A heartbeat is a comment; it keeps proxies from closing the
    /// stream, and reveals a lost client.
    public var eventHeartbeat = Duration.seconds(15)
    /// The requests to log.
    public var requestLogging = RequestLogging.off
    /// True if WebSocket messages are compressed for clients that offer permessage-deflate.
    public var compression = true
    /// The minimum interval between two notices that the same user is typing in a room.
    public var typingInterval = TypingRate.defaultInterval
    /// True if only admins may create rooms. For other callers, rooms that do not exist are not found.
    public var roomsByAdminsOnly = false
    /// True if only admins may add other users to rooms.
    public var membersByAdminsOnly = false
    /// The maximum number of members of a room in which everybody may mention the room; in others its owners may.
    public var roomMentionMembers = Facts.Policy.defaultRoomMentionMembers
    /// The number of days that messages are kept, 1 to 36,500; `nil` keeps them for ever. Older messages become
    /// tombstones.
    public var keepDays: Int?
    /// The addresses that webhooks may have besides public ones.
    public var webhookAddresses: [IPRange] = []
    /// True if webhooks may have `http` URLs.
    public var webhookHTTP = false
    /// The proxy that deliveries to webhooks go through; `nil` for none.
    public var webhookProxy: String?
    /// The app to ask before a message is stored; `nil` for none.
    public var beforeSend: BeforeSendConfiguration?
    /// The time in seconds that users with a live connection have for reading before a push event.
    public var pushDelay = 30
    /// The part of a message that push events have.
    public var pushContent = PushContent.message
    /// What sends deliveries to webhooks; `nil` for the server's own. Tests choose another.
    var webhookSender: (any Sender)?
    /// Number of a webhook's rooms that are read at once, which tests lower.
    var webhookRoomsOfPoll = 512
    /// The bounds of large rooms for push events, which tests lower.
    var largeRooms = LargeRoomLook()
    /// True if messages are stored in PostgreSQL although its crash could lose them.
    public var unsafeDatabase = false
    /// True if subscribers are told the number of subscribers in their rooms.
    public var presence = true
    /// The minimum interval between two presence notices of a room.
    public var presenceInterval = Presence.defaultInterval
    /// True if subscribers are told the read marks of other users.
    public var readNotices = true
    /// True if users may learn the read marks of others at all. Otherwise lists of read marks are refused, and read notices
    /// go to the user's own devices only.
    public var readReceipts = true
    /// True if users may search for messages.
    public var search = true
    /// The minimum interval between two notices of the same user's read mark. The first notice is delayed by up to this
    /// interval, too.
    public var readNoticeInterval = ReadNotices.defaultInterval
    /// The size in bytes of a room's newest messages that a loop keeps for its subscribers.
    public var feedBytes = 32 * 1024
    /// Maximum number of sends that wait for a commit; further sends are answered with 503.
    public var sendQueue = 65_536
    /// Maximum size in bytes of the request bodies that are arriving or waiting for a commit, over all connections.
    /// Beyond it requests are answered with 503 `overloaded`.
    public var pendingBytes = 64 * 1024 * 1024
    /// Maximum size in bytes of the messages that all feeds together keep for slow subscribers. Beyond it slow
    /// subscribers read the store.
    public var allFeedsBytes = 128 * 1024 * 1024
    /// Maximum number of reads that wait for a reader; further reads are answered with 503.
    public var readQueue = 65_536
    /// Maximum number of waiting reads of one user, or of the callers without a name from one address. Further reads
    /// are answered with 503.
    public var readQueueOfClient = 16_384
    /// Maximum size of the database in pages of 8 KiB; `nil` for no limit but the disk's.
    public var maximumDatabasePages: Int?
    /// The time in milliseconds that a commit waits for another program's lock on the database.
    public var busyTimeout = 5000
    /// Maximum time without an answer from a PostgreSQL database. After it, the server is not ready.
    public var listenerSilence = Duration.seconds(5)
    /// The time that connections have to close cleanly when the server stops.
    public var grace = Duration.seconds(5)
    /// Called once if the database has another history than when the server was started: it was restored, or a standby
    /// was promoted. The server is not ready from then on, and must be stopped and started again. Called on a thread of
    /// the server, which must not wait for ``Server/stop()``.
    public var onOtherHistory: (@Sendable () -> Void)?
    /// Called once if a sync of the SQLite database has failed. The server is not ready from then on, and must be stopped
    /// and started again. Called on a thread of the server, which must not wait for ``Server/stop()``.
    public var onFailedSync: (@Sendable () -> Void)?
    /// Called on a reader's thread before it hands over its results. Tests use it to delay reads.
    var onRead: (@Sendable () -> Void)?

    /// Creates a configuration with the defaults.
    public init() {}
}

/// The app that is asked before a message is stored.
public struct BeforeSendConfiguration: Sendable {
    /// The treatment of messages that the app gives no answer about.
    public enum Failure: String, CaseIterable, Sendable {
        /// It is refused with 503.
        case refuse
        /// It is stored as it was sent.
        case allow
    }

    /// The URL that questions are posted to: `https` or `http`, at any address.
    public var url: String
    /// The path of a file with the secrets that sign questions: a line for each.
    public var secretFile: String
    /// The treatment of messages that the app gives no answer about.
    public var failure: Failure

    /// Creates the configuration of an app.
    public init(url: String, secretFile: String, failure: Failure = .refuse) {
        self.url = url
        self.secretFile = secretFile
        self.failure = failure
    }
}

/// A host and a port to listen on.
public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name or an address; `localhost` is 127.0.0.1 and ::1.
    public var host: String
    /// The port; 0 picks one.
    public var port: Int

    /// Creates an address from a host and a port.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Parses `HOST:PORT`, with an IPv6 address in brackets: `[::1]:9090`. Returns `nil` for any other text.
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

    /// The address in the form that the initializer parses.
    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// The time limits for the arrival of a request. A request that exceeds one gets 408.
public struct HTTPDeadlines: Sendable {
    /// From the connection to the first byte.
    public var firstByte = Duration.seconds(10)
    /// From the first byte of a request to the end of its head.
    public var head = Duration.seconds(10)
    /// From the end of the head to the end of the body.
    public var body = Duration.seconds(30)
    /// From an answer to the next request; then the connection is closed without an answer.
    public var idle = Duration.seconds(75)

    /// The defaults.
    public init() {}
}

/// Limits on a WebSocket.
public struct WebSocketLimits: Sendable {
    /// Maximum size of a client's message in bytes, when decompressed; a larger one closes the socket with 1009. The
    /// largest that a client needs renews a token, which has at most 8 KiB.
    public var messageBytes = 10 * 1024
    /// Maximum number of frames a client may send in a second; more close the socket with 4429. A message counts as a
    /// frame more for each KiB of it.
    public var framesPerSecond = 200
    /// The same limit for a socket with many rooms, whose client may subscribe to all of them when it reconnects.
    public var framesPerSecondForRooms = 1200
    /// Maximum number of rooms that one socket subscribes to; further ones are answered `too_many_subscriptions`.
    public var subscriptions = 1000
    /// The interval between pings. A client that leaves two unanswered is disconnected.
    public var pingInterval = Duration.seconds(30)

    /// The defaults.
    public init() {}
}
