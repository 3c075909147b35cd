import TestSupport
import Testing
import Wire

@testable import Store

@Suite("The backlog", .partOfSQLite(.journal))
struct BacklogTests {
    private func backlog(messages: Int = 10, bytes: Int = .max, ofRoom: Int = 5) -> Backlog {
        Backlog(Journal.Limits(messages: messages, bytes: bytes, messagesOfRoom: ofRoom))
    }

    private func message(
        _ room: String, _ seq: Int64, id: String? = nil, bytes: Int = 1, at time: Int64 = 0
    ) throws -> RecentMessage {
        RecentMessage(
            room: try RoomID(room), roomNumber: Int64(room.utf8.first!), seq: seq, rev: seq,
            createdAt: Timestamp(milliseconds: time), sender: try UserID("alice"),
            key: try id.map { ClientMessageKey(sender: try UserID("alice"), id: $0) },
            body: Array(repeating: 0, count: bytes))
    }

    /// Adds the next messages of these rooms, all in one row.
    private func append(_ rooms: [String], row: Int64, to backlog: inout Backlog) throws {
        for room in rooms {
            let seq = (backlog.newest(of: try RoomID(room))?.seq ?? 0) + 1
            backlog.append(try message(room, seq), row: row, at: .latest)
        }
    }

    @Test func `has nothing due within its limits`() throws {
        var backlog = backlog()
        #expect(backlog.due().isEmpty && backlog.firstRow(after: backlog.due()) == nil)
        try append(["a", "b", "a", "c", "a", "b", "c", "d", "e", "a"], row: 1, to: &backlog)
        #expect(backlog.count == 10)
        #expect(backlog.due().isEmpty && backlog.firstRow(after: backlog.due()) == 1)
        #expect(backlog.messages(of: try RoomID("a")).map(\.seq) == [1, 2, 3, 4])
        #expect(backlog.newest(of: try RoomID("b"))?.seq == 2)
        #expect(backlog.newest(of: try RoomID("z")) == nil)
    }

    @Test func `above its limit of messages, makes the longest waiting rooms due, completely`() throws {
        var backlog = backlog()
        try append(["a", "b", "b"], row: 1, to: &backlog)
        try append(["c", "a", "c", "d"], row: 2, to: &backlog)
        try append(["e", "b", "e", "b", "e", "f"], row: 3, to: &backlog)
        // 13 messages: the two of a do not suffice.
        let due = backlog.due()
        #expect(due.rooms.map(\.string) == ["a", "b"])
        #expect(due.messages.map(\.seq) == [1, 2, 1, 2, 3, 4])
        #expect(backlog.firstRow(after: due) == 2)
        backlog.remove(due)
        #expect(backlog.count == 7 && backlog.due().isEmpty)
        #expect(backlog.messages(of: try RoomID("b")).isEmpty)
        #expect(backlog.firstRow(after: backlog.due()) == 2)
    }

    @Test func `queues a filed room again with its next message`() throws {
        var backlog = backlog(messages: 3)
        try append(["a", "b", "c", "d"], row: 1, to: &backlog)
        #expect(backlog.due().rooms.map(\.string) == ["a"])
        backlog.remove(backlog.due())
        try append(["a", "a"], row: 2, to: &backlog)
        #expect(backlog.due().rooms.map(\.string) == ["b", "c"])
        #expect(backlog.oldest(1000).rooms.map(\.string) == ["b", "c", "d", "a"])
        #expect(backlog.firstRow(after: backlog.oldest(3)) == 2)
    }

    @Test func `makes rooms due above its limit of bytes`() throws {
        var backlog = backlog(bytes: 100)
        for room in ["a", "b", "c"] { backlog.append(try message(room, 1, bytes: 40), row: 1, at: .latest) }
        #expect(backlog.due().rooms.map(\.string) == ["a"])
        backlog.remove(backlog.due())
        #expect(backlog.due().isEmpty)
    }

    @Test func `makes a room with many messages due, whatever the others have`() throws {
        var backlog = backlog(messages: 100)
        try append(["a", "b", "b", "b", "b", "c", "b"], row: 1, to: &backlog)
        #expect(backlog.due().rooms.map(\.string) == ["b"])
        #expect(backlog.oldest(6).rooms.map(\.string) == ["b", "a"])
        try append(["b"], row: 2, to: &backlog)
        #expect(backlog.due().messages.count == 6)
        backlog.remove(backlog.due())
        #expect(backlog.due().isEmpty && backlog.count == 2)
    }

