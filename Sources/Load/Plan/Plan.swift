import Transport

/// The validated description of a run. It is created once and read by every loop.
struct Plan: Sendable {
    /// The rule for the time of the next request.
    enum Pacing: Equatable, Sendable {
        /// Closed loop: a request follows as soon as a slot is free. A slot is free after the answer, or after the
        /// answer and all deliveries.
        case closed(awaitsDeliveries: Bool)
        /// Open loop: a fixed rate, whether or not the server keeps up. Latencies count from the time when a request
        /// was due, so that a stall of the server shows in every request that it delayed.
        case open(perSecond: Double)
    }

    /// The way subscribers connect.
    struct Subscribing: Sendable {
        var endpoint: Endpoint
        /// The path and query.
        var target: Template
        /// Header lines, each with its end.
        var headers: Template
        /// The values of `Sec-WebSocket-Protocol` to offer.
        var protocols: [String]
        /// Text messages to send once the socket is open.
        var hello: [Template]
        /// A subscriber is ready once it has received a message that contains this text; if nil, once its socket is
        /// open.
        var ready: [UInt8]?
        /// True if messages are pieces of one stream, whose texts may span pieces.
        var isStream = false
    }

    /// The requests of the publishers: sends or page reads.
    struct Publishing: Sendable {
        /// The way answers are recognized.
        enum Answers: Equatable, Sendable {
            /// HTTP responses. A 2xx status acknowledges a request.
            case responses
            /// A text that acknowledges a request wherever it occurs.
            case text([UInt8])
        }

        var endpoint: Endpoint
        /// The bytes to send first on each connection; nil for none.
        var hello: Template?
        var request: RequestTemplate
        var answers = Answers.responses
        /// True if the requests are sends, whose messages subscribers should receive.
        var sendsMessages: Bool
        /// Number of publisher connections, each with at most one outstanding request.
        var inFlight: Int
        var pacing: Pacing
        /// The range of `{rand}`.
        var random: ClosedRange<Int64>
        /// Total number of requests; nil for as many as fit in the time.
        var count: Int?
    }

    /// An event after the measurement. It shows the effect on clients that do not take part.
    enum Disturbance: Equatable, Sendable {
        /// A number of clients that connect at once, each to catch up with a number of messages.
        case storm(clients: Int, back: Int)
        /// A number of subscribers, the first ones, that stop reading for this time.
        case stall(subscribers: Int, Duration)
    }

    /// The durations and limits of the phases.
    struct Schedule: Sendable {
        /// Maximum number of concurrent handshakes, over all loops.
        var connectBurst = 200
        /// Maximum number of new connections per second, over all loops; nil for no limit.
        var connectRate: Double?
        /// Pause between the last subscription and the first request.
        var settle = Duration.milliseconds(500)
        /// Duration of requests before the measurement.
        var warmup = Duration.seconds(1)
        /// Duration of the measurement.
        var measurement = Duration.seconds(8)
        /// Maximum time without progress while waiting for outstanding answers at the end.
        var drain = Duration.seconds(5)
    }

    /// The number of the run, which is part of its marks and of the names of its rooms and users.
    var run: Int64
    /// The server, as the report names it.
    var server: String
    /// Number of subscribers; subscriber `i` listens to room `i` modulo ``rooms``.
    var subscribers = 0
    var rooms = 1
    /// Number of rooms that messages are sent to: the first ones.
    var activeRooms = 1
    /// Number of loops with subscribers and publishers, each on its own thread.
    var threads = 1
    /// Size of a body in bytes.
    var size = 256
    /// The way subscribers connect; not nil if there are subscribers.
    var subscribing: Subscribing?
    /// The requests to send; nil to only hold the connections.
    var publishing: Publishing?
    var schedule = Schedule()
    /// The event after the measurement, if there is one.
    var disturbance: Disturbance?
    /// True to replace lost connections: subscriptions resume after the last received message, and sends are repeated
    /// until they are acknowledged.
    var reconnects = false
    /// True if the run ends early when the user interrupts it.
    var heedsInterruption = true
    /// True if subscribers of a room may receive its messages in different orders.
    var allowsAnyOrder = false
    /// The authorities that servers' certificates must be signed by.
    var trust = ClientTLS.Trust.system
    /// The server's process ids, to measure its resource usage.
    var processes: [Int] = []

    /// Number of descriptors that the process needs besides its connections.
    static let spareDescriptors = 64

    /// Maximum total time for clients to connect, besides the time that ``Schedule/connectRate`` takes.
    static let connectPatience = Duration.seconds(120)

    /// Returns the maximum total time for `clients` to connect.
    func patience(toConnect clients: Int) -> Duration {
        Self.connectPatience + .seconds(schedule.connectRate.map { Double(clients) / $0 } ?? 0)
    }

    /// Number of open files that the run needs.
    var descriptors: Int { subscribers + storming + (publishing?.inFlight ?? 0) + Self.spareDescriptors }

    /// Number of clients in a storm. Their numbers follow those of the subscribers.
    var storming: Int { if case .storm(let clients, _) = disturbance { clients } else { 0 } }

    /// Number of loops. A storm's clients have as many loops of their own as the others, so that the measured clients
    /// do not wait while this process reads the storm's data.
    var loops: Int { storming > 0 ? 2 * threads : threads }

    /// Number of loops that send: the first ones, each with at least one publisher. They share counts and rates, and
    /// number the messages.
    var sendingLoops: Int { min(threads, publishing?.inFlight ?? threads) }

    /// Returns true if a loop serves only clients of the storm: those after the first ``threads``.
    func isOfStorm(loop: Int) -> Bool { loop >= threads }

    /// Number of subscribers that stall.
    var stalling: Int { if case .stall(let subscribers, _) = disturbance { subscribers } else { 0 } }

    /// Returns the number of loops that have subscribers of the room.
    func loopsListening(to room: Int) -> Int {
        var loops: Set<Int> = []
        for subscriber in stride(from: room, to: subscribers, by: rooms) where loops.count < threads {
            loops.insert(subscriber % threads)
        }
        return loops.count
    }
}
