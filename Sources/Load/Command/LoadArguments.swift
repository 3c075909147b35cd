import ArgumentParser

/// The event after which a slot is free for the next request.
enum Until: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// The answer.
    case ack
    /// The answer, and the delivery of the message to every subscriber of the room.
    case delivered
}

/// The page of a room to request.
enum Page: String, CaseIterable, Sendable, ExpressibleByArgument {
    /// The newest page.
    case newest
    /// A page that ends at a random message.
    case random
    /// The oldest page.
    case deepest
}

/// Options for the amount of work.
struct LoadArguments: ParsableArguments {
    @Option(name: [.short, .long], help: "Subscribers; number i listens to room i modulo --rooms. (default: 100)")
    var subscribers: Int?

    @Option(help: "Number of rooms.")
    var rooms = 1

    @Option(help: "Number of rooms to send to. (default: all)")
    var activeRooms: Int?

    @Option(help: "Publisher connections, each with one request at a time. (default: 32, with --rate 128)")
    var inFlight: Int?

    @Option(help: "Messages to send per second, even if the server does not keep up. (default: as many as possible)")
    var rate: Double?

    @Option(help: "Without --rate: what a publisher waits for before it sends again, the answer or all deliveries.")
    var until = Until.delivered

    @Option(help: "Size of a body in bytes, to which {pad} fills it up.")
    var size = 256

    @Option(
        help: "Messages to send, however long it takes, without --warmup. With --pages: the number in the room.")
    var messages: Int?

    @Option(help: "Request pages of --room instead of sending: newest, random (with --messages) or deepest.")
    var pages: Page?

    @Option(help: "The room, with Backscroll's own API. (default: new rooms for each run)")
    var room: String?

    @Flag(help: "Only hold the connections, and send nothing.")
    var idle = false

    @Flag(help: "Reconnect, resume subscriptions, and repeat sends until they are acknowledged.")
    var reconnect = false
}

/// Options for disturbances after the measurement, while --rate continues.
struct DisturbanceArguments: ParsableArguments {
    @Option(help: "Clients that reconnect at once and catch up, while the subscribers are measured.")
    var storm: Int?

    @Option(help: "With --storm: number of messages that each of these clients has missed.")
    var back = 100

    @Option(help: "Subscribers that read nothing for a while, while the others are measured.")
    var stall: Int?

    @Option(help: "With --stall: seconds for which they read nothing.")
    var stallSeconds = 30.0
}

/// Options for durations, in seconds.
struct TimingArguments: ParsableArguments {
    @Option(help: "Seconds to measure.")
    var seconds = 8.0

    @Option(help: "Seconds to send before the measurement begins.")
    var warmup = 1.0

    @Option(help: "Seconds between the last subscription and the first request.")
    var settle = 0.5

    @Option(help: "Seconds to wait for missing messages after the last one. (default: 5, with --reconnect 30)")
    var drain: Double?
}

/// Options for the tool itself.
struct ToolArguments: ParsableArguments {
    @Option(help: "Maximum number of handshakes at a time.")
    var connectBurst = 200

    @Option(help: "Maximum number of new connections per second. (default: only --connect-burst limits them)")
    var connectRate: Double?

    @Option(help: "Threads of this tool. The clients of --storm get as many of their own.")
    var threads = 1

    @Option(help: "The server's processes, P[,P…]: report what they and their descendants use.")
    var pid: String?

    @Option(help: "For https and wss: trust the certificates in this PEM file. (default: those that the system trusts)")
    var tlsCa: String?

    @Flag(help: "For https and wss: trust any certificate.")
    var insecure = false

    @Flag(help: "Create the run's rooms first, and delete them at the end, also after Ctrl-C.")
    var cleanUp = false

    @Flag(help: "Print the report as one line of JSON, and no progress.")
    var json = false
}

/// Options for the text of requests.
struct TemplateArguments: ParsableArguments {
    @Option(help: "The URL for subscribers: 'ws://127.0.0.1:9000/sub/{room}'.")
    var ws: String?

    @Option(name: .customLong("ws-protocol"), help: "A subprotocol to offer (repeatable).")
    var wsProtocols: [String] = []

    @Option(help: "A text to send when the socket is open (repeatable).")
    var hello: [String] = []

    @Option(help: "A subscriber is ready when it has received this text. (default: when the socket is open)")
    var ready: String?

    @Flag(help: "The server's messages are pieces of a stream that may be cut anywhere, as with NATS.")
    var wsStream = false

    @Option(
        name: [.customLong("post"), .customLong("url")],
        help: "The URL of requests: 'http://127.0.0.1:9000/pub/{room}', or tcp://127.0.0.1:4222 for another protocol.")
    var post: String?

    @Option(help: "The method of requests. With GET, answers are counted and timed, without subscribers.")
    var method = "POST"

    @Option(name: .customLong("header"), help: "A header of requests and upgrades (repeatable).")
    var headers: [String] = []

    @Option(help: "The body of requests. It must contain {mark}.")
    var body: String?

    @Option(help: "With tcp: a text to send first on each connection.")
    var tcpHello: String?

    @Option(help: "With tcp: the text to send for a message, containing {body}.")
    var tcpFrame: String?

    @Option(help: "With tcp: the text that acknowledges a message.")
    var tcpAnswer: String?

    @Flag(help: "Subscribers may see different orders, since NATS for example keeps only the order of each publisher.")
    var anyOrder = false

    @Option(name: .customLong("rand"), help: "The range of {rand}: LOW:HIGH.")
    var random: String?

    /// True if the run uses Backscroll's own API.
    var isOwn: Bool { ws == nil && post == nil }

    /// True if a token names the user.
    var hasToken: Bool { headers.contains { $0.lowercased().hasPrefix("authorization:") } }
}
