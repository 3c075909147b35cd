import Foundation
import TestSupport
import Testing

@testable import Wire

@Suite struct TimestampTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (1, "1970-01-01T00:00:00.001Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_795_222_923_004, "2026-11-21T01:02:03.004Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func `a time is written in UTC with milliseconds and parsed again`(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).description == text)
        #expect(Timestamp(rfc3339: text)?.milliseconds == milliseconds)
    }

    @Test func `a time outside RFC 3339 becomes the nearest one inside`() {
        #expect(Timestamp(milliseconds: .min) == .earliest)
        #expect(Timestamp(milliseconds: .max) == .latest)
        #expect(Timestamp.earliest < Timestamp.latest)
    }

    @Test func `random times agree with another calendar`() {
        let formatter = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        var random = SeededGenerator(seed: 4)
        for _ in 0..<1000 {
            // Not before 1582: until then the other calendar is the Julian one.
            let time = Timestamp(milliseconds: .random(in: -12_219_292_800_000...253_402_300_799_999, using: &random))
            let seconds = time.milliseconds.quotientAndRemainder(dividingBy: 1000)
            let whole = Date(timeIntervalSince1970: Double(seconds.quotient - (seconds.remainder < 0 ? 1 : 0)))
            #expect(time.description.prefix(19) == whole.formatted(formatter).prefix(19))
            #expect(Timestamp(rfc3339: time.description) == time)
        }
    }

    @Test func `every day of four centuries follows the day before it`() {
        let first = CivilDate(year: 1999, month: 12, day: 31).daysSince1970
        var previous = CivilDate(daysSince1970: first)
        for day in first + 1...first + 146_097 {
            let date = CivilDate(daysSince1970: day)
            #expect(date.daysSince1970 == day)
            let isNewMonth = previous.day == CivilDate.days(inMonth: previous.month, year: previous.year)
            #expect(date.day == (isNewMonth ? 1 : previous.day + 1))
            #expect(date.month == (isNewMonth ? previous.month % 12 + 1 : previous.month))
            previous = date
        }
    }

    @Test(arguments: [
        ("2026-11-21T01:02:03Z", "2026-11-21T01:02:03.000Z"), ("2026-11-21t01:02:03z", "2026-11-21T01:02:03.000Z"),
        ("2026-11-21T01:02:03+01:00", "2026-11-21T00:02:03.000Z"),
        ("2026-11-21T01:02:03-23:59", "2026-11-22T01:01:03.000Z"),
        ("2026-11-21T01:02:03-00:00", "2026-11-21T01:02:03.000Z"),
        ("2026-11-21T01:02:03.1Z", "2026-11-21T01:02:03.100Z"), ("2026-11-21T01:02:03.12Z", "2026-11-21T01:02:03.120Z"),
        ("2026-11-21T01:02:03.123Z", "2026-11-21T01:02:03.123Z"),
        ("0000-01-01T00:00:00+00:01", "0000-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59-00:01", "9999-12-31T23:59:59.999Z"),
        ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000Z"),
    ])
    func `every form of the grammar is parsed`(text: String, expected: String) {
        #expect(Timestamp(rfc3339: text)?.description == expected)
    }

    @Test(arguments: [
        ("2026-11-21T01:02:03.0000Z", "2026-11-21T01:02:03.000Z"),
        ("2026-11-21T01:02:03.0001Z", "2026-11-21T01:02:03.001Z"),
        ("2026-11-21T01:02:03.1230000000000000000000000000000001Z", "2026-11-21T01:02:03.124Z"),
        ("2026-11-21T01:02:03.9990Z", "2026-11-21T01:02:03.999Z"),
        ("2026-11-21T01:02:03.9991Z", "2026-11-21T01:02:04.000Z"),
        ("2026-12-31T23:59:59.99999Z", "2027-01-01T00:00:00.000Z"),
    ])
    func `fractions finer than a millisecond are dropped, or rounded up for a bound`(text: String, expected: String) {
        #expect(Timestamp(rfc3339: text, roundsUp: true)?.description == expected)
        let time = Timestamp(rfc3339: text)
        #expect(time?.description == text.prefix(20) + text.dropFirst(20).prefix(3) + "Z")
    }

    @Test(arguments: [
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"), ("2016-12-31T23:59:60.7Z", "2017-01-01T00:00:00.000Z"),
        ("1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00.000Z"),
        ("2015-07-01T01:59:60+02:00", "2015-07-01T00:00:00.000Z"),
    ])
    func `a leap second becomes the following midnight`(text: String, expected: String) {
        #expect(Timestamp(rfc3339: text)?.description == expected)
    }

    @Test(arguments: [
        "", "2026", "2026-11-21", "2026-11-21T01:02:03", "2026-11-21T01:02Z", "2026-11-21 01:02:03Z",
        "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-11-00T00:00:00Z", "2026-11-31T00:00:00Z",
        "2025-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T00:60:00Z",
        "2026-11-21T00:00:61Z", "2026-11-21T01:02:60Z", "2026-11-21T23:59:60Z", "2016-12-31T23:59:60+01:00",
        "2026-11-21T01:02:03.Z", "2026-11-21T01:02:03,5Z", "2026-11-21T01:02:03+0100", "2026-11-21T01:02:03+24:00",
        "2026-11-21T01:02:03+01:60", "2026-11-21T01:02:03+01", "2026-11-21T01:02:03ZZ", " 2026-11-21T01:02:03Z",
        "2026-11-21T01:02:03Z ", "12026-11-21T01:02:03Z", "-026-11-21T01:02:03Z", "2026-1-21T01:02:03Z",
        "20261121T010203Z", "２026-11-21T01:02:03Z", "2026-11-21T01:02:03z\u{0}", "2026-11-21T01:02:03",
    ])
    func `other text and impossible times are refused`(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test func `the current time is in this century`() {
        let now = Timestamp.now()
        #expect(now.milliseconds > 1_700_000_000_000)
        #expect(now < .latest)
    }
}
