import Testing

@testable import Load

@Suite struct BackoffTests {
    @Test func `the delay doubles up to a bound, with random jitter over half of it`() {
        var generator = SmallGenerator()
        for attempt in [1, 2, 3, 4, 5, 6, 50] {
            let whole: Int64 = min(100_000_000 << Int64(min(attempt, 20) - 1), 2_000_000_000)
            for _ in 0..<100 {
                #expect((whole / 2...whole).contains(Backoff.delay(attempt: attempt, using: &generator)))
            }
        }
    }

    @Test func `a small generator does not repeat soon`() {
        var generator = SmallGenerator()
        #expect(Set((0..<1000).map { _ in generator.next() }).count == 1000)
    }
}
