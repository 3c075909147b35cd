import Chat
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Reactions")
struct ReactionTests {
    private func reactions(_ message: StoredMessage) throws -> [Reaction] {
        try Message(decoding: message.body).reactions
    }

    private func reaction(_ key: String, _ users: String...) throws -> Reaction {
        Reaction(key: key, count: users.count, users: try users.map { try UserID($0) })
    }

    @Test func `are in the order of their first use, with users in the order of reacting`() throws {
        let log = try TestLog()
        try log.fill(1)
        try log.react("b", to: 1, as: "zoe")
        try log.react("a", to: 1, as: "zoe")
        let last = try log.react("b", to: 1, as: "alice")
        #expect(try reactions(last) == [reaction("b", "zoe", "alice"), reaction("a", "zoe")])
        #expect(last.rev == 4)
        #expect(try log.message(1) == last.body)
        // A key that was removed completely counts as new when it is used again.
        try log.unreact("b", to: 1, as: "zoe")
        #expect(try reactions(log.unreact("b", to: 1, as: "alice")) == [reaction("a", "zoe")])
        #expect(try reactions(log.react("b", to: 1, as: "zoe")) == [reaction("a", "zoe"), reaction("b", "zoe")])
    }

    @Test func `have lists of all their users, in parts, also beyond those of the snapshot`() throws {
        let log = try TestLog()
        try log.fill(1)
        let names = (0..<60).map { "user-\($0 / 10)\($0 % 10)" }
        for name in names.reversed() { try log.react("x", to: 1, as: name) }
        try log.react("y", to: 1, as: "zoe")
        func part(_ key: String, of seq: Int64 = 1, after: String? = nil, limit: Int = 100) throws -> ReactingUsers? {
            let (key, user) = (try ReactionKey(key), try after.map { try UserID($0) })
            return try log.ask { .reactions(seq: seq, key, after: user, limit: limit, $0) }
        }
        #expect(try part("x")?.users.map(\.string) == names)
        #expect(try part("x")?.hasMore == false)
        let middle = try #require(try part("x", after: "user-09", limit: 3))
        #expect(middle.users.map(\.string) == ["user-10", "user-11", "user-12"] && middle.hasMore)
        #expect(try part("x", after: "user-59")?.users == [])
        #expect(try part("y")?.users.map(\.string) == ["zoe"])
        #expect(try part("z")?.users == [])
        #expect(try part("x", of: 2) == nil)
    }

    @Test func `count once for each key and user; repetitions change nothing`() throws {
        let log = try TestLog()
        try log.fill(1)
        let first = try log.react(to: 1, as: "bob")
        #expect(try log.react(to: 1, as: "bob").body == first.body)
        #expect(log.listener.commits.events.last?.batches.isEmpty == true)
        #expect(try log.unreact("other", to: 1, as: "bob").body == first.body)
        #expect(try log.unreact(to: 1, as: "carol").body == first.body)
        #expect(try log.state().rev == 2)
        let removed = try log.unreact(to: 1, as: "bob")
        #expect(removed.rev == 3)
        #expect(try reactions(removed).isEmpty)
        #expect(try log.unreact(to: 1, as: "bob").body == removed.body)
        #expect(try log.state().rev == 3)
    }

    @Test func `are compared by their bytes`() throws {
        let log = try TestLog()
        try log.fill(1)
        for key in ["❤", "❤️", "\u{E9}", "e\u{301}", "E\u{301}"] { try log.react(key, to: 1) }
        #expect(try log.stored(1).map(reactions)?.map(\.count) == [1, 1, 1, 1, 1])
    }

    @Test func `are bounded in number of keys`() throws {
        let log = try TestLog()
        try log.fill(1)
        for key in 0..<Limits.reactionKeys { try log.react("\(key)", to: 1) }
        #expect(throws: Problem.tooManyReactions) { try log.react("more", to: 1) }
        #expect(try log.state().rev == 33)
        #expect(try reactions(log.react("0", to: 1, as: "bob"))[0].count == 2)
        try log.unreact("7", to: 1)
        #expect(try reactions(log.react("more", to: 1)).last?.key == "more")
    }

    @Test func `name the first users and count all, whoever takes a reaction back`() throws {
        let log = try TestLog()
        try log.fill(1)
        let users = (0..<3000).map { "user\($0)" }
        let add = try users.map { user in
            try log.submission(.init(seq: 1, action: .addReaction(ReactionKey("+1")), user: user))
        }
        for result in try log.submitAll(add) { _ = try result.get() }
        var model = users
        func expectModel() throws {
            let reaction = try #require(try log.stored(1).map(reactions)?.first)
            #expect(reaction.count == model.count)
            #expect(reaction.users.map(\.string) == Array(model.prefix(50)))
        }
        try expectModel()
        for index in [0, 48, 49, 50, 2000, 12] {
            try log.unreact("+1", to: 1, as: model[index])
            model.remove(at: index)
            try expectModel()
        }
        // The reaction is back, but as the last one.
        try log.react("+1", to: 1, as: "user0")
        model.append("user0")
        try expectModel()
        #expect(try log.changes(since: 1).messages == log.message(1))
        try log.delete(1)
        try waitUntil { try log.count("reactions") == 0 }
    }

    @Test func `to a deleted message are refused; removing one succeeds`() throws {
        let log = try TestLog()
        try log.fill(1)
        try log.react(to: 1, as: "bob")
        let tombstone = try log.delete(1)
        #expect(throws: Problem.messageDeleted) { try log.react(to: 1, as: "bob") }
        #expect(try log.unreact(to: 1, as: "bob").body == tombstone.body)
        #expect(throws: Problem.messageNotFound) { try log.react(to: 2) }
    }

    @Test func `need one of the revisions in their condition`() throws {
        let log = try TestLog()
        try log.fill(1)
        let like = TestLog.Change(seq: 1, action: .addReaction(try ReactionKey("x")), user: "bob", revs: [2])
        #expect(throws: Problem.preconditionFailed(rev: 1)) { try log.change(like) }
        #expect(try log.count("reactions") == 0)
    }

    @Test func `survive an edit and a restart`() throws {
        let log = try TestLog()
        try log.fill(1)
        try log.react(to: 1, as: "bob")
        try log.edit(1, "bye")
        let again = try log.reopened()
        #expect(try reactions(again.react(to: 1, as: "carol")) == [reaction("❤️", "bob", "carol")])
        #expect(try again.state() == RoomState(head: 1, rev: 4))
    }

    @Test func `to large messages are spread over commits, each within its bound`() throws {
        let log = try TestLog { $0.commit.bytes = 10_000 }
        try log.send(.init(text: String(repeating: "x", count: 4000)))
        let likes = try (0..<20).map {
            try log.submission(.init(seq: 1, action: .addReaction(ReactionKey("+1")), user: "u\($0)"))
        }
        let revs = try log.submitAll(likes).map { try $0.get().rev }
        #expect(revs == Array(2...21))
        let commits = log.listener.commits.events.dropFirst()
        #expect(commits.count >= 7 && commits.allSatisfy { $0.outcomes.count <= 3 })
        #expect(commits.flatMap(\.batches).flatMap(\.messages).count == 20)
    }
}
