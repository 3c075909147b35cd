import Testing
import Wire

@Suite struct DurationUnitsTests {
    @Test func `nanoseconds are whole`() {
        #expect(Duration.seconds(3).nanoseconds == 3_000_000_000)
        #expect(Duration(secondsComponent: 1, attosecondsComponent: 1_999_999_999).nanoseconds == 1_000_000_001)
        #expect((Duration.zero - .milliseconds(1)).nanoseconds == -1_000_000)
    }

    @Test func `milliseconds are rounded up, so that a wait does not end early`() {
        #expect(Duration.seconds(3).milliseconds == 3000)
        #expect(Duration.nanoseconds(1).milliseconds == 1)
        #expect(Duration(secondsComponent: 1, attosecondsComponent: 1).milliseconds == 1001)
    }
}
