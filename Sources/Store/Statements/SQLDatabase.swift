import Chat
import Wire

/// A connection to a database, for statements whose text SQLite and PostgreSQL both take as it stands.
///
/// Such a text numbers its parameters (`$1`, `$2`) in the order in which they first occur, and quotes the column
/// `"user"`, which is a keyword of PostgreSQL. The two schemas have the same tables, with the same meaning: see
/// `Migrations` and ``PostgresSchema``. Where the databases differ, each connection has statements of its own.
///
/// Confined to the connection's queue or thread.
protocol SQLDatabase: AnyObject {
    associatedtype Prepared: SQLStatement

    /// Returns the statement of a text. It is prepared once, and kept as long as the connection.
    ///
    /// - Parameter isLong: True if the statement may have many rows of which few are usually taken. It must run in a
    ///   transaction, and PostgreSQL then returns some rows at a time.
    func prepare(_ sql: String, isLong: Bool) throws -> Prepared

    /// Sends ahead the statements that `body` reads in a read transaction, so that they share a round trip. Does nothing in
    /// SQLite.
    func sendAhead(_ body: () throws -> Void) throws

    /// True from the beginning of a transaction until it is committed or rolled back.
    var isInTransaction: Bool { get }

    /// Returns a room's row; `nil` if the room does not exist.
    ///
    /// - Parameter locking: True for a transaction that changes the room. PostgreSQL then locks it until the end.
    func row(of room: RoomID, locking: Bool) throws -> RoomRow?

    /// Keeps other transactions from adding a first profile of a user, until the end of this one.
    func lockProfile(of user: UserID) throws

    /// Returns the progress of a room with this number.
    func progress(of room: Int64) throws -> RoomProgress

    /// Returns messages that mention a room of a user, before a position in the list of mentions, in no order. They
    /// include the newest `limit`.
    func roomMentions(of user: UserID, before position: (Int64, Int64), limit: Int) throws -> [MentionRow]

    /// Returns true if there is a table with this name.
    func hasTable(_ name: String) throws -> Bool

    /// Returns the error of a database that lacks rows, or whose rows contradict each other.
    static func damage(_ reason: String) -> any Error
}

/// The part of a room's row that decisions and reads need.
struct RoomRow {
    var number: Int64
    /// The facts that the rules ask about, without the progress and the members of a direct room.
    var facts: RoomFacts
    /// The two members of a direct room; `nil` for other rooms.
    var direct: DirectPair?
    /// True if searches look into the room.
    var isSearchable: Bool
    /// The progress if it is in the row; `nil` with SQLite, where it follows from the messages.
    var progress: RoomProgress?

    /// The columns of ``init(_:)``.
    static let columns = "id, direct_first, direct_second, searchable, \(RoomFacts.columns)"
    /// The index of the first column after ``columns``.
    static let columnCount = Int32(columns.split(separator: ",").count)

    /// Creates the row from its columns, which come first in a statement.
    init(_ row: some SQLStatement) {
        number = row.integer(0)
        direct = DirectPair(row, from: 1)
        isSearchable = row.integer(3) == 1
        facts = RoomFacts { row.integer(4 + $0) }
    }
}

extension RoomFacts {
    /// The columns of ``init(column:)``.
    static let columns = "private, deleted, posting, pinning, slow_seconds"

    /// Creates the facts that ``columns`` have, of which `column` returns one by its index.
    init(column: (Int32) -> Int64) {
        self.init(
            isPrivate: column(0) == 1, isDeleted: column(1) == 1, posting: RoomManners.Posting(column(2)),
            pinning: RoomManners.Pinning(column(3)), slowSeconds: Int(column(4)))
    }
}

extension RoomMember.Role {
    /// Creates the value of a column: 1 for owners.
    init(_ column: Int64) { self = column == 1 ? .owner : .member }
}

extension RoomManners.Pinning {
    /// Creates the value of a column: 1 for all members.
    init(_ column: Int64) { self = column == 1 ? .members : .owners }
}

extension RoomManners.Posting {
    /// Creates the value of a column: 1 for owners only.
    init(_ column: Int64) { self = column == 1 ? .owners : .members }
}

/// A room's highest `seq` and revision, and the time of its newest message in milliseconds since 1970; zeros without a
/// message.
struct RoomProgress {
    var head: Int64 = 0
    var rev: Int64 = 0
    var latest: Int64 = 0
}

/// A prepared statement, and its current row.
///
/// Arguments and columns are not boxed, which would cost more than SQLite itself on small rows (`backscroll bench store`).
///
/// Confined to its connection's queue or thread.
protocol SQLStatement: AnyObject {
    // MARK: Parameters, numbered from 1

    func bind(_ value: Int64, at index: Int32) throws
    /// Binds text that is not empty, or NULL.
    func bind(_ value: String?, at index: Int32) throws
    /// Binds at least one byte.
    func bind(_ value: [UInt8], at index: Int32) throws
    func bindNull(at index: Int32) throws

    // MARK: Running

    /// Runs a statement that returns no rows.
    func run() throws
    /// Runs a statement that returns no rows.
    ///
    /// - Returns: The number of rows that it inserted, changed or deleted.
    func runCounting() throws -> Int
    /// Runs a statement that returns no rows. PostgreSQL runs it with the connection's next statement, which then may
    /// throw its error.
    func runSoon() throws

    // MARK: Rows

