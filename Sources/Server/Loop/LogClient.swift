import Chat
import Transport
import Wire

/// A loop's changes and reads of the log, and the requests that wait for them. Confined to its loop.
///
/// Changes and queries of one turn go to the log together, so that a commit contains everything that arrived at once (see
/// ``Gathering``) and the log's threads are woken once.
final class LogClient {
    private let loop: Loop
    private let log: any MessageLog

    private var nextNumber: UInt64 = 0
    private var outcomes: [UInt64: OutcomeHandler] = [:]
    private var submissions: [Submission] = []
    private var gathering = Gathering()
    private var queries: [Query] = []
    /// Cancelled queries that the log has already received.
    private var cancelled: [any PendingReply] = []
    /// The time of this turn, once it was read.
    private var turnArrival: ContinuousClock.Instant?

    /// The handler of an outcome. A struct, because a dictionary would wrap a plain closure in another one.
    private struct OutcomeHandler {
        let exchange: Exchange?
        let call: (Result<Receipt, Problem>) -> Void
    }

    init(_ log: any MessageLog, on loop: Loop) {
        self.log = log
        self.loop = loop
    }

    // MARK: Asking

    /// Submits a change. `then` is called on this loop when the change is durable or has failed.
    ///
    /// The log gets the change at the end of this turn or of a later one, see ``Gathering``.
    ///
    /// - Parameters:
    ///   - isTrial: True to decide the change without making it.
    ///   - exchange: The exchange that the outcome is for; `nil` if no client waits for it.
    func submit(
        _ change: consuming Submission.Change, to room: RoomID?, by sender: UserID, isAdmin: Bool = false,
        isTrial: Bool = false, for exchange: Exchange?, then: @escaping (Result<Receipt, Problem>) -> Void
    ) {
        nextNumber += 1
        let ticket = Ticket(loop: loop.index, number: nextNumber)
        outcomes[ticket.number] = OutcomeHandler(exchange: exchange, call: then)
        submissions.append(
            Submission(
                ticket: ticket, room: room, sender: sender, change: change, isAdmin: isAdmin, isTrial: isTrial,
                arrival: arrival(of: exchange)))
    }

    /// Returns the time when the request had arrived completely: the present, unless it waited in the kernel while the
    /// loop was away. A request whose client has given up meanwhile counts as very old.
    private func arrival(of exchange: Exchange?) -> ContinuousClock.Instant {
        if let exchange, loop.wasAway { return .now - (exchange.silence ?? .seconds(3600)) }
        // One reading for a turn: what matters are seconds, and a loop that is away so long in a turn says so.
        let arrival = turnArrival ?? .now
        turnArrival = arrival
        return arrival
    }

    /// Reads from the log for a user. `then` is called on this loop.
    ///
    /// - Parameters:
    ///   - client: The client that the read is queued for.
    ///   - kind: Returns the read with the reply to put into it.
    /// - Returns: The reply, for ``cancel(_:)``.
    @discardableResult
    func ask<Value>(
        for user: UserID?, isAdmin: Bool = false, client: QueryClient, _ kind: (Reply<Value>) -> Query.Kind,
        then: @escaping (Result<Value, Problem>) -> Void
    ) -> Reply<Value> {
        let reply = Reply(loop: loop.index, client: client, then: then)
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

    // MARK: Passing it on

    /// Passes queries, and submissions that wait for no others, to the log. Call it at the end of each turn.
    func flush() {
        turnArrival = nil
        if !submissions.isEmpty {
            if gathering.goesOn(with: submissions.count, at: .now) { loop.lookAgain() } else { handOver() }
        }
        if !cancelled.isEmpty {
            log.cancel(cancelled)
            cancelled.removeAll(keepingCapacity: true)
        }
        if queries.isEmpty { return }
        log.fetch(queries)
        queries.removeAll(keepingCapacity: true)
    }

    /// Passes waiting submissions to the log.
    func handOver() {
        if submissions.isEmpty { return }
        gathering = Gathering()
        log.submit(submissions)
        submissions.removeAll(keepingCapacity: true)
    }

    // MARK: Results

    /// Number of a commit's answers that share a reading of the clock, for the durations of requests.
    static let answersPerReading = 64

    /// Hands out the results of a durable commit.
    func committed(_ results: [Outcome]) {
        for (index, outcome) in results.enumerated() {
            if index % Self.answersPerReading == 0 { loop.readClock() }
            outcomes.removeValue(forKey: outcome.ticket.number)?.call(outcome.result)
        }
    }

    /// Hands out answers to reads. Sending many large answers takes long, so after ``Loop/workSlice`` the rest waits
    /// until sockets have been served.
    func fetched(_ replies: ArraySlice<any PendingReply>) {
        let end = loop.readClock() + Loop.workSlice.nanoseconds
        for index in replies.indices {
            replies[index].deliver()
            if loop.readClock() >= end, index + 1 < replies.endIndex {
                let rest = replies[(index + 1)...]
                let client = LoopBound(self, of: loop)
                loop.post { client.value.fetched(rest) }
                return
            }
        }
    }

    /// Returns those of the submissions whose clients no longer wait.
    func abandoned(_ tickets: [Ticket]) -> [Ticket] {
        tickets.filter { ticket in
            guard let handler = outcomes[ticket.number] else { return false }
            return handler.exchange.map { $0.silence == nil } ?? false
        }
    }
}
