import Chat
import Testing
import Wire

@testable import Server

@Suite("A table of subscriptions")
struct SubscriptionTableTests {
    private let rooms = try! ["a", "b", "c", "d"].map { try RoomID($0) }

    private func table() -> SubscriptionTable {
        var table = SubscriptionTable()
        for room in rooms {
            let feed = Feed(room: room, in: FeedContext(epoch: "E"))
            table.insert(Subscription(feed: feed, format: .webSocket, user: nil, since: nil))
        }
        return table
    }

    @Test func `finds a subscription by its room, also after others were removed`() {
        var table = table()
        for (index, room) in rooms.enumerated() {
            #expect(table.remove(room)?.feed.room == room)
            #expect(table.remove(room) == nil)
            #expect(table[room] == nil)
            #expect(table.count == rooms.count - index - 1)
            for other in rooms[(index + 1)...] { #expect(table[other]?.feed.room == other) }
        }
    }

    @Test func `gives each subscription a turn before any gets another`() {
        var table = table()
        for _ in 1...3 { #expect(Set((0..<4).map { _ in table.next().feed.room }).count == 4) }
        _ = table.next()
        table.remove(rooms[0])
        for _ in 1...3 { #expect(Set((0..<3).map { _ in table.next().feed.room }).count == 3) }
    }
}
