import Chat
import Synchronization
import Wire

/// The reading threads. They share a queue, and each answers several queries in one transaction.
final class LogReader: Sendable {
    private let context: ReadContext
    private let queue: QueryQueue
    private let observer: any LogObserver
    /// Called with queries that were answered or refused, before the observer learns of it.
    private let onAnswered: (@Sendable (ArraySlice<Query>) -> Void)?
    /// The reasons why threads cannot connect, by the thread's number.
    private let failures = Mutex<[Int: String]>([:])

    init(
        _ context: ReadContext, observer: any LogObserver,
        onAnswered: (@Sendable (ArraySlice<Query>) -> Void)? = nil
    ) {
        self.context = context
        self.onAnswered = onAnswered
        self.observer = observer
        let configuration = context.configuration
        queue = QueryQueue(
            ReadQueue.Limits(
                queries: configuration.queryQueue, queriesOfClient: configuration.queriesOfClient,
                longReaders: max(1, configuration.readers - 1)))
    }

    /// The number of waiting queries.
    var queued: Int { queue.count }

    /// The reason why nothing can be read, because no thread can connect; `nil` if at least one can.
    var failure: String? {
        failures.withLock { $0.count < max(1, context.configuration.readers) ? nil : $0.values.first }
    }

    func fetch(_ queries: [Query]) {
        refuse(queue.append(queries))
    }

    /// Removes queries whose answers are no longer wanted.
    func cancel(_ replies: [any PendingReply]) {
        queue.cancel(replies)
    }

    /// Refuses the waiting queries, and ends the threads.
    func close() {
        refuse(queue.close())
        context.backlog.close()
    }

    private func refuse(_ refusal: (queries: [Query], problem: Problem)) {
        if refusal.queries.isEmpty { return }
        for query in refusal.queries { query.reply.fail(refusal.problem) }
        observer.fetched(refusal.queries.map(\.reply))
    }

    // MARK: The threads

    /// Runs one thread, which answers queries with its own connection until the queue is closed.
    ///
    /// - Parameter number: The thread's number, from 0.
    func run(_ connection: consuming some ReaderConnection, number: Int) {
        var turn: ReadQueue.Turn?
        let configuration = context.configuration
        // So that an idle node knows if it could read.
        connection.probe()
        note(connection.failure, of: number)
        while let next = queue.next(configuration.readBatch, done: turn, within: connection.probeInterval) {
            turn = next
            if next.queries.isEmpty { connection.probe() }
            var rest = next.queries[...]
            while !rest.isEmpty {
                context.backlog.waitForRoom()
                let start = ContinuousClock.now
                let count = connection.answerSome(rest)
                configuration.onRead?(ContinuousClock.now - start)
                onAnswered?(rest.prefix(count))
                observer.fetched(rest.prefix(count).map(\.reply))
                rest = rest.dropFirst(count)
            }
            note(connection.failure, of: number)
        }
        connection.close()
    }

    /// Records why a thread cannot connect, and reports the first failure and the end of the last.
    private func note(_ failure: String?, of number: Int) {
        let (before, after) = failures.withLock { failures in
            defer { failures[number] = failure }
            let others = failures.filter { $0.key != number }
            return (failures.isEmpty, others.isEmpty && failure == nil)
        }
        if before != after { context.configuration.onReadingChange?(failure) }
    }
}
