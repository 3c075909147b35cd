import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Messages filed together", .partOfSQLite(.journal))
struct MessageInsertionTests {
    /// Runs `body` with a new database.
    private func withDatabase(_ body: (SQLiteConnection) throws -> Void) throws {
        try SQLiteDatabase(path: nil).use { db in
            try Schema.migrate(db)
            try body(db)
        }
    }

    private struct StoredRow: Equatable {
        var numbers: [Int64]
        var isChanged: Bool
        var sender: String
        var clientMessageID: String?
        var body: [UInt8]
    }

    private func message(_ seq: Int64, room: Int64 = 1, id: String?, body: [UInt8]) throws -> RecentMessage {
        let sender = try UserID("user\(seq % 3)")
        return RecentMessage(
            room: try RoomID("room\(room)"), roomNumber: room, seq: seq, rev: seq + 5,
            createdAt: Timestamp(milliseconds: seq * 1000), sender: sender,
            key: id.map { ClientMessageKey(sender: sender, id: $0) }, body: body)
    }

    @Test(arguments: [0, 1, 3, 4, 5, 15, 16, 17, 20, 31, 32, 33, 37, 100])
    func `are unchanged, whatever their number and size`(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let messages = try (0..<count).map { index in
            // Some ids are stored inline, some on the heap; some bodies outgrow the buffer.
            let id = index % 4 == 0 ? nil : String(repeating: "é", count: 1 + index % 30)
            let length = index % 7 == 6 ? 50_000 : 1 + Int(random.next() % 300)
            let body = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            return try message(
                Int64(index / 2 + 1), room: Int64(1 + index % 2), id: id.map { "\($0)\(index)" }, body: body)
        }
        try withDatabase { db in
            let insertion = try MessageInsertion(db)
            // In two calls, so that the second finds the values bound by the first.
            try insertion.insert(Array(messages.prefix(count / 3)))
            try insertion.insert(Array(messages.dropFirst(count / 3)))
            let sorted = messages.sorted { ($0.roomNumber, $0.seq) < ($1.roomNumber, $1.seq) }
            let select =
                "SELECT id, rev, changed, created_at, sender, client_message_id, body FROM messages ORDER BY id"
            let stored = try db.all(select) { row in
                let (id, rev, time) = (row.integer(0), row.integer(1), row.integer(3))
                return StoredRow(
                    numbers: [id, rev, time], isChanged: !row.isNull(2), sender: row.text(4),
                    clientMessageID: row.isNull(5) ? nil : row.text(5), body: row.bytes(6))
            }
            #expect(
                stored
                    == sorted.map {
                        StoredRow(
                            numbers: [RowKey(room: $0.roomNumber, $0.seq).rawValue, $0.rev, $0.createdAt.milliseconds],
                            isChanged: false, sender: $0.sender.string, clientMessageID: $0.clientMessageID,
                            body: $0.body)
                    })
        }
    }

    @Test(arguments: [0, 1, 7, 15, 16, 19, 20])
    func `fail if a client message id or place is taken`(index: Int) throws {
        var messages = try (0..<21).map { try message(Int64($0 + 1), id: "\($0)", body: [1]) }
        try withDatabase { db in
            let insertion = try MessageInsertion(db)
            try insertion.insert([message(100, id: nil, body: [1])])
            try db.execute("UPDATE messages SET client_message_id = '\(index)', sender = 'user\((index + 1) % 3)'")
            let error = #expect(throws: SQLiteError.self) { try insertion.insert(messages) }
            #expect(error?.isOfRows == true && error?.isDamage == false)
            try db.execute("DELETE FROM messages")
            messages[index] = try message(Int64((index + 1) % 21 + 1), id: nil, body: [1])
            #expect(throws: SQLiteError.self) { try insertion.insert(messages) }
        }
    }
}
