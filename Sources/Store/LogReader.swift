import Chat
import GRDB
import Wire

/// The threads that read: they share a queue, and each takes several queries at a time into one transaction.
final class LogReader: Sendable {
    private let queue: WorkQueue<Query>
    private let observer: any LogObserver
    private let epoch: String
    private let batch: Int
    private let onRead: (@Sendable (Duration) -> Void)?

    init(observer: any LogObserver, epoch: String, configuration: StoreConfiguration) {
        self.observer = observer
        self.epoch = epoch
        batch = configuration.readBatch
        onRead = configuration.onRead
        queue = WorkQueue(limit: configuration.queryQueue)
    }

    /// How many queries wait.
    var queued: Int { queue.count }

    /// Adds to the queue.
    func fetch(_ queries: [Query]) {
        let added = queue.append(queries)
        guard added < queries.count else { return }
        observer.fetched(queries[added...].map { Answer(ticket: $0.ticket, result: .failure(.overloaded)) })
    }

    /// Answers what is left, and ends.
    func close() {
        queue.close()
    }

    /// One thread: answers with its own connection until the queue is closed and empty.
    func run(_ database: DatabaseQueue) {
        var statements: ReaderStatements?
        while let queries = queue.take(batch) {
            let start = ContinuousClock.now
            let answers = answer(queries, database, &statements)
            onRead?(ContinuousClock.now - start)
            observer.fetched(answers)
        }
        // SQLite closes no connection with statements on it.
        statements = nil
        try? database.close()
    }

    private func answer(
        _ queries: [Query], _ database: DatabaseQueue, _ statements: inout ReaderStatements?
    ) -> [Answer] {
        do {
            return try database.inDatabase { db in
                let prepared = try statements ?? ReaderStatements(db)
                statements = prepared
                let snapshot = Snapshot(statements: prepared, epoch: epoch)
                var answers: [Answer] = []
                answers.reserveCapacity(queries.count)
                try db.inTransaction(.deferred) {
                    for query in queries {
                        do {
                            answers.append(Answer(ticket: query.ticket, result: .success(try snapshot.answer(query))))
                        } catch {
                            answers.append(Answer(ticket: query.ticket, result: .failure(Self.problem(error))))
                        }
                    }
                    return .commit
                }
                return answers
            }
        } catch {
            return queries.map { Answer(ticket: $0.ticket, result: .failure(Self.problem(error))) }
        }
    }

    private static func problem(_ error: any Error) -> Problem {
        let reason = (error as? DatabaseError)?.message ?? "I/O error"
        return .unavailable("The history could not be read: \(reason).")
    }
}
