import ArgumentParser
import Testing

@testable import Load

@Suite struct NumberBoundsTests {
    /// Each option with its bounds and the options it needs.
    static let options: [(name: String, lowest: String, highest: String, others: [String])] = [
        ("--subscribers", "0", "1000000", []), ("--rooms", "1", "1000000", []),
        ("--active-rooms", "1", "7", ["--rooms=7"]), ("--in-flight", "1", "10000", []),
        ("--rate", "0.001", "1000000", []), ("--size", "0", "1048576", []), ("--messages", "1", "100000000", []),
        ("--storm", "1", "1000000", ["--rate=5"]), ("--back", "0", "10000000", ["--storm=5", "--rate=5"]),
        ("--stall", "1", "1000000", ["--rate=5", "--subscribers=1000000"]),
        ("--stall-seconds", "0.001", "3600", ["--stall=5", "--rate=5"]), ("--seconds", "0.001", "86400", []),
        ("--warmup", "0", "86400", []), ("--settle", "0", "86400", []), ("--drain", "0", "86400", []),
        ("--connect-burst", "1", "1000000", []), ("--connect-rate", "0.001", "1000000", []),
        ("--threads", "1", "64", []),
    ]

    private static func plan(_ options: [String]) throws -> Plan {
        try PlanBuilder(try LoadCommand.parse(["http://h"] + options)).plan(run: 1)
    }

    @Test(arguments: options.indices) func `a number is accepted down to its lower bound`(index: Int) throws {
        let (name, lowest, highest, others) = Self.options[index]
        _ = try Self.plan(others + ["\(name)=\(lowest)"])
        let lower = lowest == "0.001" ? "0.00099" : "\(Int(lowest)! - 1)"
        for number in [lower, "-9223372036854775808"] {
            let error = PlanBuilderTests.error(["http://h"] + others + ["\(name)=\(number)"])
            #expect(error.hasPrefix("\(name) must be from \(lowest) to \(highest), not "))
        }
    }

    @Test(arguments: options.indices) func `a number is accepted up to its upper bound`(index: Int) throws {
        let (name, lowest, highest, others) = Self.options[index]
        // One more subscriber must not stall.
        if name != "--stall" { _ = try Self.plan(others + ["\(name)=\(highest)"]) }
        for number in ["\(Int(highest)! + 1)", "9223372036854775807"] {
            let error = PlanBuilderTests.error(["http://h"] + others + ["\(name)=\(number)"])
            #expect(error.hasPrefix("\(name) must be from \(lowest) to \(highest), not "))
        }
    }

    @Test func `a refusal quotes the number`() {
        #expect(PlanBuilderTests.error("http://h", "--rate=1e-10") == "--rate must be from 0.001 to 1000000, not 1e-10")
        #expect(PlanBuilderTests.error("http://h", "--rate=nan") == "--rate must be from 0.001 to 1000000, not nan")
        #expect(PlanBuilderTests.error("http://h", "--rate=2e6") == "--rate must be from 0.001 to 1000000, not 2000000")
    }

    @Test(arguments: [["--rate=1e-10"], ["--subscribers=9223372036854775807"], ["--room=r", "--rooms=2"]])
    func `options that make no valid run are refused like unreadable ones`(options: [String]) throws {
        let error = try #require(throws: (any Error).self) { try LoadCommand.parse(["http://h"] + options) }
        #expect(LoadCommand.exitCode(for: error) == .validationFailure)
    }
}
