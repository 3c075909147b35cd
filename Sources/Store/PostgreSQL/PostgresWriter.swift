import Chat
import Synchronization
import Wire

/// One writing thread of a node: it takes the queued submissions, commits them on its own connection, and tells the
/// observer.
///
/// All submissions of a room go to the same writer, so that a node does not wait for its own locks. While a batch is
/// committed, the next submissions gather in the queue. So the busier a room is, the more messages share a commit.
final class PostgresWriter: Sendable {
    private let queue: WorkQueue<Submission>
    private let connector: PostgresConnector
    private let access: AccessState
    private let configuration: StoreConfiguration
    private let reports: WriterReports

    /// Number of times that a commit is tried while other transactions are in its way.
    private static let attempts = 8
    /// Time for which the submissions of a commit wait for a lost connection to come back: 2 seconds.
    private static let patience = Duration.seconds(2)

    init(
        connector: PostgresConnector, access: AccessState, configuration: StoreConfiguration, reports: WriterReports
    ) {
        self.connector = connector
        self.access = access
        self.configuration = configuration
        self.reports = reports
        queue = WorkQueue(limit: configuration.submissionQueue)
    }

    /// The number of waiting submissions.
    var queued: Int { queue.count }

    /// The reason why the last commit failed; `nil` if it succeeded.
    var failure: String? { reports.failure }

    /// Adds submissions to the queue.
    func submit(_ submissions: [Submission]) {
        let admission = queue.append(submissions)
        if let refusal = admission.refusal { reports.refuse(submissions[admission.count...], refusal) }
    }

    /// Closes the queue. The thread commits the rest and ends.
    func close() {
        queue.close()
    }

    // MARK: The thread

    /// Runs the thread until the queue is closed and empty.
    func run() {
        var session = Session(connector: connector.use(), access: access, configuration: configuration)
        while let submissions = queue.takeCommit(
            configuration.commit, within: failure == nil ? nil : configuration.probeInterval)
        {
            if submissions.isEmpty {
                probe(&session)
            } else {
                commit(submissions, &session)
            }
        }
    }

    /// Finds out if the database can be reached again.
    private func probe(_ session: inout Session) {
        do {
            _ = try session.state()
            reports.note(failure: nil)
        } catch {
            reports.note(failure: "\(error)")
        }
    }

    /// Commits all submissions, in order.
    private func commit(_ submissions: [Submission], _ session: inout Session) {
        var rest = submissions[...]
        var attempt = 1
        let deadline = ContinuousClock.now + Self.patience
        while !rest.isEmpty {
            do {
                rest = rest.dropFirst(try commitSome(rest, &session))
                reports.note(failure: nil)
                attempt = 1
            } catch let error as PostgresError where error.kind == .conflict && attempt < Self.attempts {
                attempt += 1
            } catch let error as PostgresError where error.kind == .connection && ContinuousClock.now < deadline {
                session.wait()
            } catch let error as UnknownCommit {
                rest = refuseUnrepeatable(rest, error.cause)
                session.wait()
            } catch {
                reports.note(failure: "\(error)")
                return reports.refuse(rest, .unavailable("The message could not be stored: \(error)."))
            }
        }
    }

    /// Commits the first submissions in one transaction.
    ///
    /// - Returns: Their number, at least 1.
    private func commitSome(_ submissions: ArraySlice<Submission>, _ session: inout Session) throws -> Int {
        let start = ContinuousClock.now
        let limit = configuration.commit.bytes
        let done = try session.transact(submissions) { commit in try commit.apply(submissions, changing: limit) }
        configuration.onCommit?(ContinuousClock.now - start, done.outcomes.count)
        reports.tell(done)
        return done.outcomes.count
    }

    /// Refuses the sends without a client message id, which cannot be recognised if they are stored. All others can be
    /// tried again: they change nothing the second time.
    ///
    /// - Returns: The others.
    private func refuseUnrepeatable(
        _ submissions: ArraySlice<Submission>, _ error: PostgresError
    ) -> ArraySlice<Submission> {
        func isRepeatable(_ submission: Submission) -> Bool {
            if case .send(let draft) = submission.change { draft.clientMessageID != nil } else { true }
        }
        reports.refuse(
            submissions.filter { !isRepeatable($0) },
            .unavailable("The database did not confirm the message, which may be stored: \(error)."))
        return submissions.filter(isRepeatable)[...]
    }

    /// The connection, and what follows from it.
    private struct Session {
        var connector: PostgresConnector.Use
        let access: AccessState
        let configuration: StoreConfiguration
        private var current: WriterState?

        init(connector: PostgresConnector.Use, access: AccessState, configuration: StoreConfiguration) {
            self.connector = connector
            self.access = access
            self.configuration = configuration.withoutJournal
        }

        /// Returns the state of the writer on a connection that is alive.
        mutating func state() throws -> WriterState {
            let (connection, isNew) = try connector.connection()
            if let current, !isNew { return current }
            let new = WriterState(
                .postgres(connection), Journal(configuration.journal), access.bans, access: access, configuration)
            current = new
            return new
        }

        /// Makes one transaction for submissions.
        mutating func transact(
            _ submissions: ArraySlice<Submission>, _ body: (inout Commit) throws -> Void
        ) throws -> Commit {
            var state = try state()
            // Each room once.
            let rooms = Array(Set(submissions.compactMap(\.room)))
            current = nil
            defer { current = state }
            return try state.transact(submissions: submissions.count, locking: rooms, body)
        }

        /// Waits a little before the next attempt to connect.
        func wait() { PostgresConnector.wait() }
    }
}

extension StoreConfiguration {
    /// The configuration for a database without a journal, which other nodes change too: no messages and no rooms are kept
    /// from one commit to the next.
    var withoutJournal: StoreConfiguration {
        var copy = self
        copy.journal.messages = 0
        copy.journal.filterFill = 0
        copy.journal.filterBytes = 0
        copy.cachedRooms = 0
        return copy
    }
}
