import Testing

@testable import Chat

@Suite("The term of a node's knowledge of access")
struct AccessTermTests {
    @Test func `is over until it is extended`() {
        let term = AccessTerm()
        #expect(!term.isValid)
        term.extend(to: .now + .seconds(3600))
        #expect(term.isValid)
    }

    @Test func `is over once its end has passed`() {
        let clock = ManualClock()
        let term = AccessTerm { clock.now }
        term.extend(to: clock.now + .seconds(1))
        #expect(term.isValid)
        clock.advance(by: .seconds(1))
        #expect(!term.isValid)
    }

    @Test func `is not shortened by an answer that comes late`() {
        let term = AccessTerm()
        term.extend(to: .now + .seconds(3600))
        term.extend(to: .now - .seconds(1))
        #expect(term.isValid)
    }

    @Test func `has no end for the only server of a database`() {
        #expect(AccessTerm.unlimited.isValid)
    }
}