    @Test func `makes rooms that fill together due one after the other, in order`() throws {
        let size = CommitLimits.filedMessages
        var backlog = backlog(messages: .max, ofRoom: size)
        for row in 1...Int64(size) { try append(["a", "b", "c"], row: row, to: &backlog) }
        for (round, room) in ["a", "b", "c"].enumerated() {
            let due = backlog.due()
            #expect(due.rooms.map(\.string) == [room] && due.messages.count == size + round)
            backlog.remove(due)
            try append(["a", "b", "c"], row: Int64(size + round + 1), to: &backlog)
        }
        #expect(backlog.due().isEmpty && backlog.count == 3 + 2 + 1)
    }

    @Test func `does not make a room with twice the limit wait for others`() throws {
        let size = CommitLimits.filedMessages
        var backlog = backlog(messages: .max, ofRoom: size)
        try append(["d"], row: 1, to: &backlog)
        for row in 2...Int64(size) + 1 { try append(["a", "b", "c"], row: row, to: &backlog) }
        try append(Array(repeating: "c", count: size), row: Int64(size) + 2, to: &backlog)
        #expect(backlog.due().rooms.map(\.string) == ["a", "c"])
        // A room that has waited too long does not wait either.
        #expect(backlog.due(before: 2).rooms.map(\.string) == ["a", "c", "d"])
    }

    @Test func `above its limit, makes full rooms due like others, in order of arrival`() throws {
        let size = CommitLimits.filedMessages
        var backlog = backlog(messages: 2 * size, ofRoom: size)
        try append(["d"], row: 1, to: &backlog)
        for row in 2...Int64(size) + 1 { try append(["a", "b", "c"], row: row, to: &backlog) }
        #expect(backlog.due().rooms.map(\.string) == ["a", "d"])
        backlog.remove(backlog.due())
        for row in 1...5 { try append(["e"], row: Int64(size + row) + 1, to: &backlog) }
        #expect(backlog.due().rooms.map(\.string) == ["b"])
    }

    @Test func `makes rooms due whose first messages are too old, a few at a time`() throws {
        var backlog = backlog(messages: .max, ofRoom: .max)
        let some = Array(repeating: "c", count: CommitLimits.filedMessages - 3)
        try append(["a", "b"] + some, row: 1, to: &backlog)
        try append(["a", "d"], row: 2, to: &backlog)
        try append(["e", "b"], row: 3, to: &backlog)
        backlog.append(try message("f", 1, at: 1000), row: 4, at: .latest)
        let all = ["a", "b", "c", "d", "e", "f"]
        for (row, time, count) in [
            (1, 0, 0), (2, 0, 3), (3, 0, 3), (4, 0, 3), (0, 1, 3), (0, 1001, 3), (5, 0, 3),
        ] as [(Int64, Int64, Int)] {
            let due = backlog.due(before: row, Timestamp(milliseconds: time))
            #expect(due.rooms.map(\.string) == Array(all.prefix(count)), "\(row) \(time)")
        }
        backlog.remove(backlog.due(before: 2))
        for (row, time, rooms) in [
            (2, 0, []), (3, 0, ["d"]), (4, 1000, ["d", "e"]), (5, 0, ["d", "e", "f"]), (0, 1001, ["d", "e", "f"]),
        ] as [(Int64, Int64, [String])] {
            let due = backlog.due(before: row, Timestamp(milliseconds: time))
            #expect(due.rooms.map(\.string) == rooms, "\(row) \(time)")
        }
        #expect(backlog.firstRow(after: backlog.due(before: 4)) == 4)
    }

    @Test func `counts a room's waiting time from its first message's arrival, even if the clock is set back`() throws {
        var backlog = backlog(messages: .max, ofRoom: .max)
        backlog.append(try message("a", 1, at: 1_000_000), row: 1, at: Timestamp(milliseconds: 1000))
        backlog.append(try message("b", 1, at: 2000), row: 2, at: Timestamp(milliseconds: 2000))
        for (time, rooms) in [(1000, []), (1001, ["a"]), (2001, ["a", "b"])] as [(Int64, [String])] {
            #expect(backlog.due(before: 0, Timestamp(milliseconds: time)).rooms.map(\.string) == rooms)
        }
    }

    @Test func `makes large old messages due some bytes at a time`() throws {
        var backlog = backlog(messages: .max, ofRoom: .max)
        for room in ["a", "b", "c"] {
            backlog.append(try message(room, 1, bytes: CommitLimits.filedBytes / 2), row: 1, at: .latest)
        }
        #expect(backlog.due(before: 2).rooms.map(\.string) == ["a", "b"])
    }

    @Test func `has few entries, even if others are filed behind a waiting room`() throws {
        var backlog = backlog(messages: .max, ofRoom: 2)
        try append(["a"], row: 1, to: &backlog)
        for row in 2...1000 as ClosedRange<Int64> {
            try append(["b", "c", "b", "c"], row: row, to: &backlog)
            backlog.remove(backlog.due())
            #expect(backlog.queue.count <= 6)
        }
        #expect(backlog.count == 1 && backlog.firstRow(after: backlog.due()) == 1)
    }

