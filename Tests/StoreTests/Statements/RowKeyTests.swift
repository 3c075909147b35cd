import Testing

@testable import Store

@Suite("A row key")
struct RowKeyTests {
    @Test func `holds every room and place, and is positive`() {
        #expect(RowKey.maximumOrdinal == 68_719_476_735)
        #expect(RowKey.maximumRoom == 134_217_727)
        let last = RowKey(room: RowKey.maximumRoom, RowKey.maximumOrdinal)
        #expect(last.rawValue == .max)
        #expect(last.ordinal == RowKey.maximumOrdinal)
        #expect(RowKey(room: 0, 0).rawValue == 0)
    }

    @Test func `sorts by room, then by place`() {
        let keys = [
            RowKey(room: 1, 0), RowKey(room: 1, 1), RowKey(room: 1, RowKey.maximumOrdinal), RowKey(room: 2, 0),
            RowKey(room: 2, 7), RowKey(room: RowKey.maximumRoom, 1),
        ].map(\.rawValue)
        #expect(keys == keys.sorted() && Set(keys).count == keys.count)
    }

    @Test func `clamps places beyond either end, and never reaches another room`() {
        #expect(RowKey(room: 3, -1).rawValue == RowKey(room: 3, 0).rawValue)
        #expect(RowKey(room: 3, .max).rawValue == RowKey(room: 3, RowKey.maximumOrdinal).rawValue)
        #expect(RowKey(room: 3, .max).rawValue < RowKey(room: 4, 0).rawValue)
    }

    @Test(arguments: [0, 1, 35, 1 << 35, RowKey.maximumOrdinal])
    func `gives the place back`(place: Int64) {
        for room in [1, 2, RowKey.maximumRoom] {
            #expect(RowKey(rawValue: RowKey(room: room, place).rawValue).ordinal == place)
        }
    }
}
