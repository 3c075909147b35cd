import Chat
import Testing
import Wire

@testable import Store

@Suite("The table of rooms")
struct RoomTableTests {
    private func room(_ number: Int64) -> RoomTable.Room {
        RoomTable.Room(number: number, RoomFacts())
    }

    @Test func `remembers up to its maximum, and is cleared only on request`() throws {
        var table = RoomTable(limit: 3)
        let ids = try (0..<4).map { try RoomID("room\($0)") }
        for number in 0..<3 { table.add(ids[number], room(Int64(number))) }
        #expect((0..<3).allSatisfy { table[ids[$0]]?.number == Int64($0) })
        // A known room takes no additional entry.
        var changed = try #require(table[ids[1]])
        changed.facts.head = 7
        table.update(changed)
        #expect(table[ids[1]]?.head == 7 && table[ids[0]]?.head == 0)
        table.keepWithinLimit()
        #expect(table[ids[2]]?.number == 2)
        table.add(ids[3], room(3))
        #expect(table[ids[3]]?.number == 3 && table[ids[2]]?.number == 2)
        table.keepWithinLimit()
        #expect(ids.allSatisfy { table[$0] == nil })
        table.add(ids[2], room(2))
        #expect(table[ids[2]]?.number == 2)
    }

    @Test func `keeps a room's batch for one commit`() throws {
        var table = RoomTable(limit: 3)
        table.beginCommit()
        var room = table.add(try RoomID("a"), room(1))
        #expect(room.batch(in: table.commit) == nil)
        room.setBatch(4, in: table.commit)
        #expect(room.batch(in: table.commit) == 4)
        table.beginCommit()
        #expect(room.batch(in: table.commit) == nil)
    }
}
