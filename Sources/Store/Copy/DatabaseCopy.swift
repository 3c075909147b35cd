import Glibc
import Wire

/// A copy of a whole database, from SQLite to PostgreSQL or back. Clients do not notice: `seq`, `rev`, the epoch,
/// client message ids, members and read marks stay the same.
///
/// Each transaction copies some rows, and stores the progress in the target, so an interrupted copy continues when it
/// is run again. Until the copy is done, no server opens the target.
public struct DatabaseCopy {
    /// The state of a copy.
    public struct Progress: Sendable {
        /// The number of messages that the target has.
        public var messages: Int64 = 0
        /// The number of messages of the source.
        public var allMessages: Int64 = 0
        /// The number of rows of other tables that this run has copied.
        public var otherRows: Int64 = 0
        /// True if this run has continued an interrupted one.
        public var isContinued = false
        /// True if the copy was cancelled.
        public var isCancelled = false
    }

    /// Number of rows that are copied in one transaction.
    static let rows = 500
    /// The keys in `meta` of an unfinished copy: the epoch of its source, and the table to continue with and the key of
    /// its last copied row.
    static let sourceKey = "copy_of"
    static let placeKey = "copy_place"

    private let source: DatabaseLocation
    private let target: DatabaseLocation

    /// Prepares a copy.
    ///
    /// - Parameters:
    ///   - source: A database that no server uses.
    ///   - target: A database that is empty or does not exist, or an unfinished copy of `source`.
    public init(of source: DatabaseLocation, to target: DatabaseLocation) {
        self.source = source
        self.target = target
    }

    /// Makes or continues the copy.
    ///
    /// - Parameters:
    ///   - isCancelled: Called after each transaction; returns true to stop there.
    ///   - progress: Called after each transaction.
    /// - Throws: ``StoreError``.
    public func run(
        isCancelled: () -> Bool = { false }, progress: (Progress) -> Void = { _ in }
    ) throws -> Progress {
        switch source {
        case .file(let path):
            try Self.open(file: path, isSource: true) { try copy(from: $0, isCancelled, progress) }
        case .postgres(let url): try Self.open(postgres: url) { try copy(from: $0, isCancelled, progress) }
        }
    }

    private func copy(
        from source: some CopyTarget, _ isCancelled: () -> Bool, _ progress: (Progress) -> Void
    ) throws -> Progress {
        switch target {
        case .file(let path):
            try Self.open(file: path, isSource: false) {
                try Run(from: source, to: $0).copy(isCancelled: isCancelled, progress: progress)
            }
        case .postgres(let url):
            try Self.open(postgres: url) {
                try Run(from: source, to: $0).copy(isCancelled: isCancelled, progress: progress)
            }
        }
    }

    /// Refuses a database that is an unfinished copy.
    static func checkIsWhole(_ db: some SQLDatabase) throws {
        guard try !db.has("SELECT 1 FROM meta WHERE key = $1", sourceKey) else {
            throw StoreError(
                description: "the database is an unfinished copy: run `backscroll copy` again to finish it")
        }
    }

    // MARK: Opening

    private static func open<R>(
        file path: String, isSource: Bool, _ body: (SQLiteConnection) throws -> R
    ) throws -> R {
        if isSource, !DatabaseLocation.isConnectionString(path), access(path, F_OK) != 0 {
            throw StoreError.missing(path)
        }
        return try DatabaseFile.withWriter(of: path) { db in
            if isSource {
                let statements = try WriterStatements(db)
                try db.transaction(.immediate) { _ in try statements.fileAll() }
            }
            return try body(db)
        }
    }

    private static func open<R>(postgres url: String, _ body: (PostgresConnection) throws -> R) throws -> R {
        do {
            let connection = try PostgresConnection(
                PostgresConnection.Settings(
                    url: url, purpose: "backscroll copy", answerTime: PostgresConnection.Settings.commandAnswerTime))
            try PostgresSchema.migrate(connection)
            try waitForServersToLeave(connection)
            return try body(connection)
        } catch let error as PostgresError {
            throw StoreError.postgres("\(error)")
        }
    }

