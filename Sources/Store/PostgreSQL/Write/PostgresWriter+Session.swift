import Chat
import Nodes
import Wire

/// The session of a writer: the attempts to store and move, without what follows from their failure.
extension PostgresWriter {
    /// Nothing was stored, because the client of a submission may have given up meanwhile.
    struct AbandonedCommit: Error {}

    /// The connection, its statements and the cache of rooms.
    struct Session {
        var connector: PostgresConnector.Use
        let access: AccessState
        let configuration: StoreConfiguration
        private var current: PostgresCommits?
        private var known: KnownRooms

        init(connector: PostgresConnector.Use, access: AccessState, configuration: StoreConfiguration) {
            self.connector = connector
            self.access = access
            self.configuration = configuration
            known = KnownRooms(configuration.policy)
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
            known = KnownRooms(configuration.policy)
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
            let deadline = ContinuousClock.now + PostgresWriter.patience
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

        /// The result of an attempt to store sends.
        enum StoredSends {
            /// There are none that one statement can store.
            case none
            /// Nothing was stored, because of changes of access that the node did not know and knows now.
            case outdated
            /// Nothing was stored, because of these client message ids, which were used before.
            case repeated([SendBatch.Key])
            /// The messages that were stored in each room, see ``SendAnswer/stored(_:)``.
            case stored(SendBatch, [SendBatch.Stored?])
        }

        /// Stores the sends that one statement can store.
        ///
        /// - Parameters:
        ///   - repeated: Client message ids whose sends do not take part.
        ///   - judged: The time when ``WriterReports/awaited(_:)`` was asked about them.
        mutating func store(
            _ submissions: ArraySlice<Submission>, repeated: Set<SendBatch.Key>, _ judged: ContinuousClock.Instant
        ) throws -> StoredSends {
            guard submissions.contains(where: { if case .send = $0.change { true } else { false } }) else {
                return .none
            }
            let db = try commits().db
            guard let revocations = try learn(submissions, db) else { return .outdated }
            let batch = SendBatch(
                submissions, knowing: known, repeated: repeated, bans: access.bans, erasing: access.erasing)
            if batch.sends.isEmpty { return .none }
            let time = configuration.usesDatabaseClock ? nil : configuration.clock()
            let start = try checkTime(since: judged)
            switch try db.store(batch, revocations: revocations, at: time) {
            case .stored(let stored):
                known.add(batch, stored)
                if stored.contains(where: { $0 == nil }) {
                    // After an error the next attempt finds again that something is not known.
                    try? access.catchUp(db)
                } else {
                    // The statement has found no newer revocation.
                    access.isCurrent(at: start, knowing: revocations)
                }
                return .stored(batch, stored)
            case .repeated: return .repeated(try db.repeated(batch.keys))
            }
        }

        /// The result of an attempt to move read marks.
        enum MovedMarks {
            /// There are none that one statement can move.
            case none
            /// Nothing was moved, because of changes of access that the node did not know and knows now.
            case outdated
            /// The marks that were moved, see ``PostgresConnection/store(_:engaging:revocations:at:)``.
            case stored(MarkBatch, [MarkBatch.Moved?])
        }

        /// Moves the read marks that one statement can move.
        mutating func storeMarks(
            _ submissions: ArraySlice<Submission>, _ judged: ContinuousClock.Instant
        ) throws -> MovedMarks {
            guard submissions.contains(where: { if case .read = $0.change { true } else { false } }) else {
                return .none
            }
            let db = try commits().db
            guard let revocations = try learn(submissions, db) else { return .outdated }
            let batch = MarkBatch(submissions, knowing: known, bans: access.bans, erasing: access.erasing)
            if batch.marks.isEmpty { return .none }
            _ = try checkTime(since: judged)
            let people = batch.marks.map(\.person).filter { !known.isEngaged($0) }
            let time = configuration.usesDatabaseClock ? nil : configuration.clock()
            let moved = try db.store(batch, engaging: people, revocations: revocations, at: time)
            known.add(engaged: people)
            if moved.contains(where: { $0 == nil }) {
                known.forget(zip(batch.marks, moved).filter { $0.1 == nil }.map(\.0.id))
                try? access.catchUp(db)
            }
            return .stored(batch, moved)
        }

        /// Checks that the node was not stopped since its submissions were judged.
        ///
        /// - Returns: The present time.
        private func checkTime(since judged: ContinuousClock.Instant) throws -> ContinuousClock.Instant {
            let now = ContinuousClock.now
            if now - judged >= WriterReports.youth { throw AbandonedCommit() }
            return now
        }

        /// Looks up what the cache lacks about the rooms and senders of submissions.
        ///
        /// - Returns: The number of revocations for which the cache is valid; `nil` if there were more, which have been
        ///   applied now.
        private mutating func learn(_ submissions: ArraySlice<Submission>, _ db: PostgresConnection) throws -> Int64? {
            // Read before the bans, which are then at least as new.
            let revocations = access.revocations
            known.begin(revocations: revocations)
            let questions = known.questions(for: submissions)
            if !questions.isEmpty, let (answers, current) = try db.answers(to: questions) {
                guard current == revocations else {
                    try access.catchUp(db)
                    return nil
                }
                known.add(answers)
            }
            return revocations
        }

        /// Waits a little before the next attempt to connect.
        func wait() { PostgresConnector.wait() }
    }
}
