import Testing

extension Trait where Self == ConditionTrait {
    /// Runs the test on SQLite only, because it looks into SQLite's files or tables.
    static var onSQLite: Self { .enabled(if: !TestStore.isPostgres) }
}