    /// Refuses a database that servers use. Connections of one that has just stopped may be there for a moment longer.
    private static func waitForServersToLeave(_ connection: PostgresConnection) throws {
        let count = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                AND application_name LIKE 'backscroll %' AND pid <> pg_backend_pid()
            """
        let deadline = ContinuousClock.now + patience
        while try connection.run(count).integer(0, 0) > 0 {
            guard ContinuousClock.now < deadline else { throw StoreError.postgres("servers use it; stop them first") }
            PostgresConnector.wait()
        }
    }

    /// Time for connections of a stopped server to end: 3 seconds.
    private static let patience = Duration.seconds(3)

    private struct Run<Source: CopyTarget, Target: CopyTarget> {
        let source: Source
        let target: Target
        private var progress = Progress()

        init(from source: Source, to target: Target) {
            self.source = source
            self.target = target
        }

        consuming func copy(
            isCancelled: () -> Bool, progress report: (Progress) -> Void
        ) throws -> Progress {
            try DatabaseCopy.checkIsWhole(source)
            var (table, lastKey) = try start()
            progress.allMessages = try count("messages", source)
            progress.messages = try count("messages", target)
            while table < StoredTable.all.count {
                let current = StoredTable.all[table]
                let rows = try read(current, after: lastKey)
                try transaction {
                    try insert(rows, into: current)
                    if rows.count < DatabaseCopy.rows {
                        (table, lastKey) = (table + 1, nil)
                    } else {
                        lastKey = Array(rows.last!.prefix(current.keyCount))
                    }
                    let key = lastKey.map { StoredTable.all[table].text(ofKey: $0[...]) }
                    try set(DatabaseCopy.placeKey, to: "\(table)" + (key.map { "\t" + $0 } ?? ""))
                }
                if current.name == "messages" {
                    progress.messages += Int64(rows.count)
                } else {
                    progress.otherRows += Int64(rows.count)
                }
                report(progress)
                if isCancelled() {
                    progress.isCancelled = true
                    return progress
                }
            }
            try finish()
            return progress
        }

        /// Returns the table to continue with and the key of its last copied row, and marks a new target as unfinished.
        private mutating func start() throws -> (table: Int, lastKey: [StoredTable.Value]?) {
            guard let epoch = try meta("epoch", source) else {
                throw StoreError(
                    description: "the source has no epoch: it is a backup that was never opened by a server")
            }
            if let known = try meta(DatabaseCopy.sourceKey, target) {
                guard known == epoch else {
                    throw StoreError(description: "the target is an unfinished copy of another database")
                }
                progress.isContinued = true
                let parts = try meta(DatabaseCopy.placeKey, target)?.split(separator: "\t", maxSplits: 1) ?? []
                let table = parts.first.flatMap { Int($0) } ?? 0
                return (table, parts.count > 1 ? StoredTable.all[table].key(String(parts[1])) : nil)
            }
            guard try count("rooms", target) == 0 else {
                throw StoreError(description: "the target is not empty: a copy needs a database of its own")
            }
            try transaction { try set(DatabaseCopy.sourceKey, to: epoch) }
            return (0, nil)
        }

        // MARK: Rows

        private func read(_ table: StoredTable, after lastKey: [StoredTable.Value]?) throws -> [[StoredTable.Value]] {
            let select = try source.prepare(table.select(after: lastKey != nil, limit: DatabaseCopy.rows))
            if let lastKey { try select.bind(lastKey) }
            return try select.allRows { table.values(of: $0) }
        }

        private func insert(_ rows: [[StoredTable.Value]], into table: StoredTable) throws {
            let insert = try target.prepare(table.insert(overriding: Target.overriding))
            for row in rows {
                try insert.bind(row)
                try insert.runSoon()
            }
            guard table.name == "rooms" else { return }
            for case .integer(let number)? in rows.map(\.first) {
                try target.setProgress(source.progress(of: number), of: number)
            }
        }

        /// Gives the target the identity of the source, once it has all rows.
        private func finish() throws {
            for table in StoredTable.all {
                let (wanted, found) = (try count(table.name, source), try count(table.name, target))
                guard wanted == found else {
                    throw StoreError(
                        description:
                            "the table \(table.name) has \(found) rows in the target and \(wanted) in the source: "
                            + "a server has changed one of them during the copy; empty the target and start again")
                }
            }
            try transaction {
                for key in ["epoch", "fingerprint_secret", "imported"] {
                    if let value = try meta(key, source) { try set(key, to: value) }
                }
                for table in StoredTable.all where table.isNumbered { try target.continueNumbers(of: table.name) }
                // Receivers compare the numbers of events with earlier ones, which may have no rows any more.
                try target.continueEvents(after: try source.lastEvent())
                try target.listWebhookRooms()
                // The index is not copied, since the tokens of the two stores differ.
                try target.requireSearchRebuild()
                for key in [DatabaseCopy.sourceKey, DatabaseCopy.placeKey] {
                    try target.run("DELETE FROM meta WHERE key = $1", key)
                }
            }
        }

        // MARK: Statements

        private func count(_ table: String, _ db: some SQLDatabase) throws -> Int64 {
            try db.first("SELECT count(*) FROM \(table)") { $0.integer(0) } ?? 0
        }

        private func meta(_ key: String, _ db: some SQLDatabase) throws -> String? {
            try db.first("SELECT value FROM meta WHERE key = $1", key) { $0.text(0) }
        }

        private func set(_ key: String, to value: String) throws {
            try target.run(
                """
                INSERT INTO meta (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value
                """, key, value)
        }

        private func transaction(_ body: () throws -> Void) throws {
            try target.runSoon("BEGIN")
            do {
                try body()
                try target.run("COMMIT")
            } catch {
                if target.isInTransaction { try? target.run("ROLLBACK") }
                throw error
            }
        }
    }
}

/// A database that a copy is made in, or from.
private protocol CopyTarget: SQLDatabase {
    /// The words by which a numbered row keeps its number when it is inserted.
    static var overriding: String { get }
    /// Sets the progress of a room, if that is in its row.
    func setProgress(_ progress: RoomProgress, of room: Int64) throws
    /// Lets the numbers of new rows follow those of the rows that a table has.
    func continueNumbers(of table: String) throws
    /// Returns the number of the latest event of webhooks; 0 if there was none.
    func lastEvent() throws -> Int64
    /// Lets the numbers of new events follow a number.
    func continueEvents(after number: Int64) throws
    /// Begins to list the rooms that commits change, if there are webhooks.
    func listWebhookRooms() throws
}

extension SQLiteConnection: CopyTarget {
    fileprivate static var overriding: String { "" }
    fileprivate func setProgress(_ progress: RoomProgress, of room: Int64) {}
    fileprivate func continueNumbers(of table: String) {}
    fileprivate func lastEvent() throws -> Int64 {
        try first("SELECT seq FROM sqlite_sequence WHERE name = 'webhook_events'") { $0.integer(0) } ?? 0
    }

    fileprivate func continueEvents(after number: Int64) throws {
        try run("DELETE FROM sqlite_sequence WHERE name = 'webhook_events'")
        try run("INSERT INTO sqlite_sequence (name, seq) VALUES ('webhook_events', $1)", number)
    }
    // Its writer finds the webhooks when it starts.
    fileprivate func listWebhookRooms() {}
}

extension PostgresConnection: CopyTarget {
    fileprivate static var overriding: String { " OVERRIDING SYSTEM VALUE" }

    fileprivate func setProgress(_ progress: RoomProgress, of room: Int64) throws {
        try runSoon("UPDATE rooms SET head = $1, rev = $2 WHERE id = $3", progress.head, progress.rev, room)
    }

    fileprivate func continueNumbers(of table: String) throws {
        try forEach("SELECT setval(pg_get_serial_sequence('\(table)', 'id'), max(id)) FROM \(table)") { _ in }
    }

    fileprivate func lastEvent() throws -> Int64 {
        try first(
            "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('webhook_events', 'id')::regclass), 0)"
        ) { $0.integer(0) } ?? 0
    }

    fileprivate func continueEvents(after number: Int64) throws {
        try forEach(
            "SELECT setval(pg_get_serial_sequence('webhook_events', 'id'), $1)", max(1, number)
        ) { _ in }
    }
}
