import Chat
import TestSupport
import Testing
import Wire

@testable import Store

/// Blocks, as tests set them.
extension TestLog {
    /// Creates a submission that sets or removes a block.
    func blockSubmission(_ user: String, of other: String, _ isBlocked: Bool = true) throws -> Submission {
        try submission(.room(.setBlock(try UserID(other), isBlocked)), in: direct(user, other), by: user)
    }

    /// Blocks a user, or ends that.
    @discardableResult
    func block(_ user: String, of other: String, _ isBlocked: Bool = true) throws -> Receipt {
        try outcome(blockSubmission(user, of: other, isBlocked)).get()
    }

    /// Returns the users whom a user blocks.
    func blocked(by user: String, after: String? = nil, limit: Int = 10) throws -> [String] {
        let after = try after.map { try UserID($0) }
        let found = try read(for: user) { .own(.blocks(after: after, limit: limit, $0)) }
        return found.blocks.map(\.user.string) + (found.hasMore ? ["…"] : [])
    }
}

@Suite("A block")
struct BlockTests {
    private func code(_ result: Result<Receipt, Problem>) -> String? {
        if case .failure(let problem) = result { problem.code.string } else { nil }
    }

    /// Returns the refusals of what a user may do to a direct room's messages.
    private func refusals(_ user: String, _ seq: Int64, in room: String, _ log: TestLog) throws -> [String?] {
        try log.submitAll([
            log.submissions([.init(room: room, sender: user)])[0],
            log.submission(.init(seq: seq, action: .addReaction(ReactionKey("x")), room: room, user: user)),
            log.submission(.init(seq: seq, action: .edit(Edit(text: "new")), room: room, user: user)),
            log.submission(.init(seq: seq, action: .removeReaction(ReactionKey("x")), room: room, user: user)),
            log.submission(.read(seq: seq), in: room, by: user),
            log.submission(.init(seq: seq, action: .delete, room: room, user: user)),
        ]).map(code)
    }

    private static let blocked: [String?] = ["blocked", "blocked", "blocked", nil, nil, nil]
    private static let nothing: [String?] = Array(repeating: nil, count: 6)

    @Test(arguments: [false, true])
    func `refuses what the blocked user writes in the direct room of the two, and nothing else`(before: Bool) throws {
        var log = try TestLog()
        if before { try log.block("alice", of: "bob") }
        let room = try log.makeDirect("alice", with: "bob")
        if !before { try log.block("alice", of: "bob") }
        for sender in ["alice", "alice"] { try log.send(.init(room: room, sender: sender)) }
        #expect(try refusals("bob", 1, in: room, log).first == "blocked")
        log = try log.reopened()
        #expect(try code(log.sendAll([.init(room: room, sender: "bob")])[0]) == "blocked")
        #expect(try code(log.outcome(log.directSubmission("bob", with: "alice"))) == "blocked")
        #expect(try refusals("alice", 2, in: room, log) == Self.nothing)
        #expect(try log.page(of: room, for: "bob").count == 3)
        // Elsewhere nothing changes.
        try log.sendAll([.init(), .init(sender: "bob")])
        try log.react(to: 1, as: "bob")
        try log.block("alice", of: "bob", false)
        try log.send(.init(room: room, sender: "bob"))
        #expect(try refusals("bob", 4, in: room, log) == Self.nothing)
        try log.block("alice", of: "bob")
        #expect(try refusals("bob", 5, in: room, log) == Self.blocked)
        log.close()
        try expectSound(log.path)
    }

    @Test func `refuses settings, pins and deletions of the other's messages there, not of one's own`() throws {
        let log = try TestLog()
        let room = try log.makeDirect("alice", with: "bob")
        for sender in ["alice", "bob"] { try log.send(.init(room: room, sender: sender)) }
        try log.block("alice", of: "bob")
        func refusals(_ user: String, isAdmin: Bool = false) throws -> [String?] {
            let changes: [Submission.Change] = [
                .room(.set(RoomSettings(title: "ours"))), .change(MessageChange(seq: 1, action: .pin)),
                .change(MessageChange(seq: 1, action: .unpin)), .change(MessageChange(seq: 1, action: .delete)),
                .change(MessageChange(seq: 2, action: .delete)),
            ]
            return try log.submitAll(
                changes.map { try log.submission($0, in: room, by: user, isAdmin: isAdmin) }
            ).map(code)
        }
        #expect(try refusals("bob") == ["blocked", "blocked", "blocked", "blocked", nil])
        #expect(try refusals("bob", isAdmin: true) == ["blocked", "blocked", "blocked", nil, nil])
        #expect(try log.summary(of: room, for: "alice").title == nil)
        #expect(try refusals("alice").last == .some(nil) && refusals("alice").first == .some(nil))
    }

    @Test func `leaves a repeated send its answer`() throws {
        var log = try TestLog()
        let room = try log.makeDirect("alice", with: "bob")
        let stored = try log.send(.init(text: "hi", room: room, sender: "bob", id: "b1"))
        try log.block("alice", of: "bob")
        for _ in 0..<2 {
            let again = try log.send(.init(text: "hi", room: room, sender: "bob", id: "b1"))
            #expect(!again.isNew && again.body == stored.body)
            #expect(try code(log.sendAll([.init(text: "hi", room: room, sender: "bob", id: "b2")])[0]) == "blocked")
            log = try log.reopened()
        }
    }

    @Test func `is seen by a read of the direct room by the blocked user`() throws {
        let log = try TestLog()
        let room = try log.makeDirect("alice", with: "bob")
        try log.block("alice", of: "bob")
        func isBlocked(_ user: String, in room: String) throws -> Bool {
            let id = try RoomID(room)
            return try log.read(for: user) { .room(id, .isBlocked($0)) }
        }
        #expect(try isBlocked("bob", in: room) && !isBlocked("alice", in: room))
        try log.send(.init())
        #expect(try !isBlocked("bob", in: "lobby"))
    }

