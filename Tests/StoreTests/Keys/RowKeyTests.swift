import Testing

@testable import Store

@Suite("The key of a row")
struct RowKeyTests {
    @Test("It holds every room and every place there may be, and stays positive")
    func bounds() {
        #expect(RowKey.maximumPlace == 68_719_476_735)
        #expect(RowKey.maximumRoom == 134_217_727)
        let last = RowKey(room: RowKey.maximumRoom, RowKey.maximumPlace)
        #expect(last.rawValue == .max)
        #expect(last.place == RowKey.maximumPlace)
        #expect(RowKey(room: 0, 0).rawValue == 0)
    }

    @Test("Rows are in the order of their rooms, and in a room in that of their places")
    func order() {
        let keys = [
            RowKey(room: 1, 0), RowKey(room: 1, 1), RowKey(room: 1, RowKey.maximumPlace), RowKey(room: 2, 0),
            RowKey(room: 2, 7), RowKey(room: RowKey.maximumRoom, 1),
        ].map(\.rawValue)
        #expect(keys == keys.sorted() && Set(keys).count == keys.count)
    }

    @Test("A place beyond either end is the one at that end, and not one of another room")
    func clamps() {
        #expect(RowKey(room: 3, -1).rawValue == RowKey(room: 3, 0).rawValue)
        #expect(RowKey(room: 3, .max).rawValue == RowKey(room: 3, RowKey.maximumPlace).rawValue)
        #expect(RowKey(room: 3, .max).rawValue < RowKey(room: 4, 0).rawValue)
    }

    @Test("What was stored gives the place back", arguments: [0, 1, 35, 1 << 35, RowKey.maximumPlace])
    func roundTrip(place: Int64) {
        for room in [1, 2, RowKey.maximumRoom] {
            #expect(RowKey(rawValue: RowKey(room: room, place).rawValue).place == place)
        }
    }
}
