import Testing

@testable import Server

@Suite("Gathering changes")
struct GatheringTests {
    private let start = ContinuousClock.now

    @Test("continues while each turn brings more")
    func goesOn() {
        var gathering = Gathering()
        for count in [1, 2, 5] {
            let goesOn = gathering.goesOn(with: count, at: start)
            #expect(goesOn)
        }
        let goesOn = gathering.goesOn(with: 5, at: start)
        #expect(!goesOn)
    }

    @Test("does not start without changes, and does not read the clock")
    func nothing() {
        var gathering = Gathering()
        let goesOn = gathering.goesOn(with: 0, at: { preconditionFailure("nobody has to know the time") }())
        #expect(!goesOn)
    }

    @Test("ends when the first change has waited long enough")
    func limit() {
        var gathering = Gathering()
        for (count, wait, expected) in [
            (1, Duration.zero, true), (2, .microseconds(999), true), (3, Gathering.limit, false),
        ] {
            let goesOn = gathering.goesOn(with: count, at: start + wait)
            #expect(goesOn == expected)
        }
    }
}
