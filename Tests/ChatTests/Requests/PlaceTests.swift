import Chat
import Testing
import Wire

@Suite struct PlaceTests {
    @Test(
        arguments: [
            ("first", .first), ("last", .last), ("read", .read), ("unread", .unread), ("0", .seq(0)), ("1", .seq(1)),
            ("007", .seq(7)),
            ("9223372036854775807", .seq(.max)), ("9223372036854775808", .seq(.max)),
            ("99999999999999999999999999999999", .seq(.max)), ("20261121", .seq(20_261_121)),
            ("1970-01-01T00:00:01Z", .time(Timestamp(milliseconds: 1000))),
            ("1970-01-01T00:00:00.0001+00:00", .time(Timestamp(milliseconds: 1))),
            // A plus that was typed into a URL.
            ("1970-01-01T01:00:01 01:00", .time(Timestamp(milliseconds: 1000))),
        ] as [(String, Place)])
    func `a place is a seq, a time or a name`(string: String, place: Place) throws {
        #expect(try Place(parsing: string, field: "before") == place)
    }

    @Test(arguments: [
        "", "-1", "+1", "1.0", "1e3", " 1", "1 ", "0x1", "First", "newest", "Unread", "١", "2026-11-21",
        "2026-02-30T00:00:00Z",
        "1970-01-01T00:00:01", "null", "1970-01-01 00:00:01Z", "1970-01-01T00:00:01 Z", "1970-01-01T00:00:01 +1:00",
    ])
    func `other text is refused`(string: String) {
        let fault = problem { () throws(Problem) in try Place(parsing: string, field: "before") }
        #expect(fault?.status == 400)
        #expect(fault?.code == .invalidCursor && fault?.field == "before")
    }
}
