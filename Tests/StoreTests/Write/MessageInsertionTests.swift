import Foundation
import GRDB
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Messages filed together")
struct MessageInsertionTests {
    private func database() throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try Schema.migrator.migrate(database)
        return database
    }

    private func message(_ seq: Int64, room: Int64 = 1, id: String?, body: [UInt8]) throws -> RecentMessage {
        let sender = try UserID("user\(seq % 3)")
        return RecentMessage(
            room: try RoomID("room\(room)"), roomNumber: room, seq: seq, rev: seq + 5,
            createdAt: Timestamp(milliseconds: seq * 1000), sender: sender,
            key: id.map { ClientMessageKey(sender: sender, id: $0) }, body: body)
    }

    @Test(
        "are unchanged, whatever their number and size",
        arguments: [0, 1, 3, 4, 5, 15, 16, 17, 20, 31, 32, 33, 37, 100])
    func all(count: Int) throws {
        var random = SeededGenerator(seed: UInt64(count))
        let messages = try (0..<count).map { index in
            // Some ids are stored inline, some on the heap; some bodies outgrow the buffer.
            let id = index % 4 == 0 ? nil : String(repeating: "é", count: 1 + index % 30)
            let length = index % 7 == 6 ? 50_000 : 1 + Int(random.next() % 300)
            let body = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            return try message(
                Int64(index / 2 + 1), room: Int64(1 + index % 2), id: id.map { "\($0)\(index)" }, body: body)
        }
        try database().inDatabase { db in
            let insertion = try MessageInsertion(db)
            // In two calls, so that the second finds the values bound by the first.
            try insertion.insert(Array(messages.prefix(count / 3)))
            try insertion.insert(Array(messages.dropFirst(count / 3)))
            let rows = try Row.fetchAll(
                db,
                sql: "SELECT id, rev, changed, created_at, sender, client_message_id, body FROM messages ORDER BY id")
            let sorted = messages.sorted { ($0.roomNumber, $0.seq) < ($1.roomNumber, $1.seq) }
            #expect(rows.count == count)
            for (row, message) in zip(rows, sorted) {
                #expect(row[0] == RowKey(room: message.roomNumber, message.seq).rawValue)
                #expect(row[1] == message.rev && row[3] == message.createdAt.milliseconds)
                #expect(row[2] == nil as Int64?)
                #expect(row[4] == message.sender.string && row[5] == message.clientMessageID)
                #expect(try #require(row[6] as Data?).elementsEqual(message.body))
            }
        }
    }

    @Test("fail if a client message id or place is taken", arguments: [0, 1, 7, 15, 16, 19, 20])
    func conflict(index: Int) throws {
        var messages = try (0..<21).map { try message(Int64($0 + 1), id: "\($0)", body: [1]) }
        try database().inDatabase { db in
            let insertion = try MessageInsertion(db)
            try insertion.insert([message(100, id: nil, body: [1])])
            try db.execute(sql: "UPDATE messages SET client_message_id = '\(index)', sender = 'user\((index + 1) % 3)'")
            let error = #expect(throws: DatabaseError.self) { try insertion.insert(messages) }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
            try db.execute(sql: "DELETE FROM messages")
            messages[index] = try message(Int64((index + 1) % 21 + 1), id: nil, body: [1])
            #expect(throws: DatabaseError.self) { try insertion.insert(messages) }
        }
    }
}
