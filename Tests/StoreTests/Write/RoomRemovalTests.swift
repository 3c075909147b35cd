import Chat
import Synchronization
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("A deleted room")
struct RoomRemovalTests {
    private let events = Recorder<JobEvent>()
    private static let done = JobEvent.done("removing a deleted room")

    private func makeLog(
        in directory: TemporaryDirectory? = nil, events: Recorder<JobEvent>? = nil,
        _ configure: (inout StoreConfiguration) -> Void = { _ in }
    ) throws -> TestLog {
        try TestLog(in: directory) {
            $0.onJob = { [events = events ?? self.events] in events.record($0) }
            configure(&$0)
        }
    }

    /// Returns the number of rows that may belong to a room, except its name.
    private func rows(_ log: TestLog) throws -> Int {
        try
            (StoredTable.ofRooms.map(\.name) + ["messages", "jobs"]
            + (TestStore.isPostgres ? [] : ["journal"])).map { try log.count($0) }.reduce(0, +)
    }

    @Test func `is refused to everybody, is in no list, and its id stays used, also after a restart`() throws {
        var log = try makeLog()
        try log.sendAll([.init(), .init(room: "other")])
        try log.join("lobby", as: "bob")
        #expect(throws: Problem.notAnOwner) { try log.change(.delete, by: "bob").get() }
        #expect(throws: Problem.roomNotFound) { try log.change(.delete, in: "nowhere", by: "bob").get() }
        _ = try log.change(.delete, by: "alice").get()
        #expect(log.listener.ends.events == [[.roomDeleted(try RoomID("lobby"))]])
        for _ in 0..<2 {
            for user in ["alice", "bob"] {
                #expect(throws: Problem.roomDeleted) { try log.summary(for: user) }
                #expect(throws: Problem.roomDeleted) { try log.page() }
                #expect(throws: Problem.roomDeleted) { try log.replay(since: 0) }
                #expect(throws: Problem.roomDeleted) { try log.send(.init(sender: user)) }
                #expect(throws: Problem.roomDeleted) { try log.react(to: 1, as: user) }
                #expect(throws: Problem.roomDeleted) { try log.read(to: 1, as: user) }
            }
            for change in [.delete, .set(RoomSettings()), .setMember(try UserID("eve"), nil)] as [RoomChange] {
                #expect(throws: Problem.roomDeleted) { try log.change(change, by: "root", isAdmin: true).get() }
            }
            #expect(try log.inbox(of: "alice").rooms.map(\.summary.room.string) == ["other"])
            #expect(try log.inbox(of: "bob").rooms.isEmpty)
            try events.wait(for: Self.done)
            log = try log.reopened()
        }
        try expectSound(log.path)
    }

    @Test func `is gone for later submissions in the same commit, not for earlier ones`() throws {
        let log = try makeLog()
        try log.send(.init())
        let results = try log.submitAll(
            log.submissions([.init(text: "before")]) + [log.submission(.room(.delete), by: "alice")]
                + log.submissions([.init(text: "after")]))
        #expect(try results[0].get().seq == 2)
        #expect(throws: Never.self) { try results[1].get() }
        #expect(throws: Problem.roomDeleted) { try results[2].get() }
    }

    @Test func `leaves only its name`() throws {
        let log = try makeLog { $0.keepDays = 30_000 }
        let data = #"{"a":"a whisper"}"#
        try log.sendAll((0..<700).map { .init(text: "a whisper \($0)", id: "whisper\($0)", data: data) })
        for user in 0..<300 { try log.react(to: 1, as: "whisperer\(user)") }
        try log.edit(2, "another whisper")
        try log.delete(3)
        for user in ["whisperer1", "whisperer2"] {
            try log.join("lobby", as: user)
            try log.read(to: 3, as: user)
        }
        _ = try log.change(.set(RoomSettings(title: "whispers")), by: "alice").get()
        _ = try log.change(.setNotify(NotifySettings(level: .none)), by: "whisperer1").get()
        _ = try log.change(.setBan(UserID("whisperer2"), BanSettings()), by: "alice").get()
        try log.change(.init(seq: 4, action: .pin))
        // Messages sent with the deletion, and to other rooms meanwhile, are in the journal.
        log.log.submit(try log.submissions([.init(text: "a last whisper")]))
        _ = try log.change(.delete, by: "alice").get()
        try events.wait(for: Self.done)
        #expect(try rows(log) == 0)
        log.close()
        try expectSound(log.path)
        if TestStore.isPostgres { return }
        try purgeWords(at: log.path)
        #expect(throws: CommandFailed.self, "it is gone from the file") { try run("grep", "-qa", "whisper", log.path) }
    }

