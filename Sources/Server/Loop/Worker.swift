import Chat
import CoreMetrics
import HTTP
import Logging
import Tokens
import Transport
import Wire

/// Per-loop server state: room feeds, and requests waiting for the log.
///
/// Confined to its loop. Changes and queries of one turn go to the log together, so that a commit contains everything
/// that arrived at once (see ``Gathering``) and the log's threads are woken once.
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
    /// The sockets on this loop that follow their user's rooms.
    var followers: [UserID: [RoomsSocket]] = [:]

    /// The sockets and event streams of named users on this loop, in no order. Only bans from the server, erasures and
    /// disconnections by an admin look for those of one user, so a dictionary by user is not worth its memory per
    /// connection (scenario D of `scripts/compare`).
    var userConnections: [any UserConnection] = []

    /// The feeds of the rooms with subscribers on this loop.
    var feeds: [RoomID: Feed] = [:]
    let feedContext: FeedContext
    /// The feeds with subscribers that they have not visited yet, in order.
    var advancing: [Feed] = []
    /// True if further visits are scheduled.
    var isAdvancePosted = false
    /// True if feeds will be asked again to send messages that they may not send at present.
    var isResumeScheduled = false

    /// The time of this turn, once it was read: for the `Date` of answers, and for the arrival of changes.
    private var turnSeconds: Int64?
    private var turnArrival: ContinuousClock.Instant?

    private var nextNumber: UInt64 = 0
    private var outcomes: [UInt64: OutcomeHandler] = [:]
    private var submissions: [Submission] = []
    private var gathering = Gathering()
    private var queries: [Query] = []
    /// Cancelled queries that the log has already received.
    private var cancelled: [any PendingReply] = []

    /// The handler of an outcome. A struct, because a dictionary would wrap a plain closure in another one.
    private struct OutcomeHandler {
        let exchange: Exchange
        let call: (Result<Receipt, Problem>) -> Void
    }

    init(loop: Loop, services: Services) {
        self.loop = loop
        self.services = services
        requestTimers = services.metrics.requestTimers()
        logsCallers = services.requestLog != nil || services.logger.logLevel <= .debug
        feedContext = FeedContext(
            epoch: services.log.epoch, outlets: loop, feedLimit: services.configuration.feedBytes,
            memoryLimit: services.configuration.allFeedsBytes / services.configuration.threads,
            term: services.log.accessTerm)
        authenticator = services.configuration.tokens.map(Authenticator.init)
        loop.atEndOfTurn { [unowned self] in self.flush() }
        loop.betweenSockets { [unowned self] in self.advanceFeeds() }
    }

    /// The time in seconds since 1970 for the `Date` of answers, read once in a turn.
    var seconds: Int64 {
        if let turnSeconds { return turnSeconds }
        let seconds = Timestamp.now().milliseconds / 1000
        turnSeconds = seconds
        return seconds
    }

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

    // MARK: Asking the log

    /// Submits a change. `then` is called on this loop when the change is durable or has failed.
    ///
    /// - Parameter exchange: The exchange that the outcome is for.
    /// - Returns: The ticket of the outcome. The log gets the change at the end of this turn or of a later one, see
    ///   ``Gathering``.
    @discardableResult
    func submit(
        _ change: consuming Submission.Change, to room: RoomID?, by sender: UserID, isAdmin: Bool = false,
        for exchange: Exchange, then: @escaping (Result<Receipt, Problem>) -> Void
    ) -> Ticket {
        nextNumber += 1
        let ticket = Ticket(loop: loop.index, number: nextNumber)
        outcomes[ticket.number] = OutcomeHandler(exchange: exchange, call: then)
        submissions.append(
            Submission(
                ticket: ticket, room: room, sender: sender, change: change, isAdmin: isAdmin,
                arrival: arrival(of: exchange)))
        return ticket
    }

    /// Returns the time when the request had arrived completely: the present, unless it waited in the kernel while the
    /// loop was away. A request whose client has given up meanwhile counts as very old.
    private func arrival(of exchange: Exchange) -> ContinuousClock.Instant {
        guard !loop.wasAway else { return .now - (exchange.silence ?? .seconds(3600)) }
        // One reading for a turn: what matters are seconds, and a loop that is away so long in a turn says so.
        let arrival = turnArrival ?? .now
        turnArrival = arrival
        return arrival
    }

    /// Returns those of the submissions whose clients no longer wait.
    func abandoned(_ tickets: [Ticket]) -> [Ticket] {
        tickets.filter { ticket in
            guard let handler = outcomes[ticket.number] else { return false }
            return handler.exchange.silence == nil
        }
    }

    /// Reads from the log for a user. `then` is called on this loop.
    ///
    /// - Parameters:
    ///   - asker: The asker that the read is queued for.
    ///   - kind: Returns the read with the reply to put into it.
    /// - Returns: The reply, for ``cancel(_:)``.
    @discardableResult
    func ask<Value>(
        for user: UserID?, isAdmin: Bool = false, asker: Asker, _ kind: (Reply<Value>) -> Query.Kind,
        then: @escaping (Result<Value, Problem>) -> Void
    ) -> Reply<Value> {
        let reply = Reply(loop: loop.index, asker: asker, then: then)
        queries.append(Query(reply, for: user, isAdmin: isAdmin, kind))
        return reply
    }

    /// Cancels a read, whose handler is then not called. Does nothing if the read was answered, or is `nil`.
    func cancel(_ reply: (any PendingReply)?) {
        guard let reply, reply.cancel() else { return }
        // Queries of this turn have not been passed to the log yet. The cancelled one is usually the last.
        if let index = queries.lastIndex(where: { $0.reply === reply }) {
            queries.remove(at: index)
        } else {
            cancelled.append(reply)
        }
    }

    private func flush() {
        defer { (turnSeconds, turnArrival) = (nil, nil) }
        countPushedBytes()
        resumeFeedsLater()
        if !submissions.isEmpty {
            if gathering.goesOn(with: submissions.count, at: .now) { loop.lookAgain() } else { handOver() }
        }
        handOverQueries()
    }

    private func handOverQueries() {
        if !cancelled.isEmpty {
            services.log.cancel(cancelled)
            cancelled.removeAll(keepingCapacity: true)
        }
        if queries.isEmpty { return }
        services.log.fetch(queries)
        queries.removeAll(keepingCapacity: true)
    }

    private func handOver() {
        if submissions.isEmpty { return }
        gathering = Gathering()
        services.log.submit(submissions)
        submissions.removeAll(keepingCapacity: true)
    }

    // MARK: Results of the log

    /// Number of a commit's answers that share a reading of the clock, for the durations of requests.
    static let answersPerReading = 64

    /// Handles a durable commit: first the senders' outcomes, then the subscribers' messages.
    func committed(_ results: [Outcome], _ batches: [EncodedBatch]) {
        loop.prioritizeClients()
        // First, so that the log can work during the rest, which may take long.
        handOver()
        for (index, outcome) in results.enumerated() {
            if index % Self.answersPerReading == 0 { loop.readClock() }
            outcomes.removeValue(forKey: outcome.ticket.number)?.call(outcome.result)
        }
        for batch in batches {
            guard let feed = feeds[batch.room] else { continue }
            if !feed.publish(batch) {
                advanceLater(feed)
                yieldProcessor()
            }
            services.metrics.deliveries.increment(by: Int64(batch.ends.count * feed.count))
        }
    }

    /// Handles answers to reads. Sending many large answers takes long, so after ``Loop/workSlice`` the rest waits
    /// until sockets have been served.
    func fetched(_ replies: ArraySlice<any PendingReply>) {
        let end = loop.readClock() + Loop.workSlice.nanoseconds
        for index in replies.indices {
            replies[index].deliver()
            loop.runUrgentWork()
            if loop.readClock() >= end, index + 1 < replies.endIndex {
                let rest = replies[(index + 1)...]
                let worker = LoopBound(self, of: loop)
                loop.post { worker.value.fetched(rest) }
                return
            }
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
