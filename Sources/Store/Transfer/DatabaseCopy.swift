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
        try Self.open(source, isSource: true) { source in
            try Self.open(target, isSource: false) { target in
                try Run(from: source, to: target).copy(isCancelled: isCancelled, progress: progress)
            }
        }
    }

    /// Refuses a database that is an unfinished copy.
    static func checkIsWhole(_ db: Connection) throws {
        let select = try PreparedStatement("SELECT 1 FROM meta WHERE key = '\(sourceKey)'", db)
        guard try select.firstRow({ _ in true }) == nil else {
            throw StoreError(
                description: "the database is an unfinished copy: run `backscroll copy` again to finish it")
        }
    }

    // MARK: Opening

    private static func open<R>(
        _ location: DatabaseLocation, isSource: Bool, _ body: (Connection) throws -> R
    ) throws -> R {
        switch location {
        case .file(let path): try open(file: path, isSource: isSource, body)
        case .postgres(let url): try open(postgres: url, body)
        }
    }

    private static func open<R>(file path: String, isSource: Bool, _ body: (Connection) throws -> R) throws -> R {
        if isSource, !DatabaseLocation.isConnectionString(path), access(path, F_OK) != 0 {
            throw StoreError.missing(path)
        }
        var configuration = StoreConfiguration()
        configuration.reservedLog = 0
        // Takes the same lock as a server.
        let file = try DatabaseFile(path)
        let connection = try file.connectForWriting(configuration)
        defer {
            connection.close()
            // Keeps the lock until the connection is closed.
            _ = file.path
        }
        return try connection.use { db in
            if isSource {
                let statements = try WriterStatements(.sqlite(db))
                try statements.transaction { try Journal.empty(db, statements) }
            }
            return try body(.sqlite(db))
        }
    }

    private static func open<R>(postgres url: String, _ body: (Connection) throws -> R) throws -> R {
        do {
            let connection = try PostgresConnection(
                PostgresConnection.Settings(
                    url: url, purpose: "backscroll copy", answerTime: PostgresConnection.Settings.commandAnswerTime))
            try PostgresSchema.migrate(connection)
            try waitForServersToLeave(connection)
            return try body(.postgres(connection))
        } catch let error as PostgresError {
            throw StoreError.postgres("\(error)")
        }
    }

    /// Refuses a database that servers use. Connections of one that has just stopped may be there for a moment longer.
    private static func waitForServersToLeave(_ connection: PostgresConnection) throws {
        let count = connection.statement(
            """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                AND application_name LIKE 'backscroll %' AND pid <> pg_backend_pid()
            """)
        let deadline = ContinuousClock.now + patience
        while try connection.run(count).integer(0, 0) > 0 {
            guard ContinuousClock.now < deadline else { throw StoreError.postgres("servers use it; stop them first") }
            PostgresConnector.wait()
        }
    }

    /// Time for connections of a stopped server to end: 3 seconds.
    private static let patience = Duration.seconds(3)

    private struct Run {
        let source: Connection
        let target: Connection
        private var progress = Progress()
        private let begin: PreparedStatement
        private let commit: PreparedStatement
        private let rollback: PreparedStatement
        private let setMeta: PreparedStatement

        init(from source: Connection, to target: Connection) throws {
            self.source = source
            self.target = target
            begin = try PreparedStatement("BEGIN", target)
            commit = try PreparedStatement("COMMIT", target)
            rollback = try PreparedStatement("ROLLBACK", target)
            setMeta = try PreparedStatement(
                """
                INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value
                """, target)
        }

        consuming func copy(
            isCancelled: () -> Bool, progress report: (Progress) -> Void
        ) throws -> Progress {
            try DatabaseCopy.checkIsWhole(source)
            var (table, place) = try start()
            progress.allMessages = try count("messages", source)
            progress.messages = try count("messages", target)
            while table < CopiedTable.all.count {
                let current = CopiedTable.all[table]
                let rows = try read(current, after: place)
                try transaction {
                    try insert(rows, into: current)
                    if rows.count < DatabaseCopy.rows {
                        (table, place) = (table + 1, nil)
                    } else {
                        place = Array(rows.last!.prefix(current.keyCount))
                    }
                    let key = place.map { CopiedTable.all[table].text(ofKey: $0[...]) }
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
        private mutating func start() throws -> (table: Int, place: [CopiedTable.Value]?) {
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
                return (table, parts.count > 1 ? CopiedTable.all[table].key(String(parts[1])) : nil)
            }
            guard try count("rooms", target) == 0 else {
                throw StoreError(description: "the target is not empty: a copy needs a database of its own")
            }
            try transaction { try set(DatabaseCopy.sourceKey, to: epoch) }
            return (0, nil)
        }

        // MARK: Rows

        private func read(_ table: CopiedTable, after place: [CopiedTable.Value]?) throws -> [[CopiedTable.Value]] {
            let select = try PreparedStatement(table.select(after: place != nil, limit: DatabaseCopy.rows), source)
            if let place { try select.bind(place) }
            return try select.allRows { table.values(of: $0) }
        }

        private func insert(_ rows: [[CopiedTable.Value]], into table: CopiedTable) throws {
            let insert = try PreparedStatement(table.insert(into: target), target)
            for row in rows {
                try insert.bind(row)
                try insert.runSoon()
            }
            if table.name == "rooms", target.isPostgres { try setProgress(of: rows) }
        }

        /// Sets `head` and `rev` in the rows of rooms, which SQLite computes from their messages.
        private func setProgress(of rooms: [[CopiedTable.Value]]) throws {
            let lookup = try LookupStatements(source)
            let update = try PreparedStatement("UPDATE rooms SET head = ?, rev = ? WHERE id = ?", target)
            for case .integer(let number)? in rooms.map(\.first) {
                let (head, rev, _) = try lookup.progress(of: number)
                try update.bind([.integer(head), .integer(rev), .integer(number)] as [CopiedTable.Value])
                try update.runSoon()
            }
        }

        /// Gives the target the identity of the source, once it has all rows.
        private func finish() throws {
            for table in CopiedTable.all {
                let (wanted, found) = (try count(table.name, source), try count(table.name, target))
                guard wanted == found else {
                    throw StoreError(
                        description:
                            "the table \(table.name) has \(found) rows in the target and \(wanted) in the source: "
                            + "a server has changed one of them during the copy; empty the target and start again")
                }
            }
            try transaction {
                for key in ["epoch", "fingerprint_secret"] {
                    if let value = try meta(key, source) { try set(key, to: value) }
                }
                if target.isPostgres {
                    for table in CopiedTable.all where table.isNumbered {
                        let sequence = try PreparedStatement(
                            """
                            SELECT setval(pg_get_serial_sequence('\(table.name)', 'id'), max(id)) FROM \(table.name)
                            """, target)
                        try sequence.forEachRow { _ in }
                    }
                }
                for key in [DatabaseCopy.sourceKey, DatabaseCopy.placeKey] {
                    try PreparedStatement("DELETE FROM meta WHERE key = '\(key)'", target).run()
                }
            }
        }

        // MARK: Statements

        private func count(_ table: String, _ db: Connection) throws -> Int64 {
            try PreparedStatement("SELECT count(*) FROM \(table)", db).firstRow { $0.integer(0) } ?? 0
        }

        private func meta(_ key: String, _ db: Connection) throws -> String? {
            let select = try PreparedStatement("SELECT value FROM meta WHERE key = ?", db)
            try select.bind(key, at: 1)
            return try select.firstRow { $0.text(0) }
        }

        private func set(_ key: String, to value: String) throws {
            try setMeta.bind(key, at: 1)
            try setMeta.bind(value, at: 2)
            try setMeta.run()
        }

        private func transaction(_ body: () throws -> Void) throws {
            try begin.runSoon()
            do {
                try body()
                try commit.run()
            } catch {
                if target.isInTransaction { try? rollback.run() }
                throw error
            }
        }
    }
}
