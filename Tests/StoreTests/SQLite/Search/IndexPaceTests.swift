import Testing

@testable import Store

@Suite("The pace of indexing")
struct IndexPaceTests {
    private let start = ContinuousClock.now

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test func `is full beside small commits`() {
        var pace = IndexPace()
        pace.note(IndexPace.waiting - 1, at: at(0))
        pace.worked(from: at(1), to: at(3))
        #expect(pace.next == at(3))
    }

    @Test func `leaves most time to submissions that wait, until a while after them`() {
        var pace = IndexPace()
        pace.note(IndexPace.waiting, at: at(0))
        pace.worked(from: at(1), to: at(3))
        #expect(pace.next == at(203))
        pace.note(IndexPace.waiting, at: at(190))
        pace.worked(from: at(203), to: at(205))
        #expect(pace.next == at(405))
        pace.worked(from: at(288), to: at(290))
        #expect(pace.next == at(290))
    }
}
