import Chat
import CoreMetrics
import HTTP
import Logging
import Tokens
import Transport
import Wire

/// What the server keeps on one loop: the feeds of its subscribers' rooms, and who waits for which answer of the log.
///
/// Confined to its loop. Changes and queries of one turn go to the log together, so that a commit holds all that
/// arrived at once, see ``Gathering``, and the log's threads are woken once.
final class Worker {
    let loop: Loop
    let services: Services
    /// The server is stopping: answers go out with `Connection: close`.
    private(set) var isWindingDown = false
    /// True if the log tells who makes requests.
    let logsCallers: Bool
    /// Where answers are put together.
    var scratch = ScratchBuffer()
    /// Writes answers, with the date of the present second at hand.
    var writer = ResponseWriter()

    /// Knows callers by their tokens; `nil` in open mode.
    private(set) var authenticator: Authenticator?
    /// The sockets on this loop that follow their user's rooms.
    var followers: [UserID: [RoomsSocket]] = [:]

    /// The sockets and event streams on this loop, by who has opened them; without those of callers without a name.
    var connections: [UserID: [ObjectIdentifier: any UserConnection]] = [:]

    /// The feeds of the rooms that somebody on this loop is subscribed to.
    var feeds: [RoomID: Feed] = [:]
    let feedContext: FeedContext
    /// The feeds that have not visited all of their subscribers yet, by turns.
    var advancing: [Feed] = []
    /// True if they are about to go on.
    var isAdvancePosted = false

    private var nextNumber: UInt64 = 0
    private var outcomes: [UInt64: OutcomeHandler] = [:]
    private var answers: [UInt64: AnswerHandler] = [:]
    private var submissions: [Submission] = []
    private var gathering = Gathering()
    private var queries: [Query] = []
    /// The queries that the log has got and nobody waits for any more.
    private var cancelled: [(ticket: Ticket, asker: Asker)] = []

    /// What waits for an outcome: a type of its own, because a dictionary's value that is a mere closure is wrapped in
    /// another one.
    private struct OutcomeHandler {
        let call: (Result<Stored, Problem>) -> Void
    }

    /// A party that waits for an answer.
    private struct AnswerHandler {
        let asker: Asker
        let call: (Result<Answer.Content, Problem>) -> Void
    }

    init(loop: Loop, services: Services) {
        self.loop = loop
        self.services = services
        logsCallers = services.requestLog != nil || services.logger.logLevel <= .debug
        feedContext = FeedContext(
            epoch: services.log.epoch, outlets: loop, feedLimit: services.configuration.feedBytes,
            memoryLimit: services.configuration.allFeedsBytes / services.configuration.threads)
        authenticator = services.configuration.tokens.map(Authenticator.init)
        loop.atEndOfTurn { [unowned self] in self.flush() }
        loop.betweenSockets { [unowned self] in self.advanceFeeds() }
    }

    /// The time in seconds since 1970, for the `Date` of answers.
    var seconds: Int64 { Timestamp.now().milliseconds / 1000 }

    // MARK: Callers

    /// Whom a token names. There must be an ``authenticator``.
    ///
    /// - Throws: 401 with one of the token's codes.
    func identity(of token: String) throws(Problem) -> Identity {
        // In place: a copy of the authenticator would copy its cache when it changes.
        try authenticator!.identity(of: token)
    }

    /// From now on tokens are held against these rules. Sockets that are open stay so until their tokens end.
    func authenticate(by rules: TokenRules) {
        authenticator = Authenticator(rules)
    }

    // MARK: Asking the log

    /// Has the log make a change; `then` is called on this loop when it is durable or has failed.
    ///
    /// - Returns: under what the outcome comes. The log hears of the change at the end of the turn.
    @discardableResult
    func submit(
        _ change: consuming Submission.Change, to room: RoomID?, by sender: UserID, isAdmin: Bool = false,
        then: @escaping (Result<Stored, Problem>) -> Void
    ) -> Ticket {
        let ticket = takeTicket()
        outcomes[ticket.number] = OutcomeHandler(call: then)
        submissions.append(
            Submission(ticket: ticket, room: room, sender: sender, change: change, isAdmin: isAdmin))
        return ticket
    }

    /// Reads from the log for a user, if there is a name; `then` is called on this loop.
    ///
    /// - Parameters:
    ///   - room: `nil` for what is of all rooms of the user.
    ///   - asker: the party whose turn it is read in.
    /// - Returns: the number of the read, for ``cancel(_:)``.
    @discardableResult
    func ask(
        _ kind: Query.Kind, of room: RoomID?, for user: UserID?, isAdmin: Bool = false, asker: Asker,
        then: @escaping (Result<Answer.Content, Problem>) -> Void
    ) -> UInt64 {
        let ticket = takeTicket()
        answers[ticket.number] = AnswerHandler(asker: asker, call: then)
        queries.append(
            Query(ticket: ticket, room: room, kind: kind, user: user, isAdmin: isAdmin, asker: asker))
        return ticket.number
    }

    /// Drops a read: what was to be done with its answer is not done any more. Does nothing when it has been answered.
    ///
    /// - Parameter number: what ``ask(_:of:for:isAdmin:asker:then:)`` has returned, or 0 for none.
    func cancel(_ number: UInt64) {
        guard let handler = answers.removeValue(forKey: number) else { return }
        // Those of this turn have not been handed over. The one that is dropped is most often the last.
        if let index = queries.lastIndex(where: { $0.ticket.number == number }) {
            queries.remove(at: index)
        } else {
            cancelled.append((Ticket(loop: loop.index, number: number), handler.asker))
        }
    }

    private func takeTicket() -> Ticket {
        nextNumber += 1
        return Ticket(loop: loop.index, number: nextNumber)
    }

    private func flush() {
        countPushedBytes()
        if gathering.goesOn(with: submissions.count, at: .now) { loop.lookAgain() } else { handOver() }
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

    // MARK: Hearing from the log

    /// A commit is durable: first the senders hear of it, then the subscribers.
    func committed(_ results: [Outcome], _ batches: [EncodedBatch]) {
        loop.favourClients()
        // What follows may take long, and the log can work meanwhile.
        handOver()
        for outcome in results { outcomes.removeValue(forKey: outcome.ticket.number)?.call(outcome.result) }
        for batch in batches {
            guard let feed = feeds[batch.room] else { continue }
            if !feed.publish(batch) {
                advanceLater(feed)
                yieldProcessor()
            }
            services.metrics.deliveries.increment(by: Int64(batch.ends.count * feed.count))
        }
    }

    /// Queries have been answered.
    ///
    /// Thirty of them can be megabytes to send. After a while the rest waits until sockets have had their turn.
    func fetched(_ results: ArraySlice<Answer>) {
        let end = ContinuousClock.now + Loop.workSlice
        for (index, answer) in zip(results.indices, results) {
            answers.removeValue(forKey: answer.ticket.number)?.call(answer.result)
            loop.runUrgentWork()
            let rest = results[(index + 1)...]
            if ContinuousClock.now >= end, !rest.isEmpty {
                let worker = LoopBound(self, of: loop)
                loop.post { worker.value.fetched(rest) }
                return
            }
        }
    }

    // MARK: Stopping

    /// From now on connections are closed after the answer that they wait for.
    func windDown() {
        isWindingDown = true
    }
}
