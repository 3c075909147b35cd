import Testing

@testable import Server

@Suite("The limit on a client's frames in a second")
struct FrameRateTests {
    private func at(_ milliseconds: Int) -> Duration { .milliseconds(5000 + milliseconds) }

    @Test func `counts frames whatever reads bring them`() {
        var rate = FrameRate(limit: 10, start: at(0))
        for (frames, time) in [(0, 1), (4, 400), (9, 999)] {
            rate.beginWindowIfDue(after: frames, at: at(time))
            #expect(!rate.isExceeded(by: 10))
            #expect(rate.isExceeded(by: 11))
        }
    }

    @Test func `starts anew with the first read after a second`() {
        var rate = FrameRate(limit: 10, start: at(0))
        rate.beginWindowIfDue(after: 10, at: at(1000))
        #expect(!rate.isExceeded(by: 20))
        #expect(rate.isExceeded(by: 21))
        rate.beginWindowIfDue(after: 15, at: at(1999))
        #expect(rate.isExceeded(by: 21))
    }

    @Test func `does not grow during a pause`() {
        var rate = FrameRate(limit: 10, start: at(0))
        rate.beginWindowIfDue(after: 3, at: at(60_000))
        #expect(!rate.isExceeded(by: 13))
        #expect(rate.isExceeded(by: 14))
    }
}
