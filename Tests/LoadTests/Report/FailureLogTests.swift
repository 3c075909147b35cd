import Testing

@testable import Load

@Suite struct FailureLogTests {
    @Test func `equal texts are counted, and only a few are kept`() {
        var log = FailureLog()
        for number in 0..<8 { log.note("reason \(number % 7)") }
        #expect(log.lines.count == FailureLog.keptTexts + 1)
        #expect(log.lines.first == "reason 0 (2 times)")
        #expect(log.lines.last == "and 2 others")
        var other = FailureLog()
        other.note("reason 1", count: 3)
        other.add(log)
        #expect(other.lines.first == "reason 1 (4 times)")
        #expect(FailureLog().isEmpty)
    }
}