    /// Runs the statement up to its first row.
    func start() throws
    /// Moves to the next row. Does nothing after the last.
    func next() throws
    /// Ends a statement whose rows need not all have been taken.
    func end()
    /// True if there is a current row. Once false, it stays false until the next ``start()``.
    var hasRow: Bool { get }

    // MARK: Columns of the current row, numbered from 0

    /// Returns a column's integer. A boolean is 0 or 1, and NULL is 0.
    func integer(_ column: Int32) -> Int64
    func isNull(_ column: Int32) -> Bool
    /// Passes `body` a column's bytes, which are valid until it returns.
    func withBytes<R>(_ column: Int32, _ body: (Span<UInt8>) throws -> R) rethrows -> R
}

extension SQLStatement {
    /// Runs a statement whose rows are taken one at a time, starting at the first.
    func withRows<R>(_ body: (Self) throws -> R) throws -> R {
        defer { end() }
        try start()
        return try body(self)
    }

    /// Runs a statement, and returns what `row` makes of its first row; `nil` without a row.
    func firstRow<R>(_ row: (Self) throws -> R) throws -> R? {
        try withRows { hasRow ? try row($0) : nil }
    }

    /// Runs a statement, and passes `row` each row.
    func forEachRow(_ row: (Self) throws -> Void) throws {
        try withRows { statement in
            while hasRow {
                try row(statement)
                try next()
            }
        }
    }

    /// Runs a statement, and returns what `row` makes of each row.
    func allRows<R>(_ row: (Self) throws -> R) throws -> [R] {
        var all: [R] = []
        try forEachRow { all.append(try row($0)) }
        return all
    }

    func text(_ column: Int32) -> String {
        withBytes(column) { bytes in
            // The pointer is used only inside the closure, while the span's owner is alive.
            bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
        }
    }

    func append(_ column: Int32, to output: inout [UInt8]) {
        withBytes(column) { bytes in
            // The pointer is used only inside the closure, while the span's owner is alive.
            bytes.withUnsafeBufferPointer { output.append(contentsOf: $0) }
        }
    }

    func bytes(_ column: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        append(column, to: &bytes)
        return bytes
    }
}

// MARK: - Statements by their text

extension SQLDatabase {
    func sendAhead(_ body: () throws -> Void) {}

    func prepare(_ sql: String) throws -> Prepared { try prepare(sql, isLong: false) }

    /// Returns a statement with these values as its parameters.
    private func bound<each V: SQLValue>(_ sql: String, _ values: repeat each V) throws -> Prepared {
        let statement = try prepare(sql)
        var index: Int32 = 1
        for value in repeat each values {
            try value.bind(to: statement, at: index)
            index += 1
        }
        return statement
    }

    /// Runs a statement that returns no rows.
    func run<each V: SQLValue>(_ sql: String, _ values: repeat each V) throws {
        try bound(sql, repeat each values).run()
    }

    /// Runs a statement that returns no rows, see ``SQLStatement/runSoon()``.
    func runSoon<each V: SQLValue>(_ sql: String, _ values: repeat each V) throws {
        try bound(sql, repeat each values).runSoon()
    }

    /// Runs a statement that returns no rows, and returns the number of rows that it inserted, changed or deleted.
    func runCounting<each V: SQLValue>(_ sql: String, _ values: repeat each V) throws -> Int {
        try bound(sql, repeat each values).runCounting()
    }

    /// Returns what `row` makes of the first row of a statement; `nil` without a row.
    func first<R, each V: SQLValue>(
        _ sql: String, _ values: repeat each V, row: (Prepared) throws -> R
    ) throws -> R? {
        try bound(sql, repeat each values).firstRow(row)
    }

    /// Returns true if a statement has a row.
    func has<each V: SQLValue>(_ sql: String, _ values: repeat each V) throws -> Bool {
        try bound(sql, repeat each values).withRows { $0.hasRow }
    }

    /// Returns what `row` makes of each row of a statement.
    func all<R, each V: SQLValue>(
        _ sql: String, _ values: repeat each V, row: (Prepared) throws -> R
    ) throws -> [R] {
        try bound(sql, repeat each values).allRows(row)
    }

    /// Passes `row` each row of a statement.
    func forEach<each V: SQLValue>(
        _ sql: String, _ values: repeat each V, row: (Prepared) throws -> Void
    ) throws {
        try bound(sql, repeat each values).forEachRow(row)
    }
}

/// A value that can be a parameter of a statement.
protocol SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws
}

extension Int64: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws { try statement.bind(self, at: index) }
}

extension Int: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws {
        try statement.bind(Int64(self), at: index)
    }
}

/// 1 for true.
extension Bool: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws {
        try statement.bind(self ? 1 : 0, at: index)
    }
}

extension String: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws { try statement.bind(self, at: index) }
}

extension [UInt8]: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws { try statement.bind(self, at: index) }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws {
        if let self { try self.bind(to: statement, at: index) } else { try statement.bindNull(at: index) }
    }
}

extension UserID: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws { try statement.bind(string, at: index) }
}

extension RoomID: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws { try statement.bind(string, at: index) }
}

extension ReactionKey: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws { try statement.bind(string, at: index) }
}

/// Milliseconds since 1970.
extension Timestamp: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws {
        try statement.bind(milliseconds, at: index)
    }
}

extension RowKey: SQLValue {
    func bind(to statement: some SQLStatement, at index: Int32) throws { try statement.bind(rawValue, at: index) }
}
