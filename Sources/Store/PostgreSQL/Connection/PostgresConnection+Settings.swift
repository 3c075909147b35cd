extension PostgresConnection {
    /// The database, and how long to wait for it.
    struct Settings: Sendable {
        /// A connection string of libpq, such as `postgres://user@host/database`. What it leaves out comes from libpq's
        /// environment and password file.
        var url: String
        /// The purpose of the connection, which `pg_stat_activity` shows as `application_name`.
        var purpose = "backscroll"
        /// Time to wait for a new connection.
        var connectTime = Duration.seconds(5)
        /// Time to wait for the results of statements.
        var answerTime = Self.nodeAnswerTime
        /// The bounds of abandoned work on a connection for changes; `nil` for another connection.
        var changes: ChangeBounds?
        /// Counts the connection and its waits; `nil` for none.
        var counter: DatabaseConnections.Counter?
        /// Called on the connection's thread after each wait for results, with its duration.
        var onWait: (@Sendable (Duration) -> Void)?

        /// Time that a node waits for the results of statements: 10 seconds. A node's statements are short, even those
        /// that wait for other nodes' commits, so a longer wait means that the database or the network does not work.
        static let nodeAnswerTime = Duration.seconds(10)
        /// Time that commands and upgrades of the tables wait for the results of statements: 1 hour. They may read or
        /// change whole tables.
        static let commandAnswerTime = Duration.seconds(3600)
    }
}

extension PostgresConnection.Settings {
    /// Bounds for connections that change the database, so that a node that is stopped or cut off holds up nobody for
    /// long. PostgreSQL enforces them.
    struct ChangeBounds: Sendable {
        /// Maximum time of a wait for a lock. Then the commit is rolled back, see ``HeldRooms``.
        var lockTime = Self.defaultLockTime

        /// Time for which a commit waits for a room that another transaction has locked: 500 ms.
        static let defaultLockTime = Duration.milliseconds(500)
        /// Time for which a transaction may wait for its node: 2 seconds. It holds the locks of rooms meanwhile.
        static let idleTransactionTime = Duration.seconds(2)
        /// Time after which PostgreSQL ends the connection of a node that asks nothing: 5 seconds. Writers and the
        /// caretaker ask more often. So a node that was stopped loses the caretaker's lock, and changes nothing with
        /// what it knew before.
        static let idleTime = Duration.seconds(5)
    }
}

/// Settings of the session in PostgreSQL.
extension PostgresConnection {
    /// Makes the settings that all connections have.
    func setUpSession() throws(PostgresError) {
        // Compiling a plan takes longer than running a node's statements. The start-up parameter `options` could turn
        // the compiler off too, but poolers refuse it.
        try execute("SELECT set_config('jit', 'off', false)")
        try boundAbandonedWork()
    }

    /// Makes PostgreSQL end the work of this connection soon after the node has ended or stopped. Otherwise a batch
    /// that waits for the lock of a room may be stored long after the node has given it up, and a transaction without a
    /// client keeps its locks.
    ///
    /// A setting that the server does not know is left out. If the server refuses the settings, the connection works
    /// without them.
    private func boundAbandonedWork() throws(PostgresError) {
        var wanted = [
            ("client_connection_check_interval", Self.clientCheckInterval),
            ("idle_in_transaction_session_timeout", settings.answerTime),
        ]
        if let changes = settings.changes {
            wanted[1].1 = min(settings.answerTime, Settings.ChangeBounds.idleTransactionTime)
            wanted.append(("idle_session_timeout", Settings.ChangeBounds.idleTime))
            wanted.append(("lock_timeout", changes.lockTime))
        }
        let rows = wanted.map { "('\($0)', '\(max(1, $1.milliseconds))')" }.joined(separator: ", ")
        do throws(PostgresError) {
            try execute(
                """
                SELECT set_config(name, wanted.value, false)
                FROM (VALUES \(rows)) AS wanted (name, value) JOIN pg_settings USING (name)
                """)
        } catch {
            guard error.kind == .statement else { throw error }
        }
    }

    /// Time between two checks of the connection by PostgreSQL while it runs a statement: 1 second.
    private static let clientCheckInterval = Duration.seconds(1)

    /// Makes PostgreSQL plan each prepared statement once, and find rows by indexes.
    ///
    /// For connections whose statements touch few rows. Planning most of these statements takes longer than running
    /// them. Scenario F of `scripts/compare` measures their cost.
    func planOnceByIndexes() throws(PostgresError) {
        try execute(
            """
            SELECT set_config('plan_cache_mode', 'force_generic_plan', false),
                set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false)
            """)
    }
}
