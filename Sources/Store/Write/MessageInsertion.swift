import GRDB
import Wire

/// Puts messages in their places among the rows: several with each step of a statement, which opens its b-trees and ends
/// once for all of them, and without a copy of each value of its own.
///
/// Confined to the writer's connection.
final class MessageInsertion {
    /// The statements, that of the most messages first.
    private let statements: [(count: Int, statement: PreparedStatement)]
    // The values of the messages at hand, one after the other, where the statements read them. Allocated and freed here, and
    // replaced only when none of the statements runs.
    private var values: UnsafeMutableRawBufferPointer

    /// The number of messages that the statements take.
    private static let counts = [16, 4, 1]
    /// The number of bytes that there is room for at first: a page or two of small messages.
    private static let initialBytes = 16 * 1024
    private static let columns: Int32 = 6

    init(_ db: Database) throws {
        statements = try Self.counts.map { ($0, try PreparedStatement(Self.sql($0), db)) }
        values = .allocate(byteCount: Self.initialBytes, alignment: 8)
    }

    deinit {
        values.deallocate()
    }

    /// With `OR FAIL` the rows before one that fails stay, and SQLite need not keep the pages as they were before the
    /// statement, to take these back. The transaction is given up in any case.
    private static func sql(_ count: Int) -> String {
        "INSERT OR FAIL INTO messages (id, rev, created_at, sender, client_message_id, body) VALUES "
            + repeatElement("(?, ?, ?, ?, ?, ?)", count: count).joined(separator: ", ")
    }

    /// Puts messages in their places.
    ///
    /// - Throws: `DatabaseError` `SQLITE_CONSTRAINT` when a place or a sender's client message id is taken; the messages
    ///   before may be in their places then.
    func insert(_ messages: [RecentMessage]) throws {
        var rest = messages[...]
        for (count, statement) in statements {
            while rest.count >= count {
                try insert(rest.prefix(count), by: statement)
                rest = rest.dropFirst(count)
            }
        }
    }

    private func insert(_ messages: ArraySlice<RecentMessage>, by statement: PreparedStatement) throws {
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
        // The pointer is used only inside the closure, while the span's owner is there.
        text.utf8Span.span.withUnsafeBytes { copy($0, &end) }
    }

    private func copy(_ bytes: UnsafeRawBufferPointer, _ end: inout Int) -> UnsafeRawBufferPointer {
        let place = UnsafeMutableRawBufferPointer(rebasing: values[end..<end + bytes.count])
        place.copyMemory(from: bytes)
        end += bytes.count
        return UnsafeRawBufferPointer(place)
    }

    /// Sees to it that there are as many bytes, and not many more than have been needed lately.
    private func makeRoom(for count: Int) {
        let wanted = max(count, Self.initialBytes)
        guard values.count < wanted || values.count > wanted * 16 else { return }
        values.deallocate()
        values = .allocate(byteCount: wanted, alignment: 8)
    }
}

extension RecentMessage {
    /// The number of bytes that its texts and its snapshot have.
    fileprivate var valueBytes: Int {
        sender.string.utf8.count + (clientMessageID?.utf8.count ?? 0) + body.count
    }
}
