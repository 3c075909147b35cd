import Nodes
import Wire

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
        /// True if the database may have settings by which a crash loses changes: `fsync` or `full_page_writes` is off.
        var allowsUnsafe = true
        /// True if a commit waits until it is on the disk, and on the synchronous standby if there is one, whatever the
        /// role's default is. Tests choose false.
        var pinsSynchronousCommit = true
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
    /// Makes the settings that all connections have. The program relies on them, so defaults of the role, the database or
    /// the server do not count. They are set with statements, because poolers refuse most start-up parameters.
    func setUpSession() throws(PostgresError) {
        var pinned = [
            // Compiling a plan takes longer than running a node's statements.
            ("jit", "'off'"),
            // A batch that has waited for the lock of a room must see what was committed meanwhile, such as a removal.
            ("default_transaction_isolation", "'read committed'"),
            ("default_transaction_deferrable", "'off'"),
        ]
        if settings.pinsSynchronousCommit {
            // A commit that is acknowledged must be durable. Only `remote_apply` promises more.
            pinned.append(
                (
                    "synchronous_commit",
                    "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END"
                ))
        }
        let calls = pinned.map { "set_config('\($0)', \($1), false)" }.joined(separator: ", ")
        try execute("SELECT \(calls)")
        try chooseSchema()
        try boundAbandonedWork()
    }

    /// Makes the schema with the tables of Backscroll the only one that names are looked up in. Otherwise two nodes whose
    /// roles have different search paths could use different tables, or a table of another program could hide one.
    ///
    /// A schema in the role's search path comes first. Without tables, they will be created in the first schema of the
    /// search path, or else in `public`.
    ///
    /// - Throws: ``PostgresError`` if several schemas have tables, and none of them is in the search path.
    private func chooseSchema() throws(PostgresError) {
        let select = statement(
            """
            WITH found AS (
                SELECT nspname::text AS name, array_position(current_schemas(false), nspname) AS number
                FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid
                WHERE relname IN ('meta', 'messages', 'rooms', 'server') AND relkind = 'r' AND nspname NOT LIKE 'pg\\_%'
                GROUP BY nspname HAVING count(*) = 4
            ), chosen AS (
                SELECT coalesce(
                    (SELECT name FROM found WHERE number IS NOT NULL ORDER BY number LIMIT 1),
                    (SELECT min(name) FROM found HAVING count(*) = 1),
                    (SELECT coalesce(current_schema()::text, 'public') WHERE NOT EXISTS (SELECT 1 FROM found))) AS name
            )
            SELECT CASE WHEN name IS NOT NULL THEN set_config('search_path', quote_ident(name) || ', pg_temp', false) END,
                (SELECT string_agg(name, ', ' ORDER BY name) FROM found)
            FROM chosen
            """)
        let result = try run(select)
        guard result.isNull(0, 0) else { return }
        throw PostgresError(
            state: "3F000",
            message: "the schemas \(result.text(0, 1)) each have tables of Backscroll; put one of them into the "
                + "search_path of the role")
    }

    /// Makes PostgreSQL end the work of this connection soon after the node has ended or stopped. Otherwise a batch
    /// that waits for the lock of a room may be stored long after the node has given it up, and a transaction without a
    /// client keeps its locks.
    ///
    /// A setting that the server does not know is left out. If the server refuses the settings, the connection works
    /// without them.
    private func boundAbandonedWork() throws(PostgresError) {
        let changes = settings.changes
        // `nil` turns off a bound that the role may have: the node has bounds of its own.
        let wanted: [(String, Duration?)] = [
            ("client_connection_check_interval", Self.clientCheckInterval),
            (
                "idle_in_transaction_session_timeout",
                changes == nil
                    ? settings.answerTime : min(settings.answerTime, Settings.ChangeBounds.idleTransactionTime)
            ),
            ("idle_session_timeout", changes.map { _ in Settings.ChangeBounds.idleTime }),
            ("lock_timeout", changes?.lockTime),
            ("statement_timeout", nil), ("transaction_timeout", nil),
        ]
        let rows = wanted.map { name, time in "('\(name)', '\(time.map { max(1, $0.milliseconds) } ?? 0)')" }
            .joined(separator: ", ")
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
                set_config('enable_indexscan', 'on', false),
                set_config('enable_seqscan', 'off', false), set_config('enable_bitmapscan', 'off', false)
            """)
    }
}
