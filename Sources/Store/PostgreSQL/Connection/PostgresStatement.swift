/// A prepared statement of PostgreSQL with its parameters, and its rows.
///
/// Confined to its connection's thread.
final class PostgresStatement: SQLStatement {
    // The connection keeps the statement.
    private unowned let connection: PostgresConnection
    private let statement: PostgresConnection.Statement
    private var parameters = PostgresParameters()
    /// The rows that were received last; `nil` before the first run, and after the last row.
    private var result: PostgresResult?
    /// The index of the current row.
    private var index = 0

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

    /// Prepares a statement, which PostgreSQL checks when it first runs.
    ///
    /// - Parameters:
    ///   - isLong: True if the statement may have many rows of which few are usually taken. It must run in a
    ///     transaction.
    init(_ sql: String, isLong: Bool, _ connection: PostgresConnection) {
        self.connection = connection
        statement = connection.statement(sql)
        guard isLong else {
            cursor = nil
            return
        }
        // The name is unique, because statements are numbered.
        let name = "c" + statement.name
        cursor = Cursor(
            declare: connection.statement("DECLARE \(name) NO SCROLL CURSOR FOR \(sql)"),
            fetchFirst: connection.statement("FETCH \(Self.rows.first) FROM \(name)"),
            fetchMore: connection.statement("FETCH \(Self.rows.later) FROM \(name)"),
            close: connection.statement("CLOSE \(name)"))
    }

    // MARK: Parameters

    func bind(_ value: Int64, at index: Int32) {
        parameters.set(PostgresParameters.bytes(of: value), as: .integer, at: Int(index))
    }

    func bind(_ value: String?, at index: Int32) {
        parameters.set(value.map { Array($0.utf8) }, as: .text, at: Int(index))
    }

    func bind(_ value: [UInt8], at index: Int32) {
        parameters.set(value, as: .bytes, at: Int(index))
    }

    /// Binds an array of texts.
    func bind(_ values: [String?], at index: Int32) {
        parameters.set(PostgresParameters.bytes(of: values), as: .textArray, at: Int(index))
    }

    func bindNull(at index: Int32) {
        parameters.set(nil, as: .inferred, at: Int(index))
    }

    // MARK: Running

    func run() throws {
        try connection.run(statement, parameters)
    }

    func runCounting() throws -> Int {
        try connection.run(statement, parameters).affectedRows
    }

    func runSoon() throws {
        try runSoon(for: nil)
    }

    /// Queues the statement for the next round trip. `answer` gets its result.
    func runSoon(for answer: PostgresConnection.Answer?) throws {
        try connection.send(statement, parameters, for: answer)
    }

    /// Queues the statement for the next round trip, and keeps its first rows for ``start()`` with the same parameters
    /// in the same read transaction. A long statement must be read before it is sent again.
    private func sendAhead() throws {
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

    func start() throws {
        guard connection.isSendingAhead else { return (result, index) = (try firstRows(), 0) }
        result = nil
        try sendAhead()
    }

    /// Reads the first rows, or all if the statement is not long.
    private func firstRows() throws -> PostgresResult {
        if let result = try resultSentAhead() { return result }
        guard let cursor else { return try connection.run(statement, parameters) }
        try connection.send(cursor.declare, parameters)
        return try connection.run(cursor.fetchFirst)
    }

    var hasRow: Bool { result.map { index < $0.count } ?? false }

    func next() throws {
        guard let last = result, index < last.count else { return }
        index += 1
        guard index == last.count, let cursor, index == Self.rows.first || index == Self.rows.later else { return }
        (result, index) = (try connection.run(cursor.fetchMore), 0)
    }

    func end() {
        result = nil
        guard let cursor, !connection.isSendingAhead else { return }
        // It is sent with the next statement. If it cannot be sent, the connection is lost.
        try? connection.send(cursor.close)
    }

    // The current row must exist.

    func integer(_ column: Int32) -> Int64 { result!.integer(index, Int(column)) }

    func isNull(_ column: Int32) -> Bool { result!.isNull(index, Int(column)) }

    func withBytes<R>(_ column: Int32, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
        try result!.withBytes(index, Int(column), body)
    }
}
