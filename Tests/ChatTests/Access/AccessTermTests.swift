import Testing

@testable import Chat

@Suite("The term of a node's knowledge of access")
struct AccessTermTests {
    @Test("is over until it is extended")
    func extended() {
        let term = AccessTerm()
        #expect(!term.isValid)
        term.extend(to: .now + .seconds(3600))
        #expect(term.isValid)
        term.lapse()
        #expect(!term.isValid)
    }

    @Test("is over once its end has passed")
    func passed() {
        let term = AccessTerm()
        term.extend(to: .now)
        #expect(!term.isValid)
    }

    @Test("is not shortened by an answer that comes late")
    func late() {
        let term = AccessTerm()
        term.extend(to: .now + .seconds(3600))
        term.extend(to: .now - .seconds(1))
        #expect(term.isValid)
    }

    @Test("has no end for the only server of a database")
    func unlimited() {
        #expect(AccessTerm.unlimited.isValid)
    }
}
