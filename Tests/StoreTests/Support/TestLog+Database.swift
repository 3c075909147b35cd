import GRDB
import TestSupport

@testable import Store

/// The database of a log through another connection, as operators and other programs see it. Tables and columns have
/// the same names in both stores; PostgreSQL needs quotes around `"user"`.
extension TestLog {
    /// Runs a statement.
    func execute(_ statement: String) throws {
        guard TestStore.isPostgres else {
            try sql { try $0.execute(sql: statement) }
            return
        }
        try TestPostgres.contract().query(statement, in: TestStore.database(of: path))
    }

    /// Returns the first column of a query's rows, as texts.
    func texts(_ query: String) throws -> [String?] {
        guard TestStore.isPostgres else {
            return try sql { try Row.fetchAll($0, sql: query).map { Self.text($0[0]) } }
        }
        return try TestPostgres.contract().query(query, in: TestStore.database(of: path)).map { $0[0] }
    }

    private static func text(_ value: DatabaseValue) -> String? {
        switch value.storage {
        case .null: nil
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let bytes): literal(bytes)
        }
    }

    /// Returns the number in the first column of a query's first row; `nil` for NULL, and if there is no row.
    func number(_ query: String) throws -> Int64? {
        try texts(query).first.flatMap { $0.flatMap { Int64($0) } }
    }

    /// Returns the number of rows in a table.
    func count(_ table: String) throws -> Int {
        try Int(number("SELECT count(*) FROM \(table)") ?? -1)
    }

    /// Sets a room's positions. With SQLite they follow from the messages.
    func setRoom(head: Int64? = nil, rev: Int64) throws {
        guard TestStore.isPostgres else { return }
        try execute(
            "UPDATE rooms SET rev = \(rev)\(head.map { ", head = \($0)" } ?? "") WHERE name = 'lobby'")
    }

    /// Makes updates of the messages of a room fail, until ``allowUpdates()``.
    func refuseUpdates(ofRoom room: Int, because reason: String) throws {
        try execute(
            TestStore.isPostgres
                ? """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION '\(reason)'; END $$;
                CREATE TRIGGER refusal BEFORE UPDATE ON messages FOR EACH ROW WHEN (OLD.id >> 36 = \(room))
                    EXECUTE FUNCTION refuse()
                """
                : """
                CREATE TRIGGER refusal BEFORE UPDATE ON messages WHEN OLD.id >> 36 = \(room)
                BEGIN SELECT RAISE(ABORT, '\(reason)'); END
                """)
    }

    /// Ends ``refuseUpdates(ofRoom:because:)``.
    func allowUpdates() throws {
        try execute(TestStore.isPostgres ? "DROP FUNCTION refuse() CASCADE" : "DROP TRIGGER refusal")
    }

    /// Returns the SQL of bytes.
    static func literal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return TestStore.isPostgres ? "'\\x\(digits)'::bytea" : "x'\(digits)'"
    }

    /// Returns the steps of a query that read a table from its first row to its last.
    func scans(_ query: String) throws -> [String] {
        guard TestStore.isPostgres else {
            let plan = try sql {
                try Row.fetchAll($0, sql: "EXPLAIN QUERY PLAN " + query).map { $0["detail"] as String }
            }
            return plan.filter { !$0.hasPrefix("SEARCH ") && !$0.hasPrefix("CORRELATED ") }
        }
        // Small tables are scanned whatever indexes they have.
        let plan = try TestPostgres.contract().query(
            "SET enable_seqscan = off; EXPLAIN " + query, in: TestStore.database(of: path))
        return plan.compactMap(\.[0]).filter { $0.contains("Seq Scan") }
    }
}

/// Logs as a crash leaves them.
extension TestLog {
    /// Opens what a crash would leave at this moment: with SQLite a copy of the files; with PostgreSQL the database
    /// itself, as another node, after the connections of this one have ended.
    func crashed(_ configure: (inout StoreConfiguration) -> Void = { _ in }) throws -> TestLog {
        guard TestStore.isPostgres else {
            let directory = try TemporaryDirectory()
            for suffix in ["", "-wal"] { try run("cp", path + suffix, directory.path(of: "log.db" + suffix)) }
            return try TestLog(in: directory, configure)
        }
        try TestPostgres.contract().terminateConnections(to: TestStore.database(of: path))
        return try TestLog(at: path, of: self, configure)
    }

    /// Copies the database as it is at one moment, while the log goes on.
    ///
    /// - Returns: The directory of the copy, for ``init(in:_:)``.
    func copied() throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let copy = directory.path(of: "log.db")
        if TestStore.isPostgres {
            try TestStore.copy(path, to: copy)
        } else {
            _ = try Backup(of: path, to: copy).run()
        }
        return directory
    }
}
