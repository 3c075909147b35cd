import Chat
import GRDB
import Glibc
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A deletion")
struct DeleteTests {
    @Test func `keeps the message's place, sender and time`() throws {
        let log = try TestLog()
        let sent = try log.send(.init(text: "hi", id: "a1", data: #"{"a":1}"#))
        try log.react(to: 1, as: "bob")
        try log.edit(1, "bye")
        let deleted = try log.delete(1)
        let createdAt = try Message(decoding: sent.body).createdAt
        let expected =
            #"{"room":"lobby","seq":1,"rev":4,"sender":"alice","client_message_id":"a1","created_at":"\#(createdAt)","#
            + #""deleted":true}"#
        #expect(String(decoding: deleted.body, as: UTF8.self) == expected)
        #expect(deleted.rev == 4)
        #expect(try log.message(1) == deleted.body)
        #expect(try log.message("a1", from: "alice") == deleted.body)
        #expect(try log.changes(since: 0).messages == deleted.body)
        #expect(log.listener.commits.events.last?.batches.first?.messages == [deleted.body])
        #expect(try log.state() == RoomState(head: 1, rev: 4))
    }

    @Test func `is done once; a repetition returns the tombstone, whatever revision it names`() throws {
        let log = try TestLog()
        try log.fill(1)
        let deleted = try log.delete(1)
        for revs in [nil, [1], [2]] as [[Int64]?] {
            let again = try log.change(.init(seq: 1, action: .delete, revs: revs))
            #expect(again.body == deleted.body && again.rev == 2)
            #expect(log.listener.commits.events.last?.batches.isEmpty == true)
        }
        #expect(try log.state().rev == 2)
    }

    @Test func `is allowed to the sender and to admins`() throws {
        let log = try TestLog()
        try log.fill(1)
        #expect(throws: Problem.notTheSender) { try log.delete(1, as: "bob") }
        #expect(throws: Problem.preconditionFailed(rev: 1)) {
            try log.change(.init(seq: 1, action: .delete, user: "bob", isAdmin: true, revs: [9]))
        }
        #expect(throws: Problem.messageNotFound) { try log.delete(2) }
        #expect(try log.change(.init(seq: 1, action: .delete, user: "bob", isAdmin: true, revs: [1])).rev == 2)
        // A user who may not delete learns nothing from the tombstone.
        #expect(throws: Problem.notTheSender) { try log.delete(1, as: "carol") }
    }

    @Test func `of a message still allows replies to it`() throws {
        let log = try TestLog()
        try log.fill(1)
        try log.delete(1)
        #expect(try Message(decoding: log.send(.init(replyTo: 1)).body).content.replyTo == 1)
    }

    /// Returns texts that take part of a page, and texts that take pages of their own.
    private func whisper(_ number: Int) -> String {
        "whisper" + String(repeating: "\(number % 10)", count: [40, 300, 9000][number % 3])
    }

    @Test(
        .onSQLite(.files),
        arguments: [(0, 256), (16_384, 256), (40, 7)])
    func `leaves no content in the files of a closed log`(journalMessages: Int, messagesOfRoom: Int) throws {
        let log = try TestLog {
            $0.journal.messages = journalMessages
            $0.journal.messagesOfRoom = messagesOfRoom
            $0.checkpointPages = 64
        }
        for round in 0..<40 {
            try log.sendAll((0..<5).map { .init(text: whisper(round * 5 + $0), id: "\(round)/\($0)") })
        }
        for seq in 1...200 as ClosedRange<Int64> {
            if seq % 7 == 0 { try log.react(to: seq) }
            if seq % 11 == 0 { try log.edit(seq, "nothing") }
            try log.delete(seq)
        }
        log.close()
        try purgeWords(at: log.path)
        try expectNothing(in: log)
    }

    @Test(.onSQLite(.files))
    func `leaves no content in the files of an open log that is idle`() throws {
        let log = try TestLog { $0.journal.idleTime = 1 }
        try log.fill(1, "other")
        try log.sendAll((0..<20).map { .init(text: whisper($0), room: $0 % 2 == 0 ? "lobby" : "attic") })
        for seq in 1...10 as ClosedRange<Int64> {
            try log.delete(seq)
            try log.edit(seq, "nothing", of: "attic")
        }
        try waitUntil { (try? log.sql { try Int.fetchOne($0, sql: "SELECT count(*) FROM journal") }) == 0 }
        try purgeWords(at: log.path)
        try DatabaseQueue(path: log.path).writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try expectNothing(in: log)
    }

    @Test(.onSQLite(.files))
    func `leaves free page space that a vacuum clears`() throws {
        let log = try TestLog { $0.journal.messages = 0 }
        var generator = SeededGenerator(seed: 8)
        // Rooms grow in the middle of the table, where pages are split.
        let rooms = (0..<300).map { _ in "room\(Int.random(in: 0..<40, using: &generator))" }
        let stored = try log.sendAll(rooms.enumerated().map { .init(text: whisper($0.offset), room: $0.element) })
        for (room, stored) in zip(rooms, stored) { try log.delete(stored.get().seq, of: room) }
        log.close()
        try purgeWords(at: log.path)
        try DatabaseQueue(path: log.path).vacuum()
        try expectNothing(in: log)
    }

    private func expectNothing(in log: TestLog) throws {
        for text in ["whisper", "1111111111111111"] {
            for path in [log.path, log.path + "-wal"] where access(path, F_OK) == 0 {
                #expect(try occurrences(of: text, in: path) == 0, "\(text) in \(path)")
            }
        }
    }

    /// Returns the number of occurrences of a text in a file.
    private func occurrences(of text: String, in path: String) throws -> Int {
        let bytes = try read(path)
        let wanted = Array(text.utf8)
        return bytes.indices.dropLast(wanted.count - 1).count {
            bytes[$0] == wanted[0] && bytes[$0..<$0 + wanted.count].elementsEqual(wanted)
        }
    }

    private func read(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        try #require(descriptor >= 0)
        let size = Int(lseek(descriptor, 0, SEEK_END))
        var bytes = [UInt8](repeating: 0, count: size)
        try #require(pread(descriptor, &bytes, size, 0) == size)
        return bytes
    }
}
