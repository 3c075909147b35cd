import Testing
import Wire

@testable import Store

@Suite("The table of rooms")
struct RoomTableTests {
    private func room(_ number: Int64) -> RoomTable.Room {
        RoomTable.Room(number: number, head: 0, rev: 0, latest: .earliest)
    }

    @Test("It remembers as many rooms as it may, and begins anew with one more, but not before it is told to")
    func limit() throws {
        var table = RoomTable(limit: 3)
        let ids = try (0..<4).map { try RoomID("room\($0)") }
        for number in 0..<3 { table[ids[number]] = room(Int64(number)) }
        #expect((0..<3).allSatisfy { table[ids[$0]]?.number == Int64($0) })
        // One that it knows takes no further place.
        table[ids[1]] = room(10)
        #expect(table[ids[1]]?.number == 10 && table[ids[0]] != nil)
        table.keepWithinLimit()
        #expect(table[ids[2]]?.number == 2)
        table[ids[3]] = room(3)
        #expect(table[ids[3]]?.number == 3 && table[ids[2]]?.number == 2)
        table.keepWithinLimit()
        #expect(ids.allSatisfy { table[$0] == nil })
    }
}
