import Chat
import TestSupport
import Testing
import Wire

@testable import Store

/// Direct rooms, as tests make them.
extension TestLog {
    func direct(_ user: String, _ other: String) throws -> String {
        RoomID.direct(try UserID(user), try UserID(other)).string
    }

    /// Creates a submission that makes the direct room of two users.
    func directSubmission(_ user: String, with other: String, isAdmin: Bool = false) throws -> Submission {
        try submission(
            .room(.setDirect(try UserID(other))), in: direct(user, other), by: user, isAdmin: isAdmin)
    }

    /// Makes the direct room of two users.
    ///
    /// - Returns: Its id.
    @discardableResult
    func makeDirect(_ user: String, with other: String) throws -> String {
        _ = try outcome(directSubmission(user, with: other)).get()
        return try direct(user, other)
    }
}

@Suite("A direct room")
struct DirectRoomTests {
    private func code(_ result: Result<Receipt, Problem>) -> String? {
        if case .failure(let problem) = result { problem.code.string } else { nil }
    }

    private func listed(_ user: String, _ log: TestLog) throws -> [String] {
        let inbox = try log.inbox(of: user).rooms.map(\.summary.room.string)
        #expect(try log.memberships(of: user, limit: 10).rooms == inbox)
        return inbox
    }

    @Test func `has an id that follows from both users, in either order`() throws {
        let log = try TestLog()
        // printf 'alice\0bob' | sha256sum | xxd -r -p | basenc --base64url
        #expect(try log.direct("alice", "bob") == "@FBpM0kK2foLt9KeLtBjUCm")
        #expect(try log.direct("bob", "alice") == "@FBpM0kK2foLt9KeLtBjUCm")
        // By their bytes: U+FB03 comes before U+1F600, although UTF-16 orders them the other way.
        #expect(try log.direct("\u{FB03}", "\u{1F600}") == log.direct("\u{1F600}", "\u{FB03}"))
        #expect(try RoomID(log.direct("alice", "bob")).isDirect)
    }

    @Test(arguments: [false, true])
    func `is private, belongs to both, and enters the other's list with its first message`(journal: Bool) throws {
        let log = try TestLog { if !journal { $0.journal.messages = 0 } }
        let room = try log.direct("alice", "bob")
        #expect(throws: Problem.roomNotFound) { try log.summary(of: room, for: "alice") }
        #expect(try code(log.sendAll([.init(room: room)])[0]) == "room_not_found")
        #expect(try code(log.change(.set(RoomSettings()), in: room, by: "alice")) == "room_not_found")
        let made = try log.submitAll([
            log.directSubmission("alice", with: "bob"), log.directSubmission("bob", with: "alice"),
        ])
        #expect(try made.map { try $0.get().isNew } == [true, false])
        // Bob has asked for it, too.
        #expect(try listed("bob", log) == [room])
        let den = try log.makeDirect("alice", with: "carol")
        #expect(try listed("carol", log) == [])
        #expect(try Set(listed("alice", log)) == [room, den])
        for (user, other) in [("alice", "carol"), ("carol", "alice")] {
            let summary = try log.summary(of: den, for: user)
            #expect(summary.direct?.string == other && summary.role == .owner && summary.visibility == .private)
        }
        #expect(throws: Problem.roomNotFound) { try log.summary(of: den, for: "bob") }
        let members = try log.ask({ .members(after: nil, limit: 9, $0) }, of: den, for: "carol").members
        #expect(members.map(\.user.string) == ["alice", "carol"] && members.allSatisfy { $0.role == .owner })

        let before = log.listener.memberships.events.flatMap(\.self).count
        try log.send(.init(room: den))
        try log.send(.init(room: den, sender: "carol"))
        #expect(try listed("carol", log) == [den])
        #expect(try log.inbox(of: "carol").rooms[0].summary.direct?.string == "alice")
        let joined = log.listener.memberships.events.flatMap(\.self).dropFirst(before)
        #expect(try Array(joined) == [.init(user: UserID("carol"), room: RoomID(den), kind: .joined(rev: 0))])
        log.close()
        try expectSound(log.path)
    }

