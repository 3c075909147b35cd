import Wire

/// Inserts messages into the table `messages`. Each run of a statement inserts several messages. SQLite reads their
/// values from one buffer, so it need not copy each value.
///
/// Confined to the writer's connection.
final class MessageInsertion {
    /// The statements, in descending order of the number of messages that they insert.
    private let statements: [(count: Int, statement: SQLiteStatement)]
    // The values of the current messages, which the statements read from here. Allocated and freed by this class, and
    // replaced only while no statement runs.
    private var values: UnsafeMutableRawBufferPointer

    /// The number of messages of each statement.
    private static let counts = [16, 4, 1]
    /// The initial capacity in bytes: a page or two of small messages.
    private static let initialBytes = 16 * 1024
    private static let columns: Int32 = 6

    init(_ db: SQLiteConnection) throws {
        statements = try Self.counts.map { ($0, try db.prepare(Self.sql($0))) }
        values = .allocate(byteCount: Self.initialBytes, alignment: 8)
    }

    deinit {
        values.deallocate()
    }

    /// Returns the SQL that inserts `count` messages. With `OR FAIL`, SQLite keeps the rows before a failing one, and
    /// so needs no copies of pages to undo the statement. The transaction is rolled back in any case.
    private static func sql(_ count: Int) -> String {
        "INSERT OR FAIL INTO messages (id, rev, created_at, sender, client_message_id, body) VALUES "
            + repeatElement("(?, ?, ?, ?, ?, ?)", count: count).joined(separator: ", ")
    }

    /// Inserts messages.
    ///
    /// - Throws: `SQLiteError`; `SQLITE_CONSTRAINT` if a `seq` or a sender's client message id is taken. The messages
    ///   before may have been inserted then.
    func insert(_ messages: [RecentMessage]) throws {
        var rest = messages[...]
        for (count, statement) in statements {
            while rest.count >= count {
                try insert(rest.prefix(count), by: statement)
                rest = rest.dropFirst(count)
            }
        }
    }

    private func insert(_ messages: ArraySlice<RecentMessage>, by statement: SQLiteStatement) throws {
        makeRoom(for: messages.reduce(0) { $0 + $1.valueBytes })
        var end = 0
        var index: Int32 = 1
        for message in messages {
            try statement.bind(RowKey(room: message.roomNumber, message.seq).rawValue, at: index)
            try statement.bind(message.rev, at: index + 1)
            try statement.bind(message.createdAt.milliseconds, at: index + 2)
            try statement.bind(borrowedText: copy(message.sender.string, &end), at: index + 3)
            try statement.bind(borrowedText: message.clientMessageID.map { copy($0, &end) }, at: index + 4)
            try statement.bind(borrowed: message.body.withUnsafeBytes { copy($0, &end) }, at: index + 5)
            index += Self.columns
        }
        try statement.run()
    }

    private func copy(_ text: String, _ end: inout Int) -> UnsafeRawBufferPointer {
        // The pointer is used only inside the closure, while the span's owner is alive.
        text.withUTF8Span { $0.withUnsafeBytes { copy($0, &end) } }
    }

    private func copy(_ bytes: UnsafeRawBufferPointer, _ end: inout Int) -> UnsafeRawBufferPointer {
        let slot = UnsafeMutableRawBufferPointer(rebasing: values[end..<end + bytes.count])
        slot.copyMemory(from: bytes)
        end += bytes.count
        return UnsafeRawBufferPointer(slot)
    }

    /// Provides `count` bytes, and frees memory if there is far more.
    private func makeRoom(for count: Int) {
        let wanted = max(count, Self.initialBytes)
        guard values.count < wanted || values.count > wanted * 16 else { return }
        values.deallocate()
        values = .allocate(byteCount: wanted, alignment: 8)
    }
}

extension RecentMessage {
    /// The number of bytes of its strings and its snapshot.
    fileprivate var valueBytes: Int {
        sender.string.utf8.count + (clientMessageID?.utf8.count ?? 0) + body.count
    }
}
