import Testing

@testable import Server

@Suite("Gathering changes")
struct GatheringTests {
    private let start = ContinuousClock.now

    @Test func `continues while each turn brings more`() {
        var gathering = Gathering()
        for count in [1, 2, 5] {
            let goesOn = gathering.goesOn(with: count, at: start)
            #expect(goesOn)
        }
        let goesOn = gathering.goesOn(with: 5, at: start)
        #expect(!goesOn)
    }

    @Test func `does not start without changes, and does not read the clock`() {
        var gathering = Gathering()
        let goesOn = gathering.goesOn(with: 0, at: { preconditionFailure("nobody has to know the time") }())
        #expect(!goesOn)
    }

    @Test func `ends when the first change has waited long enough`() {
        var gathering = Gathering()
        for (count, wait, expected) in [
            (1, Duration.zero, true), (2, .microseconds(999), true), (3, Gathering.limit, false),
        ] {
            let goesOn = gathering.goesOn(with: count, at: start + wait)
            #expect(goesOn == expected)
        }
    }
}
