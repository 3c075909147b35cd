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

    @Option(help: "Rooms.")
    var rooms = 1

    @Option(help: "Send only to so many of the rooms. (default: all)")
    var activeRooms: Int?

    @Option(help: "Publisher connections, one request outstanding on each. (default: 32, with --rate 128)")
    var inFlight: Int?

    @Option(help: "Send so many messages a second, whether or not the server keeps up. (default: as fast as it goes)")
    var rate: Double?

    @Option(help: "Without --rate: a slot is free again after the answer, or after all deliveries too.")
    var until = Until.delivered

    @Option(help: "Bytes of a body: what {pad} fills it up to.")
    var size = 256

    @Option(help: "Send so many messages, however long it takes, without --warmup. With --pages: how many there are.")
    var messages: Int?

    @Option(help: "Ask for pages of --room instead of sending: newest, random (with --messages) or deepest.")
    var pages: Page?

    @Option(help: "The room of Backscroll's own API to use. (default: rooms of the run's own)")
    var room: String?

    @Flag(help: "Send nothing: hold the connections.")
    var idle = false

    @Flag(help: "Make lost connections again, resume subscriptions, and repeat sends until they are acknowledged.")
    var reconnect = false
}

/// Options for disturbances after the measurement, while --rate continues.
struct DisturbanceArguments: ParsableArguments {
    @Option(help: "So many clients come back at once and catch up, while the subscribers are watched.")
    var storm: Int?

    @Option(help: "With --storm: how many messages each of the clients has missed.")
    var back = 100

    @Option(help: "So many of the subscribers read nothing for a while, while the others are watched.")
    var stall: Int?

    @Option(help: "With --stall: for how many seconds.")
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
    @Option(help: "Handshakes under way at a time.")
    var connectBurst = 200

    @Option(help: "Connections begun in a second. (default: no bound but --connect-burst)")
    var connectRate: Double?

    @Option(help: "Threads of this tool. A storm's clients have the same number again.")
    var threads = 1

    @Option(help: "The server's processes, P[,P…]: report what they and their descendants use.")
    var pid: String?

    @Option(help: "For https and wss: trust the certificates in this PEM file. (default: those that the system trusts)")
    var tlsCa: String?

    @Flag(help: "For https and wss: trust any certificate.")
    var insecure = false

    @Flag(help: "Make the run's rooms first, and delete them at the end, also after Ctrl-C.")
    var cleanUp = false

    @Flag(help: "Print the report as one line of JSON, and no progress.")
    var json = false
}

/// Options for the text of requests.
struct TemplateArguments: ParsableArguments {
    @Option(help: "Where subscribers connect to: 'ws://127.0.0.1:9000/sub/{room}'.")
    var ws: String?

    @Option(name: .customLong("ws-protocol"), help: "A subprotocol to offer (repeatable).")
    var wsProtocols: [String] = []

    @Option(help: "A text to send when the socket is open (repeatable).")
    var hello: [String] = []

    @Option(help: "A subscriber is ready when it has received this text. (default: when the socket is open)")
    var ready: String?

    @Flag(help: "A server's messages are pieces of a stream, cut anywhere, as those of NATS are.")
    var wsStream = false

    @Option(
        name: [.customLong("post"), .customLong("url")],
        help: "Where requests go: 'http://127.0.0.1:9000/pub/{room}', or tcp://127.0.0.1:4222 for another protocol.")
    var post: String?

    @Option(help: "The requests' method. What GET asks for is counted and timed, without subscribers.")
    var method = "POST"

    @Option(name: .customLong("header"), help: "A header of requests and upgrades (repeatable).")
    var headers: [String] = []

    @Option(help: "The requests' body, with {mark} in it.")
    var body: String?

    @Option(help: "With tcp: a text to send first on each connection.")
    var tcpHello: String?

    @Option(help: "With tcp: the text to send for a message, containing {body}.")
    var tcpFrame: String?

    @Option(help: "With tcp: the text that acknowledges a message.")
    var tcpAnswer: String?

    @Flag(help: "Subscribers may see different orders: a server may keep that of each publisher only, as NATS does.")
    var anyOrder = false

    @Option(name: .customLong("rand"), help: "What {rand} is taken from, LOW:HIGH.")
    var random: String?

    /// True if the run uses Backscroll's own API.
    var isOwn: Bool { ws == nil && post == nil }

    /// True if a token names the user.
    var hasToken: Bool { headers.contains { $0.lowercased().hasPrefix("authorization:") } }
}
