import BackscrollTimeline
import Server
import Testing

@testable import BackscrollClient

@Suite("Direct rooms, blocks, reports, mentions and profiles", .timeLimit(.minutes(30)))
struct PeopleTests {
    @Test func `open one direct room from both sides, and list it with the other user`() async throws {
        let server = try ChatServer()
        let (alice, bob) = (server.client("alice"), server.client("bob"))
        let inbox = try await alice.rooms.open()
        let room = try await alice.rooms.direct(with: "bob")
        #expect(room.direct == "bob" && room.visibility == .private && room.role == .owner)
        #expect(await inbox.view.rooms.map(\.id) == [room.id])
        try await alice.post("hello", to: room.id)
        let same = try await bob.rooms.direct(with: "alice")
        #expect(same.id == room.id && same.direct == "alice" && same.lastMessage?.text == "hello")
        #expect(try RoomSummary(json: same.json) == same)
        #expect(try await bob.room(room.id).open(at: .newest).view.texts == ["hello"])
        for client in [alice, bob] { await client.close() }
    }

    @Test func `keep a blocked user out of the direct room until the block ends`() async throws {
        let server = try ChatServer()
        let (alice, bob) = (server.client("alice"), server.client("bob"))
        let room = try await alice.rooms.direct(with: "bob")
        let block = try await alice.block("bob")
        #expect(block.userID == "bob" && block.createdAt != nil)
        #expect(try await alice.block("bob") == block)
        try await alice.block("carol")
        let first = try await alice.blocks(limit: 1)
        #expect(first.blocks == [block] && first.hasMore)
        let rest = try await alice.blocks(after: "bob")
        #expect(rest.blocks.map(\.id) == ["carol"] && !rest.hasMore)
        #expect(try await bob.blocks().blocks.isEmpty)
        let error = await #expect(throws: BackscrollClientError.self) { try await bob.rooms.direct(with: "alice") }
        #expect(error?.code == BackscrollClientError.blocked)
        try await alice.unblock("bob")
        try await alice.unblock("bob")
        #expect(try await bob.rooms.direct(with: "alice").id == room.id)
        for client in [alice, bob] { await client.close() }
    }

    @Test func `fold the messages of blocked users in a room, and show one of them`() async throws {
        let server = try ChatServer()
        for user in ["mallory", "bob", "mallory"] { try await server.client(user).post("hello", to: "lobby") }
        let client = server.client()
        let room = try await client.room("lobby")
        await room.setBlocked(["mallory"])
        try await room.open(at: .newest)
        func folded() async -> [Int64] { await room.view.rows.filter(\.isFolded).compactMap(\.seq) }
        #expect(await folded() == [1, 3])
        let before = await room.view
        await room.show(3)
        #expect(await folded() == [1])
        let difference = await room.view.difference(from: before)
        #expect(difference.updated.map(\.row.seq) == [3] && difference.inserted.isEmpty && difference.removed.isEmpty)
        await room.setBlocked([])
        #expect(await folded().isEmpty)
        await room.setBlocked(["bob", "mallory"])
        #expect(await folded() == [1, 2, 3])
        #expect(await room.timeline.rows.filter(\.isFolded).count == 3)
        await client.close()
    }

    @Test func `keep the set of blocked users current on all devices`() async throws {
        let server = try ChatServer()
        let (phone, desk) = (server.client(), server.client())
        // Ids are equal if their bytes are.
        let (composed, decomposed) = ("é", "e\u{301}")
        try await phone.block("bob")
        #expect(await desk.blockedUsers == nil)
        #expect(try await desk.followBlocks() == ["bob"])
        let inbox = try await desk.rooms.open()
        try await inbox.shows { $0.isLive }
        var changes = await desk.blockedUserChanges.makeAsyncIterator()
        #expect(await changes.next() == ["bob"])
        try await phone.block(composed)
        while let users = await changes.next(), users.count < 2 {}
        try await phone.block(decomposed)
        while let users = await changes.next(), users.count < 3 {}
        let all = ["bob", decomposed, composed]
        #expect(await desk.blockedUsers?.map { Array($0.utf8) } == all.map { Array($0.utf8) })
        try await phone.unblock(composed)
        while let users = await changes.next(), users.count > 2 {}
        // When a call of the client itself returns, the set has it.
        try await desk.unblock(decomposed)
        #expect(await desk.blockedUsers == ["bob"])
        await desk.enterBackground()
        try await inbox.shows { !$0.isLive }
        try await phone.unblock("bob")
        await desk.enterForeground()
        while let users = await changes.next(), !users.isEmpty {}
        #expect(await desk.blockedUsers == [])
        for client in [phone, desk] { await client.close() }
        while await changes.next() != nil {}
    }

