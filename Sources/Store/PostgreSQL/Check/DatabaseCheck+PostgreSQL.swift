/// The check of a database in PostgreSQL.
extension DatabaseCheck {
    func run(_ url: String, _ findings: Findings, _ progress: (Part, Int64) -> Void) throws(StoreError) {
        do {
            let connection = try PostgresConnection(
                PostgresConnection.Settings(
                    url: url, purpose: "backscroll check",
                    answerTime: PostgresConnection.Settings.commandAnswerTime))
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try check(connection, findings, progress)
            try connection.execute("COMMIT")
        } catch let error as StoreError {
            throw error
        } catch {
            throw .postgres("\(error)")
        }
    }

    private func check(
        _ db: PostgresConnection, _ findings: Findings, _ progress: (Part, Int64) -> Void
    ) throws {
        let schema = SchemaCheck(connection: db, findings: findings)
        guard try schema.checkVersion() else { return }
        try DatabaseCopy.checkIsWhole(db)
        try part(db, findings, "the tables") { try schema.run() }
        try part(db, findings, "the messages") {
            try MessageCheck(db, findings).run { progress(.messages, $0) }
        }
        try part(db, findings, "the rooms") { try ProgressCheck(db, findings).run() }
        progress(.people, 0)
        try part(db, findings, "members, read marks and bans") { try PeopleCheck(db, findings, [:]).run() }
        try part(db, findings, "jobs and deleted rooms") { try JobCheck(db: db, findings: findings).run() }
        // The words of damaged messages are not known.
        guard findings.report.isSound else { return }
        try part(db, findings, "the index for searches") { try WordCheck(db: db, findings: findings).run() }
    }

    /// Runs one part of the check. A failed statement, such as one that needs a missing table, ends the part and is
    /// reported.
    private func part(
        _ connection: PostgresConnection, _ findings: Findings, _ name: String, _ body: () throws -> Void
    ) throws {
        try connection.execute("SAVEPOINT part")
        do {
            try body()
        } catch let error as PostgresError where error.kind == .statement {
            findings.add("the check of \(name) stopped: \(error)")
            // The statements that close cursors are still queued, and fail too.
            _ = try? connection.results()
            // The transaction continues with the same snapshot.
            try connection.execute("ROLLBACK TO SAVEPOINT part")
        }
    }
}
