/// A statement that was written for both databases, on PostgreSQL.
///
/// Confined to its connection's thread.
final class PostgresStatement {
    private let connection: PostgresConnection
    private let sql: String
    private let statement: PostgresConnection.Statement
    private var parameters = PostgresParameters()

    /// The statements that read a part of the rows at a time; `nil` if all rows are read at once.
    private let cursor: Cursor?

    /// A cursor of the server (PostgreSQL manual, DECLARE).
    private struct Cursor {
        let declare: PostgresConnection.Statement
        let fetchFirst: PostgresConnection.Statement
        let fetchMore: PostgresConnection.Statement
        let close: PostgresConnection.Statement
    }

    /// The answers to statements that were sent ahead, by their parameters. They belong to ``snapshot``.
    private var answers: [[[UInt8]?]: PostgresConnection.Answer] = [:]
    /// The value of the connection's `snapshot` when ``answers`` was filled.
    private var snapshot = 0

    /// The number of rows of the first and of later reads from a cursor.
    private static let rows = (first: 64, later: 1024)

    /// Prepares a statement.
    ///
    /// - Parameters:
    ///   - sql: SQL for SQLite, see ``translated(_:)``.
    ///   - isLong: True if the statement may have many rows of which few are usually taken. It must run in a
    ///     transaction.
    init(_ sql: String, isLong: Bool, _ connection: PostgresConnection) {
        self.connection = connection
        self.sql = Self.translated(sql)
        statement = connection.statement(self.sql)
        guard isLong else {
            cursor = nil
            return
        }
        // The name is unique, because statements are numbered.
        let name = "c" + statement.name
        cursor = Cursor(
            declare: connection.statement("DECLARE \(name) NO SCROLL CURSOR FOR \(self.sql)"),
            fetchFirst: connection.statement("FETCH \(Self.rows.first) FROM \(name)"),
            fetchMore: connection.statement("FETCH \(Self.rows.later) FROM \(name)"),
            close: connection.statement("CLOSE \(name)"))
    }

    func bind(_ value: [UInt8]?, as type: PostgresParameters.ValueType, at index: Int32) {
        parameters.set(value, as: type, at: Int(index))
    }

    /// Runs the statement, and waits for its result.
    @discardableResult
    func run() throws -> PostgresResult {
        try connection.run(statement, parameters)
    }

    /// Queues the statement for the next round trip.
    func send() throws {
        try connection.send(statement, parameters)
    }

    /// Queues the statement for the next round trip, and keeps its first rows for ``firstRows()`` with the same
    /// parameters in the same read transaction.
    ///
    /// A long statement must be read before it is sent again.
    func sendAhead() throws {
        if snapshot != connection.snapshot {
            answers.removeAll(keepingCapacity: true)
            snapshot = connection.snapshot
        }
        guard answers[parameters.values] == nil else { return }
        let answer = PostgresConnection.Answer()
        if let cursor {
            try connection.send(cursor.declare, parameters)
            try connection.send(cursor.fetchFirst, for: answer)
        } else {
            try connection.send(statement, parameters, for: answer)
        }
        answers[parameters.values] = answer
    }

    private func resultSentAhead() throws -> PostgresResult? {
        guard !answers.isEmpty, snapshot == connection.snapshot, let answer = answers[parameters.values] else {
            return nil
        }
        if answer.result == nil { _ = try connection.results() }
        // The rows of a cursor can be read once.
        if cursor != nil { answers[parameters.values] = nil }
        return answer.result
    }

    // MARK: Rows

    /// Reads the first rows, or all if the statement is not long.
    func firstRows() throws -> PostgresResult {
        if let result = try resultSentAhead() { return result }
        guard let cursor else { return try run() }
        try connection.send(cursor.declare, parameters)
        return try connection.run(cursor.fetchFirst)
    }

    /// Reads the rows after `result`; `nil` if there are none.
    func rows(after result: PostgresResult) throws -> PostgresResult? {
        guard let cursor, result.count == Self.rows.first || result.count == Self.rows.later else { return nil }
        let next = try connection.run(cursor.fetchMore)
        return next.count == 0 ? nil : next
    }

    func endRows() {
        guard let cursor else { return }
        // It is sent with the next statement. If it cannot be sent, the connection is lost.
        try? connection.send(cursor.close)
    }

    // MARK: SQL

    /// Translates SQL of SQLite to that of PostgreSQL. It numbers the parameters, replaces `ifnull`, and quotes the
    /// column `user`, which is a keyword of PostgreSQL.
    static func translated(_ sql: String) -> String {
        var out = ""
        out.reserveCapacity(sql.utf8.count + 32)
        var count = 0
        var rest = sql[...]
        while let character = rest.first {
            switch character {
            case "'", "\"":
                let end = rest.dropFirst().firstIndex(of: character) ?? rest.index(before: rest.endIndex)
                out += rest[...end]
                rest = rest[rest.index(after: end)...]
            case "?":
                rest.removeFirst()
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                rest = rest.dropFirst(digits.count)
                let number = Int(digits) ?? count + 1
                count = max(count, number)
                out += "$\(number)"
            case _ where character.isLetter || character == "_":
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                rest = rest.dropFirst(word.count)
                switch word {
                case "user": out += "\"user\""
                case "ifnull": out += "coalesce"
                default: out += word
                }
            default: out.append(rest.removeFirst())
            }
        }
        return out
    }
}
