import Testing

@testable import Server

@Suite("Gathering changes")
struct GatheringTests {
    private let start = ContinuousClock.now

    @Test("goes on as long as each turn brings some")
    func goesOn() {
        var gathering = Gathering()
        for count in [1, 2, 5] {
            let goesOn = gathering.goesOn(with: count, at: start)
            #expect(goesOn)
        }
        let goesOn = gathering.goesOn(with: 5, at: start)
        #expect(!goesOn)
    }

    @Test("does not begin without any, nor is the clock looked at")
    func nothing() {
        var gathering = Gathering()
        let goesOn = gathering.goesOn(with: 0, at: { preconditionFailure("nobody has to know the time") }())
        #expect(!goesOn)
    }

    @Test("ends when the first has waited for long enough, whatever comes")
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
