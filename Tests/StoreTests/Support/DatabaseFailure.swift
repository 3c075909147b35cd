import GRDB
import TestSupport

@testable import Store

/// Makes commits fail for a while: with SQLite by another program that is writing, with PostgreSQL by a trigger.
final class DatabaseFailure {
    private let log: TestLog
    private let outsider: DatabaseQueue?

    /// Makes a log report failures soon, and probe often.
    static func configure(_ configuration: inout StoreConfiguration) {
        // It would write between the failures.
        configuration.indexes = false
        configuration.busyTimeout = 1
        configuration.probeInterval = 1
    }

    /// Prepares a failure of a log that was opened with ``configure(_:)``.
    init(of log: TestLog) throws {
        self.log = log
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        outsider = TestStore.isPostgres ? nil : try DatabaseQueue(path: log.path, configuration: configuration)
    }

    /// The word that the reason of a failed commit contains; `nil` with PostgreSQL, whose reasons are for operators.
    var word: String? { outsider == nil ? nil : "locked" }

    /// From now on commits fail.
    func begin() throws {
        if let outsider { return try outsider.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") } }
        try log.execute(
            """
            CREATE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'forbidden'; END $$;
            CREATE TRIGGER forbidden BEFORE INSERT OR UPDATE ON rooms EXECUTE FUNCTION forbid()
            """)
    }

    /// From now on commits succeed again.
    func end() throws {
        if let outsider { return try outsider.inDatabase { try $0.execute(sql: "ROLLBACK") } }
        try log.execute("DROP FUNCTION forbid() CASCADE")
    }
}
