import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Expired messages")
struct ExpiringTests {
    private let clock = TestClock()
    private let events = Recorder<ExpiryEvent>()
    private static let day: Int64 = 86_400_000

    /// Keeps messages for a day, and searches for expired ones continuously.
    private func expiring(_ configuration: inout StoreConfiguration) {
        configuration.clock = { [clock] in clock.now }
        configuration.keepDays = 1
        configuration.expiryPause = 1
        configuration.expiryInterval = 1
        configuration.onExpiry = { [events] in events.record($0) }
    }

    private func makeLog(
        in directory: TemporaryDirectory? = nil, _ configure: (inout StoreConfiguration) -> Void = { _ in }
    ) throws -> TestLog {
        try TestLog(in: directory) {
            expiring(&$0)
            configure(&$0)
        }
    }

    /// Waits until this many messages have expired since the start.
    private func waitForExpired(_ count: Int) throws {
        try events.wait { events in
            events.reduce(0) { sum, event in if case .expired(let count) = event { sum + count } else { sum } } >= count
        }
    }

    private func waitUntilFiled(_ log: TestLog) throws {
        // PostgreSQL has no journal.
        if TestStore.isPostgres { return }
        try waitUntil { try log.count("journal") == 0 }
    }

    @Test func `become tombstones, as if deleted`() throws {
        let log = try makeLog()
        let sent = try log.send(.init(text: "a whisper", id: "a1", data: #"{"a":1}"#))
        try log.react(to: 1, as: "bob")
        try log.edit(1, "another whisper")
        try log.read(to: 1, as: "bob")
        clock.step(Self.day + 1)
        try waitForExpired(1)
        let createdAt = try Message(decoding: sent.body).createdAt
        let expected =
            #"{"room":"lobby","seq":1,"rev":4,"sender":"alice","client_message_id":"a1","created_at":"\#(createdAt)","#
            + #""deleted":true}"#
        let tombstone = Array(expected.utf8)
        #expect(try log.message(1) == tombstone)
        #expect(try log.page().messages == tombstone)
        #expect(try log.changes(since: 3).messages == tombstone)
        #expect(try log.state() == RoomState(head: 1, rev: 4))
        let commits = try log.listener.commits.wait { $0.last?.batches.last?.messages == [tombstone] }
        #expect(commits.last?.outcomes.isEmpty == true)
        // A repeated send is still recognized, and gets the tombstone.
        let again = try log.send(.init(text: "a whisper", id: "a1", data: #"{"a":1}"#))
        #expect(again.body == tombstone && !again.isNew)
        #expect(throws: Problem.clientMessageIDReused) { try log.send(.init(text: "other", id: "a1")) }
        #expect(throws: Problem.messageDeleted) { try log.edit(1, "again") }
        #expect(try log.send(.init(replyTo: 1)).seq == 2)
        #expect(try log.summary(for: "bob").read == 1)
        log.close()
        try expectSound(log.path)
        if TestStore.isPostgres { return }
        try purgeWords(at: log.path)
        #expect(throws: CommandFailed.self, "it is gone from the file") { try run("grep", "-qa", "whisper", log.path) }
    }

    @Test func `are exactly those before the time limit`() throws {
        let log = try makeLog()
        try log.fill(2)
        clock.step(1)
        try log.fill(2)
        try waitUntilFiled(log)
        clock.step(Self.day)
        try waitForExpired(2)
        // Another round finds nothing.
        try log.fill(1, "attic")
        try waitUntilFiled(log)
        #expect(try log.state() == RoomState(head: 4, rev: 6))
        #expect(try Message(decoding: log.message(2)!).deleted)
        #expect(try Message(decoding: log.message(3)!).deleted == false)
        #expect(try log.state(of: "attic") == RoomState(head: 1, rev: 1))
    }

    @Test func `expire a few at a time, the oldest of a room first, and are counted at the end`() throws {
        let log = try makeLog { $0.commit.expiredMessages = 3 }
        try log.fill(10)
        try log.fill(4, "attic")
        try waitUntilFiled(log)
        clock.step(Self.day + 1)
        let events = try events.wait(for: .passOver(14))
        #expect(events.dropLast().allSatisfy { if case .expired(1...3) = $0 { true } else { false } })
        let batches = log.listener.commits.events.filter(\.outcomes.isEmpty).flatMap(\.batches)
        for (room, head) in [("lobby", 10), ("attic", 4)] as [(String, Int64)] {
            let messages = try batches.filter { $0.room.string == room }.flatMap(\.messages).map {
                try Message(decoding: $0)
            }
            #expect(messages.map(\.seq) == Array(1...head))
            #expect(messages.map(\.rev) == Array(head + 1...2 * head))
            #expect(messages.allSatisfy { $0.deleted })
        }
        #expect(batches.allSatisfy { $0.messages.count <= 3 })
        #expect(batches.prefix(2).map(\.room.string) == ["lobby", "attic"])
        try expectSound(log.path)
    }

    @Test func `that are already deleted take no revision`() throws {
        let log = try makeLog { $0.commit.expiredMessages = 2 }
        try log.fill(6)
        for seq in 2...5 as ClosedRange<Int64> { try log.delete(seq) }
        clock.step(Self.day + 1)
        try events.wait(for: .passOver(2))
        #expect(try log.state() == RoomState(head: 6, rev: 12))
        #expect(try log.number("SELECT seq FROM expired") == 6)
    }

    @Test(.onSQLite(.journal))
    func `also expire when newer ones are in the journal, which is filed first`() throws {
        let log = try makeLog {
            $0.journal.idleTime = 60_000
            $0.keepDays = 2
        }
        try log.fill(3)
        try log.react(to: 2)
        clock.step(Self.day)
        let newer = try log.fill(2)
        #expect(try log.count("messages") == 3)
        clock.step(Self.day + 1)
        try waitForExpired(3)
        #expect(try log.state() == RoomState(head: 5, rev: 9))
        #expect(try log.page(.after(.seq(3))).messages == joined(newer))
        #expect(try log.changes(since: 4, limit: 2).messages == joined(newer))
        try expectSound(log.path)
        #expect(try log.fill(1).count == 1)
        #expect(try log.state() == RoomState(head: 6, rev: 10))
        try expectSound(log.path)
    }

    @Test(.onSQLite(.journal))
    func `in the journal stay until they are filed`() throws {
        let log = try makeLog { $0.journal.idleTime = 60_000 }
        let sent = try log.fill(2)
        try log.fill(1, "attic")
        try log.react(to: 1, of: "attic")
        clock.step(Self.day + 1)
        try waitForExpired(1)
        #expect(try log.page().messages == joined(sent))
        let again = try log.reopened(expiring)
        try waitForExpired(3)
        #expect(try again.state() == RoomState(head: 2, rev: 4))
        try expectSound(again.path)
    }

    @Test(arguments: [nil, 2, 5] as [Int?])
    func `are those of the shorter of the room's and the server's time`(keepDays: Int?) throws {
        let log = try makeLog { $0.keepDays = keepDays }
        for (room, days) in [("day", 1), ("days", 3), ("years", 1000), ("lobby", nil)] as [(String, Int?)] {
            try log.fill(2, room)
            guard let days else { continue }
            _ = try log.change(.set(RoomSettings(keepDays: days)), in: room, by: "alice").get()
        }
        try waitUntilFiled(log)
        func expectExpired(_ rooms: Set<String>) throws {
            try waitForExpired(rooms.count * 2)
            for room in ["day", "days", "years", "lobby"] {
                #expect(try log.state(of: room).rev == (rooms.contains(room) ? 4 : 2), "\(room)")
            }
        }
        clock.step(Self.day + 1)
        try expectExpired(["day"])
        clock.step(Self.day)
        try expectExpired(keepDays == 2 ? ["day", "days", "years", "lobby"] : ["day"])
        clock.step(Self.day)
        try expectExpired(keepDays == 2 ? ["day", "days", "years", "lobby"] : ["day", "days"])
        clock.step(Self.day * 2)
        try expectExpired(keepDays == nil ? ["day", "days"] : ["day", "days", "years", "lobby"])
        try expectSound(log.path)
    }

    @Test func `expire while others are sent`() throws {
        let log = try makeLog { $0.commit.expiredMessages = 5 }
        for room in 0..<5 { try log.fill(40, "room\(room)") }
        try waitUntilFiled(log)
        clock.step(Self.day + 1)
        for round in 0..<60 { try log.fill(3, "room\(round % 7)") }
        try events.wait(for: .passOver(200))
        log.close()
        try expectSound(log.path)
        let again = try TestLog(at: log.path, of: log)
        #expect(try again.state(of: "room1") == RoomState(head: 67, rev: 107))
        #expect(try again.state(of: "room6") == RoomState(head: 24, rev: 24))
    }

    @Test func `expire once each, also after a crash at any moment`() throws {
        let log = try makeLog { $0.commit.expiredMessages = 4 }
        for room in 0..<3 { try log.fill(7, "room\(room)") }
        try waitUntilFiled(log)
        let copies = Recorder<TemporaryDirectory>()
        log.listener.onCommitted.withLock { hook in
            hook = { [weak log] in
                guard let copy = try? log?.copied() else { return }
                copies.record(copy)
            }
        }
        clock.step(Self.day + 1)
        try events.wait(for: .passOver(21))
        let expected = try (0..<3).map { try log.page(of: "room\($0)").messages }
        for directory in copies.events {
            let events = Recorder<ExpiryEvent>()
            let again = try makeLog(in: directory) {
                $0.commit.expiredMessages = 4
                $0.onExpiry = { events.record($0) }
            }
            try waitUntil {
                (try? (0..<3).map { try again.state(of: "room\($0)") })
                    == Array(repeating: RoomState(head: 7, rev: 14), count: 3)
            }
            #expect(try (0..<3).map { try again.page(of: "room\($0)").messages } == expected)
            again.close()
            try expectSound(again.path)
        }
        #expect(copies.events.count >= 6)
    }

    @Test func `are not searched again after a restart, and stay without a time limit`() throws {
        let log = try makeLog()
        try log.fill(5)
        clock.step(Self.day + 1)
        try waitForExpired(5)
        let forever = try log.reopened { [clock] in $0.clock = { clock.now } }
        try forever.fill(2)
        clock.step(Self.day * 1000)
        try forever.fill(1)
        #expect(try forever.state() == RoomState(head: 8, rev: 13))
        forever.close()
        // In PostgreSQL this node's wish counts for a while.
        if TestStore.isPostgres { try forever.execute("DELETE FROM retention WHERE days = 0") }
        let again = try forever.reopened(expiring)
        try waitForExpired(7)
        #expect(try again.state() == RoomState(head: 8, rev: 15))
        #expect(try again.number("SELECT seq FROM expired") == 7)
    }

    @Test func `are not counted as unread, whatever their number`() throws {
        let log = try makeLog { $0.commit.expiredMessages = 100_000 }
        let old = 5100
        try log.fill(old)
        try log.fill(3, "attic")
        try log.read(to: 1, as: "bob")
        try waitUntilFiled(log)
        clock.step(Self.day)
        try log.fill(2)
        clock.step(1)
        try waitForExpired(old + 3)
        let summary = try log.summary(for: "bob")
        #expect(summary.read == 1 && summary.unread == 2 && summary.firstUnread == Int64(old) + 1)
        #expect(try log.summary(for: "carol").unread == 2)
        #expect(try log.summary(of: "attic", for: "carol").unread == 0)
        #expect(try log.summary(of: "attic", for: "carol").firstUnread == nil)
    }

    @Test func `in a room that cannot be changed delay no other room and no sends`() throws {
        let log = try makeLog()
        for room in ["a", "b", "c"] { try log.fill(2, room) }
        try waitUntilFiled(log)
        try log.refuseUpdates(ofRoom: 2, because: "stuck")
        clock.step(Self.day + 1)
        let events = try events.wait { $0.contains(.passOver(4)) }
        #expect(events.contains { if case .failed(let reason) = $0 { reason.contains("stuck") } else { false } })
        #expect(log.log.failure == nil)
        #expect(try log.state(of: "b") == RoomState(head: 2, rev: 2))
        #expect(try log.state(of: "c") == RoomState(head: 2, rev: 4))
        #expect(try log.fill(1, "b").count == 1)
        try log.allowUpdates()
        try waitForExpired(6)
        #expect(try log.state(of: "b") == RoomState(head: 3, rev: 5))
        try expectSound(log.path)
    }
}
