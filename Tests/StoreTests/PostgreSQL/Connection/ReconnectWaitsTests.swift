import Testing

@testable import Store

@Suite("Waits before connecting again")
struct ReconnectWaitsTests {
    @Test func `double from 50 ms to one second, and are a random part of that`() {
        var waits = ReconnectWaits()
        for longest in [50, 100, 200, 400, 800, 1000, 1000] as [Double] {
            let wait = waits.next()
            #expect(wait >= .milliseconds(longest / 2) && wait <= .milliseconds(longest))
        }
    }
}