    @Test func `keeps the blocked user from making the direct room and from adding the user to rooms`() throws {
        let log = try TestLog()
        try log.block("alice", of: "bob")
        try log.send(.init(sender: "bob"))
        let (alice, carol) = (try UserID("alice"), try UserID("carol"))
        #expect(try code(log.outcome(log.directSubmission("bob", with: "alice"))) == "blocked")
        #expect(try code(log.change(.setMember(alice, nil), by: "bob")) == "blocked")
        #expect(try code(log.change(.setMember(carol, nil), by: "bob")) == nil)
        // An admin adds anybody, and members are changed as before.
        #expect(try code(log.change(.setMember(alice, nil), by: "bob", isAdmin: true)) == nil)
        #expect(try code(log.change(.setMember(alice, .owner), by: "bob")) == nil)
        // The one who blocks may write to the other.
        let room = try log.makeDirect("alice", with: "bob")
        try log.send(.init(room: room))
        #expect(try log.inbox(of: "bob").rooms.map(\.summary.room.string).contains(room))
        #expect(try code(log.sendAll([.init(room: room, sender: "bob")])[0]) == "blocked")
    }

    @Test func `is listed for its user only, in pages, and kept once`() throws {
        var log = try TestLog()
        for other in ["d", "b", "ä"] { #expect(try log.block("alice", of: other).isNew) }
        #expect(try !log.block("alice", of: "b").isNew)
        for _ in 0..<2 {
            #expect(try log.blocked(by: "alice", limit: 2) == ["b", "d", "…"])
            #expect(try log.blocked(by: "alice", after: "d", limit: 2) == ["ä"])
            #expect(try log.blocked(by: "b") == [])
            log = try log.reopened()
        }
        #expect(try code(log.outcome(log.blockSubmission("alice", of: "alice"))) == "forbidden")
        #expect(try log.block("alice", of: "b", false).isNew)
        #expect(try !log.block("alice", of: "b", false).isNew)
        #expect(try log.blocked(by: "alice") == ["d", "ä"])
    }

    @Test func `above the maximum of a user is refused, unless it exists`() throws {
        let log = try TestLog()
        let blocks = try (1...Limits.userBlocks).map { try log.blockSubmission("alice", of: "user\($0)") }
        for result in try log.submitAll(blocks) { #expect(code(result) == nil) }
        #expect(try code(log.outcome(log.blockSubmission("alice", of: "bob"))) == "too_many_blocks")
        #expect(try code(log.outcome(log.blockSubmission("alice", of: "user7"))) == nil)
        #expect(try code(log.outcome(log.blockSubmission("bob", of: "alice"))) == nil)
    }

    @Test func `applies to later submissions in the same commit, not to earlier ones`() throws {
        let log = try TestLog()
        let room = try log.makeDirect("alice", with: "bob")
        let results = try log.submitAll(
            log.submissions([.init(room: room, sender: "bob")]) + [log.blockSubmission("alice", of: "bob")]
                + log.submissions([.init(room: room, sender: "bob")])
                + [log.blockSubmission("alice", of: "bob", false)]
                + log.submissions([.init(room: room, sender: "bob")]))
        #expect(results.map { code($0) } == [nil, nil, "blocked", nil, nil])
    }

    @Test(.partOfPostgreSQL)
    func `holds on every node once it is answered`() throws {
        let postgres = try TestPostgres.shared()
        let url = postgres.url(of: try postgres.createDatabase())
        let (first, second) = (try TestLog(postgres: url), try TestLog(postgres: url))
        defer { for log in [first, second] { log.close() } }
        let room = try first.makeDirect("alice", with: "bob")
        for round in 0..<50 {
            // The second node knows the room, and what it permits.
            for _ in 0..<2 { try second.send(.init(room: room, sender: "bob")) }
            try first.block("alice", of: "bob")
            let refused = try second.sendAll([.init(room: room, sender: "bob")])[0]
            #expect(code(refused) == "blocked", "round \(round)")
            try first.block("alice", of: "bob", false)
        }
        // Also if the room is made at the same time.
        for number in 0..<100 {
            let (user, other) = ("u\(number)", "v\(number)")
            inParallel(2) { index in
                if index == 0 {
                    _ = try first.outcome(first.directSubmission(other, with: user))
                    _ = try first.sendAll([.init(room: first.direct(user, other), sender: other)])
                } else {
                    try second.block(user, of: other)
                }
            }
            let late = try first.sendAll([.init(room: first.direct(user, other), sender: other)])[0]
            #expect(["blocked", "room_not_found"].contains(code(late)), "\(number)")
        }
    }

    @Test func `of an erased user and by them is removed`() throws {
        let log = try TestLog { $0.writers = 1 }
        for number in 0..<300 { try log.block("user\(number)", of: "alice") }
        for other in ["bob", "carol"] { try log.block("alice", of: other) }
        try log.block("bob", of: "carol")
        let user = try UserID("alice")
        _ = try log.outcome(
            Submission(
                ticket: Ticket(loop: 9, number: 1), room: nil, sender: try UserID("root"), change: .user(user, .erase),
                isAdmin: true)
        ).get()
        #expect(try log.blocked(by: "alice") == [])
        // Those of the next user of the name stay.
        try log.block("alice", of: "dave")
        try waitUntil {
            let status: ErasureStatus? = try? log.read(for: "root", isAdmin: true) { .server(.erasure(user, $0)) }
            return status?.state == .erased
        }
        #expect(try log.blocked(by: "alice") == ["dave"])
        #expect(try log.count("blocks") == 2)
    }
}
