import Testing

@testable import Transport

@Suite("A stall")
struct StallTests {
    @Test("There is hope for as many looks as there are, and none after")
    func givesUp() {
        var stall = Stall(acknowledged: 100, nextLook: 5)
        #expect(stall.nextLook == 5)
        for look in 1..<Stall.looks { #expect(stall.look(acknowledged: 100, nextLook: 5 + look)) }
        #expect(!stall.look(acknowledged: 100, nextLook: 99))
    }

    @Test("Whenever the client has taken something, its time begins anew")
    func bears() {
        var stall = Stall(acknowledged: 0, nextLook: 1)
        for round in 1...10 {
            #expect(stall.look(acknowledged: UInt64(round), nextLook: 2))
            for _ in 1..<Stall.looks { #expect(stall.look(acknowledged: UInt64(round), nextLook: 3)) }
        }
        #expect(!stall.look(acknowledged: 10, nextLook: 4))
    }
}
