import Testing

@testable import Transport

@Suite("The table of connections")
struct TableTests {
    private let loop: Loop
    private let group: LoopGroup

    init() throws {
        group = try LoopGroup(count: 1)
        loop = group.loops[0]
    }

    @Test func `reuses slots, but never numbers`() {
        defer { group.stop() }
        var table = ConnectionTable()
        func insert() -> Connection {
            table.insert { slot, id in
                Connection(loop: loop, slot: slot, id: id, peer: "", isSecure: false, count: nil)
            }
        }
        let first = insert()
        let second = insert()
        #expect((first.slot, first.id) == (0, 1) && (second.slot, second.id) == (1, 2))
        #expect(table.count == 2)
        table.remove(first.slot)
        #expect(table.count == 1)
        #expect(table[0, 1] == nil)
        let third = insert()
        #expect((third.slot, third.id) == (0, 3))
        #expect(table[0, 1] == nil && table[0, 3] === third && table[1, 2] === second)
        #expect(table.all.map(\.id) == [3, 2])
    }
}
