import Chat
import Wire

/// The state that the reading threads of a log share, whichever its store.
final class ReadContext: Sendable {
    let epoch: String
    let rules: ReadRules
    let configuration: StoreConfiguration
    let backlog: AnswerBacklog

    init(epoch: String, bans: BanTable, _ configuration: StoreConfiguration) {
        self.epoch = epoch
        rules = ReadRules(policy: configuration.policy, bans: bans, now: configuration.clock)
        self.configuration = configuration
        backlog = AnswerBacklog(limit: configuration.waitingAnswerBytes)
    }

    /// Answers queries in one transaction, in order: at least one, and more until the answers reach
    /// ``StoreConfiguration/readBytes`` or the database fails.
    ///
    /// - Parameters:
    ///   - count: The number of queries that have been answered.
    ///   - answer: Answers the query at an index, from 0, and returns the number of bytes of messages in the answer.
    func answer(_ queries: ArraySlice<Query>, _ count: inout Int, _ answer: (Int, Query) throws -> Int) {
        var bytes = 0
        for (index, query) in queries.enumerated() where bytes < configuration.readBytes {
            count += 1
            do {
                let size = try answer(index, query)
                if let share = backlog.hold(size) { query.reply.hold(share) }
                bytes += size
            } catch let refusal as Problem {
                query.reply.fail(refusal)
            } catch {
                // The error may have ended the transaction, so the next query gets a new one.
                return query.reply.fail(Self.problem(error))
            }
        }
    }

    /// Returns the refusal of a query that an error of the database ended.
    static func problem(_ error: any Error) -> Problem {
        if let refusal = error as? Problem { return refusal }
        return (error as? any SQLError)?.readProblem ?? .unreadable("\(error)")
    }
}