    @Test func `fold the messages of users who are blocked on another device in all rooms`() async throws {
        let server = try ChatServer()
        try await server.fill(2)
        let (phone, desk) = (server.client(), server.client())
        let room = try await desk.room("lobby").open(at: .newest)
        let inbox = try await desk.rooms.open()
        try await inbox.shows { $0.isLive }
        try await desk.followBlocks()
        try await phone.block("bob")
        try await room.shows { $0.rows.count(where: \.isFolded) == 2 }
        // A room that is opened later, too.
        try await server.fill(1, in: "den")
        let later = try await desk.room("den").open(at: .newest)
        #expect(await later.view.rows.count(where: \.isFolded) == 1)
        // The notice may come before the answer, and then the rooms take it while the call returns.
        try await desk.unblock("bob")
        try await later.shows { $0.rows.count(where: \.isFolded) == 0 }
        // Notices come as long as the inbox is open.
        withExtendedLifetime(inbox) {}
        for client in [phone, desk] { await client.close() }
    }

    @Test func `report a message, again without effect, and refuse one that is not there`() async throws {
        let server = try ChatServer()
        try await server.fill(1)
        let client = server.client()
        try await client.report(1, in: "lobby", reason: .abuse, note: "a \"threat\"")
        try await client.report(1, in: "lobby", reason: .spam)
        let error = await #expect(throws: BackscrollClientError.self) {
            try await client.report(2, in: "lobby", reason: .other)
        }
        #expect(error?.code == BackscrollClientError.messageNotFound)
        await client.close()
    }

    @Test func `send, edit and list mentions`() async throws {
        let server = try ChatServer()
        let (alice, bob) = (server.client("alice"), server.client("bob"))
        let room = try await alice.room("lobby").open(at: .newest)
        var draft = ChatDraft("@bob, look")
        draft.mentions = [try UserID("bob")]
        #expect(try ChatDraft(json: draft.json) == draft)
        let message = try await room.send(draft)
        #expect(message.mentions.map(\.string) == ["bob"] && !message.mentionsRoom)
        #expect(try ChatMessage(json: message.json) == message)
        let second = try await room.send("nobody")
        try await room.edit(second.seq, mentions: [try UserID("bob")])
        let newest = try await bob.mentions(limit: 1)
        #expect(newest.messages.map(\.seq) == [2] && newest.messages[0].text == "nobody")
        let older = try await bob.mentions(after: newest.cursor)
        #expect(older.messages.map(\.seq) == [1] && older.cursor == nil)
        // An edit of the text keeps the mentions.
        #expect(try await room.edit(1, text: "@bob!").mentions == message.mentions)
        let everybody = try await room.edit(2, mentions: [], mentionsRoom: true)
        #expect(everybody.mentions.isEmpty && everybody.mentionsRoom)
        for client in [alice, bob] { await client.close() }
    }

    @Test func `send silent messages`() async throws {
        var draft = ChatDraft("quiet")
        draft.isSilent = true
        #expect(try ChatDraft(json: draft.json).isSilent && ChatDraft(json: draft.json) == draft)
        #expect(draft != ChatDraft("quiet", clientMessageID: draft.clientMessageID))
        let server = try ChatServer()
        let client = server.client("alice")
        let room = try await client.room("lobby").open(at: .newest)
        let message = try await room.send(draft)
        #expect(message.isSilent)
        #expect(try ChatMessage(json: message.json) == message)
        #expect(try await room.send("loud").isSilent == false)
        await client.close()
    }

    @Test func `list members with their profiles`() async throws {
        let server = try ChatServer()
        let (alice, bob) = (server.client("alice"), server.client("bob"))
        let profile = try await bob.setProfile(name: "Bob", data: Array(#"{"a":1}"#.utf8))
        try await alice.rooms.make("den")
        try await alice.rooms.add("bob", to: "den")
        let members = try await alice.rooms.members(of: "den", profiles: true).members
        #expect(members.map(\.id) == ["alice", "bob"] && members.map(\.profile) == [nil, profile])
        let rest = try await alice.rooms.members(of: "den", after: "alice", limit: 1, profiles: true)
        #expect(rest.members.map(\.profile?.name) == ["Bob"] && !rest.hasMore)
        #expect(try await alice.rooms.members(of: "den").members.allSatisfy { $0.profile == nil })
        for client in [alice, bob] { await client.close() }
    }

    @Test func `set the own profile and get those of many users`() async throws {
        let server = try ChatServer()
        let (alice, bob) = (server.client("alice"), server.client("bob"))
        let profile = try await alice.setProfile(
            name: "Alice", avatar: "https://example.com/a.png", data: Array(#"{"a":1}"#.utf8))
        #expect(profile.name == "Alice" && profile.data == Array(#"{"a":1}"#.utf8))
        #expect(try await alice.profiles(of: ["nobody", "alice"]) == [profile])
        #expect(try await alice.profiles(of: []).isEmpty)
        let changed = try await alice.setProfile(avatar: "")
        #expect(changed.name == "Alice" && changed.avatar == nil && changed.data == profile.data)
        let error = await #expect(throws: BackscrollClientError.self) { try await alice.setProfile(avatar: "no URL") }
        #expect(error?.code == BackscrollClientError.invalidField && error?.field == "avatar")
        for client in [alice, bob] { await client.close() }
    }
}
