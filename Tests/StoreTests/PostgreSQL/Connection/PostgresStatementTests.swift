import Testing

@testable import Store

@Suite("SQL for PostgreSQL")
struct PostgresStatementTests {
    @Test(
        "has numbered parameters, and PostgreSQL's words where they differ",
        arguments: [
            ("SELECT 1", "SELECT 1"),
            ("a = ? AND b > ?", "a = $1 AND b > $2"),
            ("?1 << 36 AND ?1 LIMIT ?2", "$1 << 36 AND $1 LIMIT $2"),
            ("?2, ?", "$2, $3"),
            ("user, users, members.user", "\"user\", users, members.\"user\""),
            ("ifnull(active_at, 0)", "coalesce(active_at, 0)"),
            ("key = 'user?' AND \"user\" = ?", "key = 'user?' AND \"user\" = $1"),
        ])
    func translated(sqlite: String, postgres: String) {
        #expect(PostgresStatement.translated(sqlite) == postgres)
    }
}
