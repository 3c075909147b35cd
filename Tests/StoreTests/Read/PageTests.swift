import Chat
import Testing
import Wire

@testable import Store

@Suite("A page")
struct PageTests {
    /// Returns a page's first and last `seq`, with marks if there is more on either side.
    private func outline(_ page: PageSlice) -> String {
        let messages = page.count == 0 ? "nothing" : "\(page.firstSeq)-\(page.lastSeq)"
        return (page.hasBefore ? "<" : "|") + messages + (page.hasAfter ? ">" : "|")
    }

    @Test(
        arguments: [
            (.newest, 3, "<8-10|"), (.newest, 10, "|1-10|"), (.newest, 200, "|1-10|"),
            (.before(.seq(5)), 3, "<2-4>"), (.before(.seq(4)), 3, "|1-3>"), (.before(.seq(1)), 3, "|nothing>"),
            (.before(.seq(0)), 3, "|nothing>"), (.before(.seq(11)), 3, "<8-10|"), (.before(.seq(100)), 3, "<8-10|"),
            (.before(.seq(.max)), 3, "<8-10|"), (.before(.first), 3, "|nothing>"), (.before(.last), 3, "<7-9>"),
            (.after(.seq(0)), 3, "|1-3>"), (.after(.seq(5)), 3, "<6-8>"), (.after(.seq(7)), 3, "<8-10|"),
            (.after(.seq(10)), 3, "<nothing|"), (.after(.seq(.max)), 3, "<nothing|"), (.after(.first), 3, "<2-4>"),
            (.after(.last), 3, "<nothing|"), (.around(.seq(5)), 3, "<4-6>"), (.around(.seq(5)), 4, "<3-6>"),
            (.around(.seq(5)), 1, "<5-5>"), (.around(.seq(1)), 3, "|1-3>"), (.around(.seq(0)), 3, "|1-3>"),
            (.around(.first), 4, "|1-4>"), (.around(.last), 4, "<7-10|"), (.around(.seq(9)), 6, "<5-10|"),
            (.around(.seq(11)), 3, "<8-10|"), (.around(.seq(.max)), 1, "<10-10|"), (.around(.seq(5)), 30, "|1-10|"),
        ] as [(PageRequest.Anchor, Int, String)])
    func `of ten messages has the expected range and flags`(anchor: PageRequest.Anchor, limit: Int, expected: String)
        throws
    {
        let log = try TestLog()
        let bodies = try log.fill(10)
        let page = try log.page(anchor, limit: limit)
        #expect(outline(page) == expected)
        #expect(page.count <= limit)
        #expect(page.state == RoomState(head: 10, rev: 10))
        let expectedBodies = page.count == 0 ? [] : bodies[Int(page.firstSeq - 1)..<Int(page.lastSeq)]
        #expect(page.messages == joined(expectedBodies))
    }

    @Test(
        arguments: [
            .newest, .before(.seq(0)), .before(.seq(7)), .before(.first), .before(.last), .after(.seq(0)),
            .after(.seq(.max)), .after(.last), .around(.seq(1)), .around(.first), .around(.last), .before(.read),
            .after(.read), .around(.read), .before(.unread), .after(.unread), .around(.unread), .before(.time(.latest)),
            .after(.time(.earliest)), .around(.time(.latest)),
        ] as [PageRequest.Anchor])
    func `of an unused room is empty`(anchor: PageRequest.Anchor) throws {
        let log = try TestLog()
        // Another room's messages must not show.
        try log.fill(3, "neighbor")
        let page = try log.page(anchor)
        #expect(outline(page) == "|nothing|")
        #expect(page.messages.isEmpty && page.firstSeq == 0 && page.lastSeq == 0)
        #expect(page.state == RoomState())
    }

    @Test func `at a time starts just before the first message of that time or later`() throws {
        let clock = TestClock(1000)
        let log = try TestLog { $0.clock = { clock.now } }
        // 1, 2 at 1000, 3 at 1010, 4, 5, 6 at 1020.
        for count in [2, 1, 3] {
            try log.fill(count)
            clock.step(10)
        }
        func outlines(_ time: Int64) throws -> [String] {
            let place = Place.time(Timestamp(milliseconds: time))
            return try [.before(place), .after(place), .around(place)].map { outline(try log.page($0, limit: 2)) }
        }
        #expect(try outlines(999) == ["|nothing>", "|1-2>", "|1-2>"])
        #expect(try outlines(1000) == ["|nothing>", "|1-2>", "|1-2>"])
        #expect(try outlines(1001) == ["|1-2>", "<3-4>", "<2-3>"])
        #expect(try outlines(1010) == ["|1-2>", "<3-4>", "<2-3>"])
        #expect(try outlines(1020) == ["<2-3>", "<4-5>", "<3-4>"])
        #expect(try outlines(1021) == ["<5-6|", "<nothing|", "<5-6|"])
    }

    @Test func `shows no messages of rooms stored next to it`() throws {
        let log = try TestLog()
        let rooms = ["a", "b", "c"]
        for room in rooms { try log.fill(4, room) }
        for room in rooms {
            for anchor in [.newest, .after(.seq(0)), .around(.seq(2))] as [PageRequest.Anchor] {
                #expect(outline(try log.page(anchor, limit: 200, of: room)) == "|1-4|")
            }
            let messages = try (1...4).map { try Message(decoding: log.message($0, of: room)!) }
            #expect(messages.allSatisfy { $0.room.string == room })
            #expect(try log.message(0, of: room) == nil)
            #expect(try log.message(5, of: room) == nil)
        }
    }
}
