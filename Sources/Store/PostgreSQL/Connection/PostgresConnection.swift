import CPostgreSQL
import Glibc
import Wire

/// A connection to PostgreSQL.
///
/// Statements are sent in libpq's pipeline mode: ``send(_:_:for:)`` queues one, and ``results()`` sends all queued ones
/// in one round trip. Every wait has a deadline. After a failed wait or a lost connection ``isLost`` is true, and the
/// caller needs a new connection.
///
/// Confined to one thread.
final class PostgresConnection: SQLDatabase {
    /// A statement that the server parses and plans once.
    final class Statement {
        fileprivate let sql: String
        /// The name, which is unique on the connection.
        let name: String
        /// The types of the first parameters it was run with; `nil` before.
        fileprivate var types: [PostgresParameters.ValueType]?

        fileprivate init(_ sql: String, name: String) {
            self.sql = sql
            self.name = name
        }
    }

    /// The result of a statement that was sent ahead of the call that needs it.
    final class Answer {
        /// `nil` until the results of the statements sent with it have been received, or if one of them has failed.
        fileprivate(set) var result: PostgresResult?
    }

    /// A message to the server whose result has not been received.
    private enum Sent {
        case preparation(Statement)
        case run(Answer?)
    }

    /// A notification (`NOTIFY`).
    struct Notification {
        var channel: String
        var payload: String
    }

    let settings: Settings
    // Owned, and closed by `deinit`.
    private let connection: OpaquePointer
    /// The statements by their texts.
    private var statements: [String: Statement] = [:]
    /// The statements with their rows, by their texts.
    private var prepared: [String: PostgresStatement] = [:]
    /// The queued messages to the server, in order.
    private var queued: [Sent] = []
    /// Messages that were sent without a wait for their results, by round trip, oldest first.
    private var unread: [[Sent]] = []
    /// True in a read transaction whose first statement has not been sent yet.
    private var mustBegin = false
    private lazy var beginReading = statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    private lazy var commit = statement("COMMIT")
    private lazy var askForReadOnly = statement(
        """
        SELECT CASE WHEN pg_is_in_recovery() THEN 'it is a standby'
            WHEN current_setting('transaction_read_only') = 'on' THEN 'default_transaction_read_only is on'
            ELSE '' END,
            (SELECT coalesce(string_agg(name || ' is off', ', ' ORDER BY name), '')
                FROM (VALUES ('fsync'), ('full_page_writes')) AS needed (name) WHERE current_setting(name) = 'off')
        """)
    /// A number that changes when a read transaction begins and when it ends, so that it identifies one snapshot.
    private(set) var snapshot = 0
    /// True once the connection can no longer be used.
    private(set) var isLost = false
    /// True once ``Settings/counter`` has counted the connection.
    private var isCounted = false

    /// Connects.
    ///
    /// - Throws: ``PostgresError`` of kind `connection`; the text names no password.
    init(_ settings: Settings) throws(PostgresError) {
        self.settings = settings
        guard
            let connection = Self.start([
                ("dbname", settings.url), ("fallback_application_name", "backscroll"),
                ("application_name", settings.purpose), ("client_encoding", "UTF8"),
            ])
        else { throw PostgresError(connection: "no memory for a connection") }
        self.connection = connection
        do throws(PostgresError) {
            try connect()
        } catch {
            isLost = true
            throw error
        }
        PQsetnonblocking(connection, 1)
        // Notices of the server, such as that a table exists, would be written to standard error.
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        guard PQenterPipelineMode(connection) == 1 else { throw failure() }
        isCounted = true
        settings.counter?.opened()
        try setUpSession()
    }

    /// Checks that the database takes changes, and that it keeps them after a crash.
    ///
    /// - Throws: ``PostgresError/readOnly(because:)`` if it takes none, and ``PostgresError/unsafe(because:)`` if it may
    ///   lose them, unless ``Settings/allowsUnsafe`` is set. The connection then counts as lost, because a new one may
    ///   lead to another server, or to other settings.
    /// - Returns: The settings by which the database may lose changes; `nil` for none.
    @discardableResult
    func checkTakesChanges() throws(PostgresError) -> String? {
        let result = try run(askForReadOnly)
        let (reason, danger) = (result.text(0, 0), result.text(0, 1))
        guard reason.isEmpty else {
            isLost = true
            throw .readOnly(because: reason)
        }
        if danger.isEmpty { return nil }
        guard settings.allowsUnsafe else {
            isLost = true
            throw .unsafe(because: danger)
        }
        return danger
    }

