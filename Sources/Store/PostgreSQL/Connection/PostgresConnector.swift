import Glibc
import Wire

/// Makes connections to a database in PostgreSQL, for threads that keep one and replace it when it is lost.
struct PostgresConnector: Sendable {
    /// The database, and how long to wait for it.
    let settings: PostgresConnection.Settings
    /// Time between two attempts to connect: 250 ms. In between, callers fail at once.
    var pause = Duration.milliseconds(250)
    private let history: DatabaseHistory?
    /// True if the connections are for changes.
    private let changes: Bool
    /// True if their statements touch few rows, see ``PostgresConnection/planOnceByIndexes()``.
    private let plansOnce: Bool

    /// Creates a connector for connections of this purpose, which `connections` counts.
    ///
    /// - Parameter history: The history that each connection must lead to; `nil` for any.
    init(
        _ settings: PostgresConnection.Settings, purpose: NodeCounts.Purpose,
        countedBy connections: DatabaseConnections, history: DatabaseHistory? = nil
    ) {
        changes = [.writer, .caretaker, .webhooks].contains(purpose)
        plansOnce = [.writer, .reader, .webhooks].contains(purpose)
        var settings = settings
        settings.purpose = "backscroll \(purpose.rawValue)"
        settings.counter = connections[purpose]
        if !changes { settings.changes = nil }
        self.settings = settings
        self.history = history
    }

    /// Makes a connection.
    ///
    /// - Throws: ``PostgresError/otherHistory`` if the database has another history;
    ///   ``PostgresError/readOnly(because:)`` if the database is read-only and the connection is for changes.
    func connect() throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(settings)
        if changes { try connection.checkTakesChanges() }
        if plansOnce { try connection.planOnceByIndexes() }
        try history?.check(connection)
        return connection
    }

    /// Waits before the next attempt to connect. For threads that have nothing else to do.
    static func wait() { usleep(50_000) }

    /// Returns one thread's connection, which is made when it is first needed.
    func use() -> Use { Use(connector: self) }

    /// One thread's connection.
    struct Use {
        private let connector: PostgresConnector
        private var current: PostgresConnection?
        private var nextAttempt: ContinuousClock.Instant?
        private var lastError = PostgresError(connection: "there is no connection to the database")

        fileprivate init(connector: PostgresConnector) {
            self.connector = connector
        }

        /// Returns what became of a transaction, on a connection of its own: `committed`, `aborted` or `in progress`; empty
        /// if it is too old, or if PostgreSQL has been started since the transaction began.
        ///
        /// A crash may lose a transaction with its number, which PostgreSQL then gives to another one. The checkpointer
        /// starts again with each recovery; only some roles see when.
        func status(of transaction: String, begun: Timestamp) throws(PostgresError) -> String {
            let connection = try connector.connect()
            var parameters = PostgresParameters()
            parameters.append(transaction)
            parameters.append(begun.milliseconds)
            return try connection.run(
                """
                SELECT CASE WHEN greatest(pg_postmaster_start_time(), (
                    SELECT max(backend_start) FROM pg_stat_activity WHERE backend_type = 'checkpointer'
                )) < to_timestamp($2::bigint / 1000.0) THEN pg_xact_status($1::text::xid8) ELSE '' END
                """, parameters
            ).text(0, 0)
        }

        /// Returns the connection, and true if it is new. Statements of earlier connections cannot be used any more.
        ///
        /// - Throws: ``PostgresError`` of kind `connection`, or `otherHistory`. After a failed attempt the next calls
        ///   fail with the same error until it is time for another attempt.
        mutating func connection() throws(PostgresError) -> (PostgresConnection, isNew: Bool) {
            if let current, current.isAlive { return (current, false) }
            current = nil
            if let nextAttempt, nextAttempt > .now { throw lastError }
            do throws(PostgresError) {
                let new = try connector.connect()
                current = new
                return (new, true)
            } catch {
                lastError = error
                nextAttempt = .now + connector.pause
                throw error
            }
        }
    }
}
