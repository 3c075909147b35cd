import Testing

@testable import Wire

@Suite struct JSONNumberTests {
    private func integer(_ text: String) throws -> Int64? {
        var json = try JSONScanner(Array(text.utf8))
        let number = try json.readNumber()
        try json.finish()
        return json.integer(number)
    }

    private func canonical(_ text: String) -> CanonicalNumber {
        CanonicalNumber(Array(text.utf8)[...])
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("0.000", 0), ("0e99999999999999999999", 0), ("5", 5), ("5.0", 5), ("5e0", 5),
            ("0.5e1", 5), ("500E-2", 5), ("-12", -12), ("1e18", 1_000_000_000_000_000_000),
            ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
            ("9.223372036854775807e18", Int64.max),
            ("92233720368547758070e-1", Int64.max), ("120", 120),
        ] as [(String, Int64)])
    func `an integer is recognized in any notation`(text: String, value: Int64) throws {
        #expect(try integer(text) == value)
    }

    @Test(arguments: [
        "1.5", "0.1", "-0.5", "1e-1", "9223372036854775808", "-9223372036854775809", "1e19", "1e400",
        "1e99999999999999999999", "1e-99999999999999999999", "123456789012345678901234567890",
        "1e9223372036854775807", "-1e9223372036854775807", "12e9223372036854775806", "1e-9223372036854775808",
        "0.1e9223372036854775807", "0.1e-9223372036854775808", "1e9223372036854775808", "1234567890123456789012e1",
    ])
    func `numbers that are not 64-bit integers are refused as integers`(text: String) throws {
        #expect(try integer(text) == nil)
    }

    @Test(arguments: [
        ("1", "1.0"), ("1", "1e0"), ("1", "10e-1"), ("1", "0.1E+1"), ("100", "1e2"), ("-1.50", "-15e-1"), ("0", "-0"),
        ("0", "0.0e5"), ("0.001", "1e-3"), ("1e400", "10e399"), ("1e400", "1E+400"), ("1e-400", "0.1e-399"),
        ("12345678901234567890", "1234567890123456789e1"), ("1e1000000", "10e999999"),
    ])
    func `numbers with the same value are equal`(a: String, b: String) {
        #expect(canonical(a) == canonical(b))
        #expect(written { canonical(a).append(to: &$0) } == written { canonical(b).append(to: &$0) })
    }

    @Test(arguments: [
        ("1", "-1"), ("1", "10"), ("1", "1.0000000000000000000001"), ("9007199254740993", "9007199254740992"),
        ("12345678901234567890123", "12345678901234567890124"), ("1e400", "1e401"), ("1e400", "-1e400"),
        ("0.1", "0.10000000000000001"), ("1e99999999999999999999", "1e99999999999999999998"), ("0", "1e-400"),
    ])
    func `numbers with different values are different, even if doubles are not`(a: String, b: String) {
        #expect(canonical(a) != canonical(b))
        #expect(written { canonical(a).append(to: &$0) } != written { canonical(b).append(to: &$0) })
    }

    @Test func `an exponent too large to calculate with is kept as written`() {
        #expect(canonical("1e99999999999999999999") == canonical("1e99999999999999999999"))
        #expect(written { canonical("1e9223372036854775807").append(to: &$0) } == "1e9223372036854775807")
        #expect(written { canonical("0.1e-9223372036854775808").append(to: &$0) } == "0.1e-9223372036854775808")
    }
}
