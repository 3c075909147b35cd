import Testing

@testable import Server

@Suite("A rate limit")
struct RateLimitTests {
    @Test(arguments: [
        ("50/s", 50, 1, 50), ("50/s:200", 50, 1, 200), ("10/m", 10, 60, 10), ("1/h:1", 1, 3600, 1),
        ("1000000/s:1000000", 1_000_000, 1, 1_000_000), ("7/m:2", 7, 60, 2),
    ])
    func `is parsed from its written form`(text: String, count: Int, seconds: Int, burst: Int) throws {
        let limit = try #require(RateLimit(text))
        #expect(limit.count == count && limit.period.seconds == seconds && limit.burst == burst)
        #expect(RateLimit(limit.description) == limit)
    }

    @Test(arguments: [
        "", "50", "50/", "/s", "50/d", "50/ss", "50/s:", "50/s:x", "0/s", "-1/s", "1/s:0", "1000001/s",
        "1/s:1000001", "5 /s", "5/s:1:2", "1.5/s",
    ])
    func `is refused without a valid period, or with numbers out of range`(text: String) {
        #expect(RateLimit(text) == nil)
    }
}