    @Test func `leaves nothing behind in the last of all possible rooms`() throws {
        var log = try makeLog()
        try log.execute(
            """
            INSERT INTO rooms (id, name) \(TestStore.isPostgres ? "OVERRIDING SYSTEM VALUE" : "")
            VALUES (\(RowKey.maximumRoom), 'last')
            """)
        let events = events
        log = try log.reopened { $0.onJob = { events.record($0) } }
        try log.join("last", as: "alice")
        try log.send(.init(room: "last", id: "a", mentions: ["bob"]))
        _ = try log.change(.setMember(UserID("alice"), .owner), in: "last", by: "root", isAdmin: true).get()
        _ = try log.edit(1, "other", of: "last")
        _ = try log.change(.init(seq: 1, action: .addReaction(ReactionKey("👍")), room: "last"))
        #expect(try log.count("mentions") == 1 && log.count("reactions") == 1 && log.count("first_contents") == 1)
        _ = try log.change(.delete, in: "last", by: "alice").get()
        try events.wait(for: Self.done)
        #expect(try rows(log) == 0)
        log.close()
        try expectSound(log.path)
    }

    @Test func `is removed in parts, between which other requests are served`() throws {
        let log = try makeLog()
        for _ in 0..<4 { try log.fill(1000) }
        _ = try log.change(.delete, by: "alice").get()
        let left = try log.count("messages")
        #expect(left > 0)
        try log.send(.init(room: "other"))
        #expect(!events.events.contains(Self.done))
        try events.wait(for: Self.done)
        try expectSound(log.path)
    }

    @Test(arguments: [0, 1, 8])
    func `leaves a sound database at any point, and is removed after a crash`(parts: Int) throws {
        let log = try makeLog()
        try log.sendAll((0..<10).map { .init(id: "first\($0)") })
        try log.fill(1990)
        try log.submitAll(
            (0..<600).map { user in
                try log.submission(.init(seq: 5, action: .addReaction(ReactionKey("❤️")), user: "user\(user)"))
            })
        try log.edit(6, "other")
        try log.submitAll(
            (0..<300).map { user in
                try log.submission(.room(.setMember(UserID("user\(user)"), nil)), by: "user\(user)")
            })
        _ = try log.change(.delete, by: "alice").get()
        if parts > 0 {
            try waitUntil {
                try log.count("messages") < 2000 - 200 * (parts - 1)
            }
        }
        // A copy of one moment, as after a crash.
        let copy = try log.copied()
        try expectSound(copy.path(of: "log.db"))
        let restored = try makeLog(in: copy, events: Recorder())
        try waitUntil { try rows(restored) == 0 }
        #expect(throws: Problem.roomDeleted) { try restored.page() }
        try expectSound(restored.path)
    }

    @Test(.onSQLite(.journal))
    func `with messages in the journal stays deleted after a crash`() throws {
        let log = try makeLog { $0.journal.idleTime = 60_000 }
        try log.sendAll([.init(text: "a whisper"), .init(room: "other")])
        let directory = try TemporaryDirectory()
        // The hook holds up the queue, so that the removal does not begin before the files are copied.
        log.listener.onCommitted.withLock { hook in
            hook = {
                for suffix in ["", "-wal"] {
                    _ = try? run("cp", log.path + suffix, directory.path(of: "log.db" + suffix))
                }
            }
        }
        _ = try log.change(.delete, by: "alice").get()
        log.listener.onCommitted.withLock { $0 = nil }
        #expect(try DatabaseCheck(directory.path(of: "log.db")).run().isSound)
        let again = Recorder<JobEvent>()
        let crashed = try makeLog(in: directory, events: again)
        #expect(throws: Problem.roomDeleted) { try crashed.page() }
        #expect(try crashed.page(of: "other").count == 1)
        try again.wait(for: Self.done)
        crashed.close()
        try expectSound(crashed.path)
        #expect(throws: CommandFailed.self) { try run("grep", "-qa", "whisper", crashed.path) }
    }

    @Test func `with leftovers that nothing removes is reported by a check`() throws {
        let log = try makeLog()
        try log.fill(3)
        log.close()
        try log.execute("UPDATE rooms SET deleted = 1")
        let report = try DatabaseCheck(TestStore.location(of: log.path)).run()
        #expect(
            report.damages.map(\.description).contains {
                $0 == "room lobby: this room is deleted, but no job removes its messages"
            })
    }
}
