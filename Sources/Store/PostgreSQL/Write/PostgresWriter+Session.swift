import Chat
import Nodes
import Wire

/// The session of a writer: the attempts to store and move, without what follows from their failure.
extension PostgresWriter {
    /// Nothing was stored, because the client of a submission may have given up meanwhile.
    struct AbandonedCommit: Error {}

    /// The connection, its statements, and the writer's turns.
    struct Session {
        var connector: PostgresConnector.Use
        let access: AccessState
        let configuration: StoreConfiguration
        private var current: PostgresCommits?
        /// What the writer does with the submissions that it has taken.
        var turns: WriterTurns

        init(connector: PostgresConnector.Use, access: AccessState, configuration: StoreConfiguration) {
            self.connector = connector
            self.access = access
            self.configuration = configuration
            turns = WriterTurns(access, configuration.policy)
        }

        /// Checks that the database takes changes.
        ///
        /// - Throws: ``PostgresError/readOnly(because:)``, or another error if the database cannot be reached.
        mutating func checkTakesChanges() throws {
            // A connection that was made by this call has been asked a moment ago. Asking it again is simpler.
            try commits().db.checkTakesChanges()
        }

        /// Returns the transactions of a connection that is alive and takes changes.
        mutating func commits() throws -> PostgresCommits {
            let (connection, isNew) = try connector.connection()
            if let current, !isNew { return current }
            turns.reconnected()
            let new = PostgresCommits(connection, access, configuration)
            current = new
            return new
        }

        /// Makes one transaction for submissions.
        mutating func transact(
            _ submissions: ArraySlice<Submission>, _ body: (inout Commit<PostgresCommitStore>) throws -> Void
        ) throws -> Commit<PostgresCommitStore> {
            var commits = try commits()
            // Each room once.
            let rooms = Array(Set(submissions.compactMap(\.room)))
            current = nil
            defer { current = commits }
            return try commits.transact(
                submissions: submissions.count, locking: rooms, confirming: { confirm($0, begun: $1) }, body)
        }

        /// Finds out what became of a transaction whose connection was lost in the commit.
        ///
        /// - Returns: True if it is durable; `nil` if that cannot be found out soon.
        private func confirm(_ transaction: String, begun: Timestamp) -> Bool? {
            let deadline = ContinuousClock.now + WriterTurns.patience
            while ContinuousClock.now < deadline {
                if let status = try? connector.status(of: transaction, begun: begun) {
                    switch status {
                    case "committed": return true
                    case "aborted": return false
                    case "": return nil
                    default: break  // PostgreSQL has not noticed the loss.
                    }
                }
                wait()
            }
            return nil
        }

        /// Returns those of the rooms that another transaction has locked, or is making.
        mutating func lockedRooms(among rooms: [RoomID]) throws -> Set<RoomID> {
            if rooms.isEmpty { return [] }
            return try commits().db.locked(among: rooms)
        }

        /// Takes a step that runs a statement on the connection of ``WriterTurns/Step/connect``.
        mutating func run(_ step: WriterTurns.Step) throws {
            guard let db = current?.db else { throw PostgresError(connection: "not connected") }
            // Messages have the database's time, except in tests.
            let time = configuration.usesDatabaseClock ? nil : configuration.clock()
            switch step {
            case .lookUp(let questions): turns.lookedUp(try db.answers(to: questions))
            case .store(let batch, let revocations):
                turns.stored(try db.store(batch, revocations: revocations, at: time))
            case .findRepeated(let keys): turns.found(repeated: try db.repeated(keys))
            case .move(let batch, let people, let revocations):
                turns.moved(try db.store(batch, engaging: people, revocations: revocations, at: time))
            case .catchUp(let isOptional):
                do { try access.catchUp(db) } catch { if !isOptional { throw error } }
                turns.caughtUp()
            case .judge, .connect, .report, .transact, .end: preconditionFailure("not a statement: \(step)")
            }
        }

        /// Waits a little before the next attempt to connect.
        func wait() { PostgresConnector.wait() }
    }
}
