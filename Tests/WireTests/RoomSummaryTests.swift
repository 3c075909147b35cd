import Testing
import Wire

@Suite struct RoomSummaryTests {
    @Test func `unknown fields are left out`() throws {
        let summary = RoomSummary(room: try RoomID("r"), head: 0, rev: 0, epoch: "E1")
        #expect(written(summary.encode) == #"{"room":"r","head":0,"rev":0,"epoch":"E1"}"#)
    }

    @Test func `all fields are encoded in order`() throws {
        let summary = RoomSummary(
            room: try RoomID("r"), head: 9, rev: 12, epoch: "E1", read: 0, unread: 9, firstUnread: 1,
            visibility: .private, title: "The \"room\"",
            manners: RoomManners(
                posting: .owners, slowSeconds: 5, keepDays: 7, avatar: "https://x", data: Array("{\"a\":1}".utf8)),
            role: .owner)
        let text = """
            {"room":"r","head":9,"rev":12,"epoch":"E1","read":0,"unread":9,"first_unread":1,"visibility":"private",\
            "title":"The \\"room\\"","posting":"owners","slow_seconds":5,"keep_days":7,"avatar":"https://x",\
            "data":{"a":1},"role":"owner"}
            """
        #expect(written(summary.encode) == text)
    }
}
