import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A journal row", .partOfSQLite(.journal))
struct JournalRowTests {
    private func row(_ messages: [RecentMessage]) -> [UInt8] {
        var row: [UInt8] = []
        for message in messages {
            let before = row.count
            JournalRow.append(message, to: &row)
            #expect(row.count - before == JournalRow.byteCount(of: message))
        }
        return row
    }

    private func messages() throws -> [RecentMessage] {
        let alice = try UserID("alice"), zoe = try UserID("Zo\u{EB}")
        return [
            RecentMessage(
                room: try RoomID("lobby"), roomNumber: 1, seq: 1, rev: 2, createdAt: Timestamp(milliseconds: 3),
                sender: alice, key: ClientMessageKey(sender: alice, id: "a1"), body: [1, 2, 3]),
            RecentMessage(
                room: try RoomID("attic"), roomNumber: RowKey.maximumRoom, seq: RowKey.maximumOrdinal,
                rev: RowKey.maximumOrdinal, createdAt: Timestamp(milliseconds: .max), sender: zoe, key: nil,
                body: Array(repeating: 7, count: 70_000)),
        ]
    }

    private func name(_ number: Int64) throws -> RoomID? {
        number == 1 ? try RoomID("lobby") : number == RowKey.maximumRoom ? try RoomID("attic") : nil
    }

    @Test func `is read as written`() throws {
        let messages = try messages()
        let again = try JournalRow.messages(in: row(messages), room: name)
        #expect(again.count == 2)
        for (message, read) in zip(messages, again) {
            #expect(read.room == message.room && read.roomNumber == message.roomNumber)
            #expect(read.seq == message.seq && read.rev == message.rev && read.createdAt == message.createdAt)
            #expect(read.sender == message.sender && read.clientMessageID == message.clientMessageID)
            #expect(read.body == message.body)
        }
        #expect(try JournalRow.messages(in: [], room: name).isEmpty)
    }

    @Test func `that is truncated or of an unknown room is refused as a whole`() throws {
        let whole = row([try messages()[0]])
        for count in 1..<whole.count {
            let error = #expect(throws: SQLiteError.self) {
                try JournalRow.messages(in: Array(whole.prefix(count)), room: name)
            }
            #expect(error?.isDamage == true)
        }
        var notUTF8 = whole
        notUTF8[40] = 0xFF
        #expect(throws: SQLiteError.self) { try JournalRow.messages(in: notUTF8, room: name) }
        #expect(throws: SQLiteError.self) { try JournalRow.messages(in: whole) { _ in nil } }
    }
}