    @Test func `can add a room to those that are due`() throws {
        var backlog = backlog()
        try append(["a", "b", "a"], row: 1, to: &backlog)
        try append(["c"], row: 2, to: &backlog)
        var selection = backlog.due()
        let (a, b, z) = (try RoomID("a"), try RoomID("b"), try RoomID("z"))
        for room in [a, b, z] { selection.add(room, backlog.messages(of: room)) }
        #expect(selection.contains(a) && selection.contains(b) && !selection.contains(z))
        #expect(selection.messages.map(\.seq) == [1, 2, 1])
        #expect(backlog.firstRow(after: selection) == 2)
        backlog.remove(selection)
        #expect(backlog.count == 1 && backlog.messages(of: a).isEmpty)
        // Its next message belongs to a new row.
        try append(["a"], row: 3, to: &backlog)
        #expect(backlog.oldest(9).rooms.map(\.string) == ["c", "a"])
    }

    @Test func `can remove one room's messages, and finds the others as before`() throws {
        var list = RecentMessageList()
        for seq in 1...3 as ClosedRange<Int64> {
            for room in ["a", "b"] { list.append(try message(room, seq, id: "\(seq)")) }
        }
        let number = Int64("a".utf8.first!)
        #expect(list.removeAll(of: number).map(\.seq) == [1, 2, 3])
        #expect(list.removeAll(of: number).isEmpty)
        #expect(list.messages.map(\.room.string) == ["b", "b", "b"])
        for seq in 1...3 as ClosedRange<Int64> {
            let key = ClientMessageKey(sender: try UserID("alice"), id: "\(seq)")
            #expect(list.first(key, in: number + 1)?.seq == seq && list.first(key, in: number) == nil)
        }
    }

    @Test func `finds a message by its client message id and room`() throws {
        var backlog = backlog()
        backlog.append(try message("a", 1, id: "x"), row: 1, at: .latest)
        backlog.append(try message("a", 2, id: "\u{E9}"), row: 1, at: .latest)
        backlog.append(try message("b", 1), row: 1, at: .latest)
        let alice = try UserID("alice")
        let room = try RoomID("a")
        #expect(backlog.message(ClientMessageKey(sender: alice, id: "x"), in: room)?.seq == 1)
        #expect(backlog.message(ClientMessageKey(sender: alice, id: "\u{E9}"), in: room)?.seq == 2)
        // The ids are equal in Swift and different in the database.
        #expect(backlog.message(ClientMessageKey(sender: alice, id: "e\u{301}"), in: room) == nil)
        #expect(backlog.message(ClientMessageKey(sender: try UserID("bob"), id: "x"), in: room) == nil)
        #expect(backlog.message(ClientMessageKey(sender: alice, id: "x"), in: try RoomID("b")) == nil)
    }

    @Test(arguments: [1, 2, 3])
    func `has what was added and not removed, in order, in any history`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var backlog = backlog(messages: 20, bytes: 60, ofRoom: 6)
        var model: [String: [(seq: Int64, row: Int64)]] = [:]
        var heads: [String: Int64] = [:]
        for row in 1...400 as ClosedRange<Int64> {
            let isDue = Int.random(in: 0..<4, using: &generator) > 0
            let selection =
                isDue ? backlog.due(before: row - 30) : backlog.oldest(.random(in: 1...9, using: &generator))
            for room in selection.rooms {
                #expect(
                    try selection.messages.filter { $0.room == room }.map(\.seq)
                        == #require(model[room.string]).map(\.seq)
                )
                model[room.string] = nil
            }
            if isDue {
                #expect(model.values.allSatisfy { $0.count < 6 && $0[0].row >= row - 30 })
                let left = model.values.reduce(0) { $0 + $1.count }
                #expect(left <= 20 && left * 3 <= 60)
            }
            #expect(backlog.firstRow(after: selection) == model.values.compactMap { $0.first?.row }.min())
            backlog.remove(selection)
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                let room = ["a", "b", "c", "d", "e", "f", "g", "h"].randomElement(using: &generator)!
                heads[room, default: 0] += 1
                backlog.append(try message(room, heads[room]!, bytes: 3), row: row, at: .latest)
                model[room, default: []].append((heads[room]!, row))
            }
            #expect(backlog.count == model.values.reduce(0) { $0 + $1.count })
            #expect(backlog.queue.count <= 4 * 8 + 1)
            for (room, messages) in model {
                #expect(backlog.messages(of: try RoomID(room)).map(\.seq) == messages.map(\.seq))
            }
        }
    }
}
