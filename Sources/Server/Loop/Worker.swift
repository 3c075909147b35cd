import Chat
import CoreMetrics
import HTTP
import Logging
import Tokens
import Transport
import Wire

/// Per-loop server state: room feeds, connections, and requests of the log. Confined to its loop.
final class Worker {
    let loop: Loop
    let services: Services
    /// True while the server is stopping: answers are sent with `Connection: close`.
    private(set) var isWindingDown = false
    let logsCallers: Bool
    /// A buffer for assembling answers.
    var scratch = ScratchBuffer()
    /// Counts the duration of requests.
    var requestTimers: RequestTimers
    /// Writes answers, and caches the date of the current second.
    var writer = ResponseWriter()

    /// Authenticates callers by their tokens; `nil` in open mode.
    private(set) var authenticator: Authenticator?
    /// The loop's changes and reads of the log.
    let log: LogClient
    /// The sockets and event streams of named users.
    let users: UserConnections

    /// The users whose tokens claim profiles.
    var claimedProfiles = ClaimedProfiles()

    /// The feeds of the rooms with subscribers on this loop.
    var feeds: [RoomID: Feed] = [:]
    let feedContext: FeedContext
    /// The feeds with subscribers that they have not visited yet, in order.
    var advancing: [Feed] = []
    /// True if further visits are scheduled.
    var isAdvancePosted = false
    /// True if feeds will be asked again to send messages that they may not send at present.
    var isResumeScheduled = false

    /// The time of this turn for the `Date` of answers, once it was read.
    private var turnSeconds: Int64?

    init(loop: Loop, services: Services) {
        self.loop = loop
        self.services = services
        requestTimers = services.metrics.requestTimers()
        logsCallers = services.requestLog != nil || services.logger.logLevel <= .debug
        feedContext = FeedContext(
            epoch: services.log.epoch, outlets: loop, feedLimit: services.configuration.feedBytes,
            memoryLimit: services.configuration.allFeedsBytes / services.configuration.threads,
            term: services.log.accessTerm, ends: services.live.dispatcher.ends)
        authenticator = services.configuration.tokens.map(Authenticator.init)
        log = LogClient(services.log, on: loop)
        users = UserConnections(on: loop, services.live.openSockets, services.live.subscribedLoops)
        loop.atEndOfTurn { [unowned self] in self.flush() }
    }

    /// The time in seconds since 1970 for the `Date` of answers, read once in a turn.
    var seconds: Int64 {
        if let turnSeconds { return turnSeconds }
        let seconds = Timestamp.now().milliseconds / 1000
        turnSeconds = seconds
        return seconds
    }

    /// The log's epoch.
    var epoch: String { services.log.epoch }

    // MARK: Callers

    /// Returns the identity in a token. Requires an ``authenticator``.
    ///
    /// - Throws: 401 with one of the token's codes.
    func identity(of token: String) throws(Problem) -> Identity {
        // In place, since a copy of the authenticator would copy its cache.
        try authenticator!.identity(of: token)
    }

    /// Uses these rules for tokens from now on. Open sockets stay open until their tokens expire.
    func authenticate(by rules: TokenRules) {
        authenticator = Authenticator(rules)
    }

    // MARK: Turns

    private func flush() {
        turnSeconds = nil
        countPushedBytes()
        resumeFeedsLater()
        log.flush()
    }

    // MARK: Results of the log

    /// Handles a durable commit: first the senders' outcomes, then the subscribers' messages.
    func committed(_ results: [Outcome], _ batches: [EncodedBatch]) {
        loop.prioritizeClients()
        // First, so that the log can work during the rest, which may take long.
        log.handOver()
        log.committed(results)
        for batch in batches {
            guard let feed = feeds[batch.room] else { continue }
            if !feed.publish(batch) {
                advanceLater(feed)
                yieldProcessor()
            }
            services.metrics.deliveries.increment(by: Int64(batch.ends.count * feed.count))
        }
    }

    // MARK: Stopping

    /// Closes connections after their pending answers from now on.
    func windDown() {
        isWindingDown = true
    }
}

/// Decides whether submissions wait for others that are still arriving. They wait as long as each turn brings more, up
/// to ``limit``.
///
/// Clients that receive a message together send their next messages together. If these were split into two commits,
/// each subscriber would get two writes instead of one. Scenario A of `scripts/compare` measures it.
struct Gathering {
    /// Maximum time that the first change waits. The turn in which this time ends is completed first.
    static let limit = Duration.milliseconds(1)

    private var count = 0
    private var end: ContinuousClock.Instant?

    /// Records the end of a turn.
    ///
    /// - Parameters:
    ///   - count: The number of changes that wait.
    ///   - now: Read only if the number has grown.
    /// - Returns: True to wait for the next turn's submissions.
    mutating func goesOn(with count: Int, at now: @autoclosure () -> ContinuousClock.Instant) -> Bool {
        guard count > self.count else { return false }
        self.count = count
        let now = now()
        let end = self.end ?? now + Self.limit
        self.end = end
        return now < end
    }
}

/// A reusable buffer in which answers are assembled, so that each goes out in one write.
struct ScratchBuffer {
    /// Maximum capacity that is kept, 256 KiB. Most answers are smaller, and memory for a few large ones is released.
    static let kept = 256 * 1024

    private var bytes: [UInt8] = []

    /// Creates a buffer with room for most answers.
    init() {
        bytes.reserveCapacity(16 * 1024)
    }

    /// Takes the buffer, empty. If it is already taken, returns a new one.
    mutating func take() -> [UInt8] {
        var taken = exchange(&bytes, with: [])
        taken.removeAll(keepingCapacity: true)
        return taken
    }

    /// Returns the buffer after its contents were sent.
    mutating func giveBack(_ used: consuming [UInt8]) {
        if used.capacity <= Self.kept { bytes = used }
    }
}