    deinit {
        if isCounted { settings.counter?.closed() }
        PQfinish(connection)
    }

    private static func start(_ options: [(String, String)]) -> OpaquePointer? {
        let keys = options.map { strdup($0.0) }
        let values = options.map { strdup($0.1) }
        // libpq copies the texts before it returns.
        defer { for text in keys + values { free(text) } }
        return PQconnectStartParams(
            keys.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 1)
    }

    private func connect() throws(PostgresError) {
        let deadline = ContinuousClock.now + settings.connectTime
        // Before the first call of PQconnectPoll, the caller waits until the socket can be written (libpq manual).
        var status = PGRES_POLLING_WRITING
        while status != PGRES_POLLING_OK {
            guard status != PGRES_POLLING_FAILED, PQstatus(connection) != CONNECTION_BAD else { throw failure() }
            guard try wait(reading: status == PGRES_POLLING_READING, writing: status == PGRES_POLLING_WRITING, deadline)
            else { throw PostgresError(connection: "the database did not answer within \(settings.connectTime)") }
            status = PQconnectPoll(connection)
        }
    }

    // MARK: Statements

    /// True if a transaction has begun, even if it has failed.
    var isInTransaction: Bool { PQtransactionStatus(connection) != PQTRANS_IDLE }

    /// True unless the server has closed the connection, as far as this can be known without a round trip.
    var isAlive: Bool {
        // Between statements the server sends only notices, notifications, or the end. The end may follow a message
        // that gives the reason, so reading goes on until there is nothing more.
        while !isLost {
            var descriptor = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 0) > 0 else { return true }
            if PQconsumeInput(connection) == 0 || PQstatus(connection) != CONNECTION_OK { isLost = true }
        }
        return false
    }

    func prepare(_ sql: String, isLong: Bool) -> PostgresStatement {
        if let statement = prepared[sql] { return statement }
        let statement = PostgresStatement(sql, isLong: isLong, self)
        prepared[sql] = statement
        return statement
    }

    /// Returns the statement of a text. The server parses it when it is first sent.
    func statement(_ sql: String) -> Statement {
        if let statement = statements[sql] { return statement }
        let statement = Statement(sql, name: "s\(statements.count)")
        statements[sql] = statement
        return statement
    }

    /// Queues the statement of a text, see ``send(_:_:for:)``.
    func send(_ sql: String, _ parameters: PostgresParameters) throws(PostgresError) {
        try send(statement(sql), parameters)
    }

    /// True while ``sendAhead(_:)`` runs.
    private(set) var isSendingAhead = false

    /// Sends ahead the statements that `body` reads, which has no rows meanwhile: they will be read with the same parameters
    /// in this read transaction. They run with the connection's next statement, so that there is no wait for them alone.
    func sendAhead(_ body: () throws -> Void) rethrows {
        isSendingAhead = true
        defer { isSendingAhead = false }
        try body()
    }

    /// Queues a statement for ``results()``. A parameter must have the same type each time, unless it is NULL.
    ///
    /// - Parameter answer: Gets the result.
    func send(
        _ statement: Statement, _ parameters: PostgresParameters = PostgresParameters(), for answer: Answer? = nil
    ) throws(PostgresError) {
        if mustBegin {
            mustBegin = false
            try send(beginReading)
        }
        if statement.types == nil {
            let types = parameters.types.map(\.rawValue)
            guard PQsendPrepare(connection, statement.name, statement.sql, Int32(types.count), types) == 1 else {
                throw lose()
            }
            statement.types = parameters.types
            queued.append(.preparation(statement))
        }
        let formats = [Int32](repeating: 1, count: parameters.values.count)
        let lengths = parameters.values.map { Int32($0?.count ?? 0) }
        // The values stay at their addresses while libpq copies them into its buffer.
        let isSent = Self.withPointers(to: parameters.values) { values in
            PQsendQueryPrepared(
                connection, statement.name, Int32(formats.count), values, lengths, formats, Self.binary)
        }
        guard isSent == 1 else { throw lose() }
        queued.append(.run(answer))
    }

    /// Sends the queued statements, and waits for their results.
    ///
    /// Outside an explicit transaction, the statements together are one transaction.
    ///
    /// - Returns: The results of the statements, in order.
    /// - Throws: The first failure. The statements after it were not executed.
    func results() throws(PostgresError) -> [PostgresResult] {
        guard !isLost else { throw PostgresError(connection: "the connection to the database is lost") }
        guard PQpipelineSync(connection) == 1 else { throw lose() }
        let start = ContinuousClock.now
        defer {
            let duration = ContinuousClock.now - start
            settings.counter?.waited(duration)
            settings.onWait?(duration)
        }
        let deadline = start + settings.answerTime
        for earlier in unread {
            // Nobody waits for these results. Only the loss of the connection matters.
            if let failure = try results(of: earlier, deadline).failure, isLost { throw failure }
        }
        unread = []
        let sent = queued
        queued = []
        let (results, failure) = try results(of: sent, deadline)
        if let failure { throw failure }
        return results
    }

    /// Sends the queued statements without a wait for their results, which nobody needs.
    private func sendQueued() throws(PostgresError) {
        guard PQpipelineSync(connection) == 1, PQflush(connection) >= 0 else { throw lose() }
        unread.append(queued)
        queued = []
    }

    /// Receives the results of the statements of one round trip.
    ///
    /// - Returns: The results, in order, and the first failure.
    private func results(
        of sent: [Sent], _ deadline: ContinuousClock.Instant
    ) throws(PostgresError) -> (results: [PostgresResult], failure: PostgresError?) {
        var results: [PostgresResult] = []
        results.reserveCapacity(sent.count)
        var failure: PostgresError?
        for message in sent {
            guard let result = try next(deadline) else { throw lose() }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                switch message {
                case .preparation: PQclear(result)
                case .run(let answer):
                    let result = PostgresResult(owning: result)
                    results.append(result)
                    answer?.result = result
                }
            default:
                if failure == nil, PQresultStatus(result) != PGRES_PIPELINE_ABORTED {
                    failure = Self.failure(of: result)
                }
                // The server skips what follows a failure. It is prepared when it is sent again.
                if case .preparation(let statement) = message { statement.types = nil }
                PQclear(result)
            }
            // The end of this statement's results.
            if let extra = try next(deadline) {
                PQclear(extra)
                throw lose()
            }
        }
        guard let end = try next(deadline) else { throw lose() }
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw lose() }
        if failure?.kind == .connection { isLost = true }
        return (results, failure)
    }

    /// Sends a statement, with those that are queued, and waits for its result.
    @discardableResult
    func run(_ statement: Statement, _ parameters: PostgresParameters = PostgresParameters()) throws(PostgresError)
        -> PostgresResult
    {
        try send(statement, parameters)
        // The statement just sent has a result, or `results` has thrown.
        return try results().last!
    }

    /// Sends the statement of a text, with those that are queued, and waits for its result.
    @discardableResult
    func run(_ sql: String, _ parameters: PostgresParameters = PostgresParameters()) throws(PostgresError)
        -> PostgresResult
    {
        try run(statement(sql), parameters)
    }

    /// Runs statements once, such as those of a migration; each is one transaction unless it begins one.
    func execute(_ statements: String...) throws(PostgresError) {
        for sql in statements {
            guard PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, Self.binary) == 1 else { throw lose() }
            queued.append(.run(nil))
            _ = try results()
        }
    }

    /// The format of values: 0 is text.
    private static let binary: Int32 = 1

    /// Passes `body` the addresses of values, which are valid until it returns; `nil` for NULL.
    private static func withPointers<R>(to values: [[UInt8]?], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
        // One buffer for all values, so that one scope keeps them at their addresses.
        var offsets: [Int?] = []
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(1) { $0 + ($1?.count ?? 0) })
        for value in values {
            offsets.append(value.map { _ in bytes.count })
            if let value { bytes.append(contentsOf: value) }
        }
        bytes.append(0)
        return bytes.withUnsafeBytes { buffer in
            body(offsets.map { $0.map { buffer.baseAddress!.advanced(by: $0).assumingMemoryBound(to: CChar.self) } })
        }
    }

    private static func failure(of result: OpaquePointer) -> PostgresError {
        func field(_ code: Character) -> String {
            PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) } ?? ""
        }
        // PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY.
        let (state, message) = (field("C"), field("M"))
        if state.isEmpty {
            return PostgresError(connection: PQresultErrorMessage(result).map { line(String(cString: $0)) } ?? "")
        }
        return PostgresError(state: state, message: message)
    }

    // MARK: Read transactions

    /// Begins a read transaction, in which all statements see one snapshot. BEGIN is sent with the first statement;
    /// without a statement nothing is sent.
    func beginTransaction() {
        mustBegin = true
        snapshot += 1
    }

    /// Ends the read transaction without waiting. Nothing was written, so a failed COMMIT does not matter.
    func endTransaction() {
        snapshot += 1
        if mustBegin {
            mustBegin = false
            return
        }
        if isLost { return }
        do throws(PostgresError) {
            // Sent apart from the COMMIT, which the server would skip if one of them failed.
            if !queued.isEmpty { try sendQueued() }
            try send(commit)
            try sendQueued()
        } catch {
            // The connection is lost, which the next statement reports.
        }
    }

    // MARK: Notifications

    /// Sends notifications on a channel, in one transaction.
    func notify(_ channel: String, _ payloads: [String]) throws(PostgresError) {
        var parameters = PostgresParameters()
        parameters.append(payloads.map(Optional.some))
        try run("SELECT pg_notify('\(channel)', payload) FROM unnest($1::text[]) AS payload", parameters)
    }

    /// Waits for notifications, until `deadline` or until another file descriptor can be read.
    ///
    /// - Returns: The notifications since the last call; none at the deadline.
    func notifications(
        until deadline: ContinuousClock.Instant, orReadable other: Int32 = -1
    ) throws(PostgresError) -> [Notification] {
        var found = takeNotifications()
        if !found.isEmpty { return found }
        if try wait(reading: true, writing: false, deadline, other) {
            guard PQconsumeInput(connection) == 1 else { throw lose() }
            found = takeNotifications()
            guard PQstatus(connection) == CONNECTION_OK else { throw lose() }
        }
        return found
    }

    private func takeNotifications() -> [Notification] {
        var found: [Notification] = []
        while let notification = PQnotifies(connection) {
            found.append(
                Notification(
                    channel: String(cString: notification.pointee.relname),
                    payload: String(cString: notification.pointee.extra)))
            PQfreemem(notification)
        }
        return found
    }

    // MARK: Waiting

    /// Returns libpq's next result; `nil` at the end of a statement's results.
    private func next(_ deadline: ContinuousClock.Instant) throws(PostgresError) -> OpaquePointer? {
        while true {
            let unsent = PQflush(connection)
            if unsent < 0 { throw lose() }
            if unsent == 0, PQisBusy(connection) == 0 { break }
            guard try wait(reading: true, writing: unsent > 0, deadline) else {
                isLost = true
                throw PostgresError(connection: "the database did not answer within \(settings.answerTime)")
            }
            guard PQconsumeInput(connection) == 1 else { throw lose() }
        }
        return PQgetResult(connection)
    }

    /// Waits until the socket, or another file descriptor, is ready.
    ///
    /// - Returns: True if the socket is ready.
    private func wait(
        reading: Bool, writing: Bool, _ deadline: ContinuousClock.Instant, _ other: Int32 = -1
    ) throws(PostgresError) -> Bool {
        let events = (reading ? Int16(POLLIN) : 0) | (writing ? Int16(POLLOUT) : 0)
        var descriptors = [
            pollfd(fd: PQsocket(connection), events: events, revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            // Rounded up, so that the last millisecond does not take several polls.
            let rest = ContinuousClock.now.duration(to: deadline).milliseconds + 1
            if rest <= 0 { return false }
            let count = poll(&descriptors, 2, Int32(clamping: rest))
            if count > 0 { return descriptors[0].revents != 0 }
            if count < 0, errno != EINTR { throw lose() }
        }
    }

    /// Marks the connection as lost.
    private func lose() -> PostgresError {
        isLost = true
        return failure()
    }

    private func failure() -> PostgresError {
        let text = PQerrorMessage(connection).map { Self.line(String(cString: $0)) } ?? ""
        return PostgresError(connection: text.isEmpty ? "the connection to the database is lost" : text)
    }

    /// Returns a message of libpq, which may have several lines, as one line.
    private static func line(_ message: String) -> String {
        message.split(separator: "\n").map { String($0.drop { $0 == "\t" || $0 == " " }) }.joined(separator: ": ")
    }
}