    @Test func `that one leaves is out of the own list until a new message comes, and stays readable`() throws {
        var log = try TestLog()
        let room = try log.makeDirect("alice", with: "bob")
        let other = try log.makeDirect("alice", with: "carol")
        try log.sendAll([.init(room: room), .init(room: other)])
        for _ in 0..<2 { _ = try log.change(.removeMember(try UserID("alice")), in: room, by: "alice").get() }
        #expect(try listed("alice", log) == [other] && listed("bob", log) == [room])
        log = try log.reopened()
        #expect(try listed("alice", log) == [other])
        #expect(try log.summary(of: room, for: "alice").head == 1)
        try log.send(.init(room: room, sender: "bob"))
        #expect(try listed("alice", log) == [room, other])
        let changes = log.listener.memberships.events.flatMap(\.self)
        #expect(try changes == [.init(user: UserID("alice"), room: RoomID(room), kind: .joined(rev: 1))])
        // Asking for it lists it, too.
        _ = try log.change(.removeMember(try UserID("alice")), in: room, by: "alice").get()
        #expect(try listed("alice", log) == [other])
        try log.makeDirect("alice", with: "bob")
        #expect(try listed("alice", log) == [room, other])
    }

    @Test func `keeps its two members and its visibility, whoever asks`() throws {
        let log = try TestLog()
        let room = try log.makeDirect("alice", with: "bob")
        let (alice, bob, carol) = (try UserID("alice"), try UserID("bob"), try UserID("carol"))
        let refused: [RoomChange] = [
            .setMember(carol, nil), .setMember(bob, .member), .setMember(alice, .member), .removeMember(bob),
            .set(RoomSettings(visibility: .open)), .delete,
        ]
        for change in refused { #expect(try code(log.change(change, in: room, by: "alice")) == "direct_room") }
        for change in refused.dropLast() {
            #expect(try code(log.change(change, in: room, by: "root", isAdmin: true)) == "direct_room")
        }
        #expect(try code(log.change(.setMember(carol, nil), in: room, by: "carol")) == "room_not_found")
        #expect(try code(log.outcome(log.directSubmission("alice", with: "alice"))) == "direct_room")
        for change in [.setMember(bob, nil), .set(RoomSettings(visibility: .private, title: "us"))] as [RoomChange] {
            #expect(try code(log.change(change, in: room, by: "alice")) == nil)
        }
        // An admin may delete it, for good.
        #expect(try code(log.change(.delete, in: room, by: "root", isAdmin: true)) == nil)
        #expect(try code(log.outcome(log.directSubmission("bob", with: "alice"))) == "direct_room")
        #expect(try code(log.sendAll([.init(room: room)])[0]) == "room_deleted")
    }

    @Test(arguments: [false, true])
    func `is made by users only where users may make rooms and add members`(rooms: Bool) throws {
        let log = try TestLog { if rooms { $0.roomsByAdminsOnly = true } else { $0.membersByAdminsOnly = true } }
        #expect(try code(log.outcome(log.directSubmission("alice", with: "bob"))) == "forbidden")
        #expect(try code(log.outcome(log.directSubmission("root", with: "bob", isAdmin: true))) == nil)
        #expect(try code(log.outcome(log.directSubmission("bob", with: "root"))) == nil)
    }

    @Test func `is one room, however often both ask for it at once`() throws {
        let log = try TestLog { $0.commit.submissions = 7 }
        try expectOne(logs: [log, log], log)
    }

    private func expectOne(logs: [TestLog], _ reader: TestLog) throws {
        let count = 1_000
        let made = Recorder<(room: String, isNew: Bool)>()
        inParallel(logs.count) { index in
            // Each side asks in an order of its own.
            var generator = SeededGenerator(seed: UInt64(index))
            let numbers = (0..<count).shuffled(using: &generator)
            let submissions = try numbers.map { number in
                let users = ["a\(number)", "b\(number)"]
                return try logs[index].directSubmission(users[index % 2], with: users[(index + 1) % 2])
            }
            for (submission, result) in zip(submissions, try logs[index].submitAll(submissions)) {
                made.record((submission.room!.string, try result.get().isNew))
            }
        }
        #expect(made.events.count == logs.count * count)
        for (room, answers) in Dictionary(grouping: made.events, by: \.room) {
            #expect(answers.count { $0.isNew } == 1, "\(room)")
        }
        for number in stride(from: 0, to: count, by: 97) {
            let room = try reader.direct("a\(number)", "b\(number)")
            #expect(try reader.summary(of: room, for: "a\(number)").direct?.string == "b\(number)")
            #expect(try reader.summary(of: room, for: "b\(number)").direct?.string == "a\(number)")
        }
    }

    @Test(.partOfPostgreSQL)
    func `is one room, however many nodes both ask for it at once`() throws {
        let postgres = try TestPostgres.shared()
        let url = postgres.url(of: try postgres.createDatabase())
        let (first, second) = (try TestLog(postgres: url), try TestLog(postgres: url))
        defer { for log in [first, second] { log.close() } }
        try expectOne(logs: [first, second], second)
        // A room that one node hides is shown by a message on the other, which knows the room already.
        let room = try first.makeDirect("alice", with: "bob")
        for _ in 0..<3 { try second.send(.init(room: room, sender: "bob")) }
        _ = try first.change(.removeMember(try UserID("alice")), in: room, by: "alice").get()
        #expect(try listed("alice", second) == [])
        try second.send(.init(room: room, sender: "bob"))
        #expect(try listed("alice", first) == [room])
    }

    // MARK: Erasure

    private func erasure(of user: String) throws -> Submission {
        Submission(
            ticket: Ticket(loop: 9, number: .random(in: 0 ... .max)), room: nil, sender: try UserID("root"),
            change: .user(try UserID(user), .erase), isAdmin: true)
    }

    private func erase(_ user: String, _ log: TestLog) throws { _ = try log.outcome(erasure(of: user)).get() }

    @Test func `takes no message once the erasure of the other user is accepted, but answers a repeated one`() throws {
        let log = try TestLog { $0.writers = 1 }
        let room = try log.makeDirect("alice", with: "bob")
        try log.send(.init(room: room, id: "a1"))
        let results = try log.submitAll([
            erasure(of: "bob"), log.submissions([.init(room: room, id: "a2")])[0],
            log.submission(.init(seq: 1, action: .edit(Edit(text: "new")), room: room, user: "alice")),
            log.submissions([.init(room: room, id: "a1")])[0],
            // A room with a new user of the name.
            log.directSubmission("carol", with: "bob"),
            log.submissions([.init(room: log.direct("carol", "bob"), sender: "carol", id: "c1")])[0],
        ])
        #expect(results.map(code) == [nil, "direct_room", "direct_room", nil, nil, nil])
    }

    private func waitUntilErased(_ user: String, _ log: TestLog) throws {
        let user = try UserID(user)
        try waitUntil {
            let status: ErasureStatus? = try? log.read(for: "root", isAdmin: true) { .server(.erasure(user, $0)) }
            return status?.state == .erased
        }
    }

    @Test func `of an erased user stays with the other, takes no messages, and is no namesake's`() throws {
        let log = try TestLog { $0.writers = 1 }
        let room = try log.makeDirect("alice", with: "bob")
        try log.sendAll([.init(text: "secret", room: room), .init(text: "mine", room: room, sender: "bob")])
        let empty = try log.makeDirect("carol", with: "alice")
        try erase("alice", log)
        try waitUntilErased("alice", log)
        let summary = try log.summary(of: room, for: "bob")
        #expect(summary.direct == .deleted && summary.role == .owner)
        #expect(try log.ask({ .members(after: nil, limit: 9, $0) }, of: room, for: "bob").members.count == 1)
        #expect(try log.page(of: room, for: "bob").count == 2)
        let first = try log.ask({ .message(seq: 1, $0) }, of: room, for: "bob")
        #expect(try Message(decoding: #require(first).body).sender == .deleted)
        #expect(try code(log.sendAll([.init(room: room, sender: "bob")])[0]) == "direct_room")
        #expect(throws: Problem.roomNotFound) { try log.page(of: room, for: "alice") }
        #expect(try code(log.sendAll([.init(room: room)])[0]) == "room_not_found")
        for (user, other) in [("alice", "bob"), ("bob", "alice"), ("alice", "carol")] {
            #expect(try code(log.outcome(log.directSubmission(user, with: other))) == "direct_room")
        }
        #expect(try listed("alice", log) == [] && listed("bob", log) == [room] && listed("carol", log) == [empty])
        log.close()
        try expectSound(log.path)
    }

    @Test func `is closed to the new user of a name already while the old one is being erased`() throws {
        let log = try TestLog { $0.writers = 1 }
        let room = try log.makeDirect("alice", with: "bob")
        try log.send(.init(room: room))
        let results = try log.submitAll([
            Submission(
                ticket: Ticket(loop: 9, number: 1), room: nil, sender: try UserID("root"),
                change: .user(try UserID("alice"), .erase), isAdmin: true),
            log.directSubmission("alice", with: "bob"), log.directSubmission("alice", with: "dave"),
            log.directSubmission("carol", with: "alice"),
        ])
        #expect(results.map { code($0) } == [nil, "direct_room", nil, nil])
        try waitUntilErased("alice", log)
        let new = try log.direct("alice", "dave")
        #expect(try listed("alice", log) == [new])
        try log.sendAll([.init(room: new), .init(room: try log.direct("alice", "carol"), sender: "carol")])
        #expect(try listed("dave", log) == [new] && listed("alice", log).count == 2)
        log.close()
        try expectSound(log.path)
    }
}
