import Testing

@testable import Store

@Suite("The pace of indexing")
struct IndexPaceTests {
    private let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test("is full beside small commits")
    func small() {
        var pace = IndexPace()
        pace.note(IndexPace.waiting - 1, at: at(0))
        pace.worked(from: at(1), to: at(3))
        #expect(pace.next == at(3))
    }

    @Test("leaves most time to submissions that wait, until a while after them")
    func large() {
        var pace = IndexPace()
        pace.note(IndexPace.waiting, at: at(0))
        pace.worked(from: at(1), to: at(3))
        #expect(pace.next == at(83))
        pace.note(IndexPace.waiting, at: at(80))
        pace.worked(from: at(83), to: at(85))
        #expect(pace.next == at(165))
        pace.worked(from: at(178), to: at(180))
        #expect(pace.next == at(180))
    }
}
