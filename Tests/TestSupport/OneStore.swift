public import Testing

/// The reasons why a test of the store or the server may run on SQLite only.
public enum SQLiteReason: String, Sendable {
    /// PostgreSQL has no journal.
    case journal
    /// The test looks at the database's files, or damages them.
    case files
    /// Backups are made of files. PostgreSQL has its own.
    case backup
    /// The tables of versions without PostgreSQL.
    case olderSchemas = "older schemas"
}

/// Tests of the store and the server run on both stores: on SQLite, and again with `BACKSCROLL_TEST_STORE=postgres`. These
/// traits mark exceptions. `scripts/test` counts them.
extension Trait where Self == ConditionTrait {
    /// Runs a test on SQLite only.
    public static func onSQLite(_ reason: SQLiteReason) -> Self {
        .enabled(if: !TestPostgres.isTestedStore, "on SQLite only: \(reason.rawValue)")
    }

    /// Marks a suite that is about a part of SQLite's store, which PostgreSQL's does not have.
    public static func partOfSQLite(_ reason: SQLiteReason) -> Self {
        .enabled(if: !TestPostgres.isTestedStore, "part of SQLite: \(reason.rawValue)")
    }

    /// Marks a suite that is about a part of PostgreSQL's store, and uses PostgreSQL whatever the tested store is.
    public static var partOfPostgreSQL: Self {
        .enabled(if: TestPostgres.isEnabled && !TestPostgres.isTestedStore, "part of PostgreSQL")
    }
}
