import Testing

@testable import Transport

@Suite("A stalled client")
struct StallTests {
    @Test func `is dropped after a number of checks without progress`() {
        var stall = Stall(acknowledged: 100, nextLook: 5)
        #expect(stall.nextLook == 5)
        let hopes = (1...4).map { stall.look(acknowledged: 100, nextLook: 5 + $0) }
        #expect(hopes == [true, true, true, false])
        #expect(stall.nextLook == 9)
    }

    @Test func `starts anew whenever it makes progress`() {
        var stall = Stall(acknowledged: 0, nextLook: 1)
        let hopes = [1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3].map { stall.look(acknowledged: $0, nextLook: 2) }
        #expect(hopes == Array(repeating: true, count: 10) + [false])
    }
}
