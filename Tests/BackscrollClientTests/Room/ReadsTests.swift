import BackscrollTimeline
import Server
import Testing

@testable import BackscrollClient

@Suite("Who has read what", .timeLimit(.minutes(30)))
struct ReadsTests {
    /// The numbers of members who have not read each message, and the ticks of own messages.
    private func numbers(_ change: RoomChange) -> [String] {
        guard let readership = change.readership else { return [] }
        return change.view.rows.compactMap { row in
            row.unreadCount(in: readership).map { count in
                "\(count)" + (row.tick(in: readership).map { " \($0.rawValue)" } ?? "")
            }
        }
    }

    /// Waits until the room shows these numbers.
    private func shows(_ expected: [String], in room: Room) async throws {
        for await change in room.changes where numbers(change) == expected { return }
        throw NothingMore(ending: await room.ending)
    }

    @Test func `is right in a room of five who read on two devices, leave, join and are removed`() async throws {
        let server = try ChatServer { $0.readNoticeInterval = .milliseconds(20) }
        let client = server.client()
        for text in ["1", "2"] { try await client.post(text, to: "five") }
        for user in ["bob", "carol", "dora", "eve"] { try await client.rooms.add(user, to: "five") }
        let (phone, desk) = (server.client("bob"), server.client("bob"))
        try await phone.rooms.markRead("five", upTo: 1)
        let room = try await client.room("five").open(at: .newest)
        try await room.isLive()
        await room.setViewport(atBottom: true, lastVisible: 2)
        try await room.followReads()
        try await shows(["3 read_by_some", "4 stored"], in: room)
        // Two devices of one user are one reader.
        try await desk.rooms.markRead("five", upTo: 2)
        try await phone.rooms.markRead("five", upTo: 2)
        try await shows(["3 read_by_some", "3 read_by_some"], in: room)
        try await server.client("carol").post("3", to: "five")
        // A message moves the mark only once it is loaded.
        try await shows(["3 read_by_some", "3 read_by_some", "4"], in: room)
        await room.setViewport(atBottom: true, lastVisible: 3)
        try await shows(["3 read_by_some", "3 read_by_some", "3"], in: room)
        try await server.client("carol").rooms.markRead("five", upTo: 3)
        try await shows(["2 read_by_some", "2 read_by_some", "3"], in: room)
        // Nothing tells of these, so they show after a while.
        try await server.client("dora").rooms.leave("five")
        try await shows(["1 read_by_some", "1 read_by_some", "2"], in: room)
        try await client.rooms.remove("eve", from: "five")
        try await shows(["0 read_by_all", "0 read_by_all", "1"], in: room)
        try await server.client("frank").rooms.join("five")
        try await shows(["1 read_by_some", "1 read_by_some", "2"], in: room)
        // The loops over changes hear of a state before the main actor; a call returns when both have.
        try await room.followReads()
        #expect(await room.timeline.readership == room.readership)
        for client in [client, phone, desk] { await client.close() }
    }

    @Test func `is loaded again after a lost connection`() async throws {
        let server = try ChatServer()
        let client = server.client()
        try await client.post("1", to: "lobby")
        try await client.rooms.add("bob", to: "lobby")
        let room = try await client.room("lobby").open(at: .newest)
        try await room.isLive()
        try await room.followReads()
        try await shows(["1 stored"], in: room)
        await client.enterBackground()
        try await room.shows { $0.connection == .offline }
        try await server.client("bob").rooms.markRead("lobby", upTo: 1)
        await client.enterForeground()
        try await shows(["0 read_by_all"], in: room)
        await client.close()
    }

    @Test func `is told in pages, with times`() async throws {
        let server = try ChatServer()
        try await server.fill(3)
        for (user, seq) in [("carol", 1), ("bob", 3)] as [(String, Int64)] {
            try await server.client(user).rooms.markRead("lobby", upTo: seq)
        }
        let client = server.client()
        let room = try await client.room("lobby")
        let first = try await room.reads(limit: 1)
        #expect(first.marks.map(\.userID) == ["bob"] && first.hasMore && first.marks[0].movedAt != nil)
        let rest = try await room.reads(after: "bob")
        #expect(rest.marks.map(\.userID) == ["carol"] && rest.marks[0].seq == 1 && !rest.hasMore)
        #expect(try await room.reads(from: 2).marks.map(\.userID) == ["bob"])
        await client.close()
    }

    @Test func `is refused by a server that tells nobody`() async throws {
        let server = try ChatServer { $0.readReceipts = false }
        try await server.fill(1)
        let client = server.client()
        let room = try await client.room("lobby").open(at: .newest)
        for call in [{ try await room.followReads() }, { _ = try await room.reads() }] as [() async throws -> Void] {
            let error = await #expect(throws: BackscrollClientError.self) { try await call() }
            #expect(error?.code == BackscrollClientError.receiptsOff)
        }
        #expect(await room.readership == nil)
        await client.close()
    }
}
