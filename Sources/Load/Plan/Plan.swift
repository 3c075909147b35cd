import Transport

/// What a run does, checked and ready: it is made once and read by every loop.
struct Plan: Sendable {
    /// When a request may follow the one before it.
    enum Pacing: Equatable, Sendable {
        /// Closed loop: as soon as a slot is free again, which is after the answer, or after the answer and all
        /// deliveries.
        case closed(awaitsDeliveries: Bool)
        /// Open loop: so many a second, whether or not the server keeps up. Latencies count from when a request was
        /// due, so that a stall of the server shows in all that it delayed.
        case open(perSecond: Double)
    }

    /// How subscribers connect.
    struct Subscribing: Sendable {
        var endpoint: Endpoint
        /// The path and query.
        var target: Template
        /// Header lines, each with its end.
        var headers: Template
        /// What is offered as `Sec-WebSocket-Protocol`.
        var protocols: [String]
        /// Text messages to send when the socket is open.
        var hello: [Template]
        /// A subscriber is ready when it has received a message with this text in it; nil: when the socket is open.
        var ready: [UInt8]?
        /// Whether messages are pieces of a stream, to be read as if they were one.
        var isStream = false
    }

    /// How messages are sent, or pages asked for.
    struct Publishing: Sendable {
        /// What an answer is recognised by.
        enum Answers: Equatable, Sendable {
            /// HTTP's responses, of which those with 2xx acknowledge a request.
            case responses
            /// This text, which acknowledges a request, wherever it comes.
            case text([UInt8])
        }

        var endpoint: Endpoint
        /// What is sent first on each connection; nil: nothing.
        var hello: Template?
        var request: RequestTemplate
        var answers = Answers.responses
        /// Whether the requests are sends, of which subscribers are to see the messages.
        var sendsMessages: Bool
        /// Publisher connections, with one request outstanding on each at most.
        var inFlight: Int
        var pacing: Pacing
        /// What `{rand}` is taken from.
        var random: ClosedRange<Int64>
        /// How many requests there are in all; nil: as many as go into the time.
        var count: Int?
    }

    /// What happens behind the measurement, to see what the others feel of it.
    enum Disturbance: Equatable, Sendable {
        /// So many clients connect at once, each to catch up with so many messages.
        case storm(clients: Int, back: Int)
        /// So many of the subscribers, the first, read nothing for this time.
        case stall(subscribers: Int, Duration)
    }

    /// How long everything takes.
    struct Schedule: Sendable {
        /// Handshakes that may be under way at a time, over all loops.
        var connectBurst = 200
        /// Connections that may be begun in a second, over all loops; nil: no bound.
        var connectRate: Double?
        /// Between the last subscription and the first request.
        var settle = Duration.milliseconds(500)
        /// Requests before the measurement begins.
        var warmup = Duration.seconds(1)
        /// The measurement.
        var measurement = Duration.seconds(8)
        /// How long to wait, without any progress, for what is outstanding at the end.
        var drain = Duration.seconds(5)
    }

    /// The number of the run, which is in its marks, and in the names of its rooms and users.
    var run: Int64
    /// The server, as the report names it.
    var server: String
    /// How many subscribers there are; subscriber `i` listens to room `i` modulo ``rooms``.
    var subscribers = 0
    var rooms = 1
    /// Only the first of the rooms are sent to.
    var activeRooms = 1
    /// Loops that have subscribers and publishers, each on a thread of its own.
    var threads = 1
    /// The bytes of a body.
    var size = 256
    /// Not nil where there are subscribers.
    var subscribing: Subscribing?
    /// Nil to hold the connections only.
    var publishing: Publishing?
    var schedule = Schedule()
    /// What happens behind the measurement, if anything.
    var disturbance: Disturbance?
    /// Whether lost connections are made anew: subscriptions resume after the last message seen, sends are repeated
    /// until they are acknowledged.
    var reconnects = false
    /// Whether subscribers of a room may see its messages in different orders.
    var allowsAnyOrder = false
    /// Whom servers' certificates must be signed by.
    var trust = ClientTLS.Trust.system
    /// The server's processes, to know what it uses.
    var processes: [Int] = []

    /// Descriptors that the process needs beside its connections.
    static let spareDescriptors = 64

    /// How long clients may take in all to connect, beside what ``Schedule/connectRate`` takes.
    static let connectPatience = Duration.seconds(120)

    /// How long so many clients may take in all to connect.
    func patience(toConnect clients: Int) -> Duration {
        Self.connectPatience + .seconds(schedule.connectRate.map { Double(clients) / $0 } ?? 0)
    }

    /// How many open files the run needs.
    var descriptors: Int { subscribers + storming + (publishing?.inFlight ?? 0) + Self.spareDescriptors }

    /// How many clients come in a storm. Their numbers follow those of the subscribers.
    var storming: Int { if case .storm(let clients, _) = disturbance { clients } else { 0 } }

    /// All loops. A storm's clients have as many of their own as the others, so that those who are timed meanwhile do not
    /// wait for this process to take in what the storm is sent.
    var loops: Int { storming > 0 ? 2 * threads : threads }

    /// How many loops send: those that have a publisher, which are the first ones. Counts and rates are shared among them,
    /// and messages numbered by them.
    var sendingLoops: Int { min(threads, publishing?.inFlight ?? threads) }

    /// Whether a loop is for clients of the storm only: those behind the first ``threads``.
    func isOfStorm(loop: Int) -> Bool { loop >= threads }

    /// How many of the subscribers are to stall.
    var stalling: Int { if case .stall(let subscribers, _) = disturbance { subscribers } else { 0 } }

    /// How many loops have subscribers of the room.
    func loopsListening(to room: Int) -> Int {
        var loops: Set<Int> = []
        for subscriber in stride(from: room, to: subscribers, by: rooms) where loops.count < threads {
            loops.insert(subscriber % threads)
        }
        return loops.count
    }
}
