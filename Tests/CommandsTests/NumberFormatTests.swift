import Commands
import Testing

@Suite struct NumberFormatTests {
    @Test func `whole numbers have separators`() {
        #expect(
            [0, 7, 999, 1000, 1_234_567, -1234].map { NumberFormat.whole($0) } == [
                "0", "7", "999", "1,000", "1,234,567", "-1,234",
            ])
        #expect(NumberFormat.whole(1234.5) == "1,235")
        #expect(NumberFormat.whole(Double.infinity) == "-")
    }

    @Test func `decimals have the requested number of digits`() {
        #expect(NumberFormat.fixed(0.25, 3) == "0.250")
        #expect(NumberFormat.fixed(1.999, 2) == "2.00")
        #expect(NumberFormat.fixed(-0.0001, 2) == "0.00")
        #expect(NumberFormat.fixed(-1.5, 1) == "-1.5")
        #expect(NumberFormat.fixed(12.5, 0) == "13")
        #expect(NumberFormat.fixed(.nan, 1) == "-")
    }

    @Test func `milliseconds keep their significant digits`() {
        #expect(
            [0.0123, 9.9994, 12.345, 123.45, 1234.5].map(NumberFormat.milliseconds) == [
                "0.012", "9.999", "12.35", "123.5", "1235",
            ])
    }

    @Test func `bytes have short units`() {
        #expect([12, 10_500, 1.25e6, 2.5e9].map(NumberFormat.bytes) == ["12 B", "10.5 kB", "1.3 MB", "2.50 GB"])
    }

    @Test func `a count has its noun`() {
        #expect(NumberFormat.count(1, "room") == "1 room")
        #expect(NumberFormat.count(1200, "room") == "1,200 rooms")
        #expect(NumberFormat.count(2, "retry", "retries") == "2 retries")
    }
}
