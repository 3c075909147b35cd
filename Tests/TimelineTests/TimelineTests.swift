import BackscrollTimeline
import Testing

/// Tests that the cases in Tests/Timeline cannot express, because these use the driver only.
@Suite struct TimelineTests {
    @Test func `opening fetches around the first unread message`() {
        var timeline = TestTimeline(me: "alice", room: "lobby", limit: 20)
        let effects = timeline.handle(.open(at: .read))
        #expect(effects == [.fetch(request: 1, .init(anchor: .aroundUnread, limit: 20))])
    }

    @Test(
        arguments: [
            (.newest, "limit=30"), (.aroundUnread, "around=unread&limit=30"),
            (.aroundMention, "around=mention&limit=30"), (.around(7), "around=7&limit=30"),
            (.before(7), "before=7&limit=30"), (.after(7), "after=7&limit=30"),
        ] as [(TestTimeline.Query.Anchor, String)])
    func `a query is written as that of a URL`(anchor: TestTimeline.Query.Anchor, text: String) {
        #expect(TestTimeline.Query(anchor: anchor, limit: 30).description == text)
    }

    @Test func `a copy goes its own way`() throws {
        var timeline = try following(1...3)
        let copy = timeline
        _ = timeline.handle(.frame(.init(.message(message(4)))))
        #expect(timeline.keys == ["day/2026-11-22", "1", "2", "3", "4"])
        #expect(copy.keys == ["day/2026-11-22", "1", "2", "3"])
    }

    @Test func `the same events give the same views`() throws {
        #expect(try following(1...9).view == following(1...9).view)
    }

    @Test(arguments: [(0, 1), (-5, 1), (1, 1), (200, 200), (201, 200), (Int.max, 200)])
    func `the size of pages is within its bounds`(asked: Int, is limit: Int) {
        #expect(TestTimeline(me: "alice", room: "lobby", limit: asked).limit == limit)
    }

    @Test(arguments: [(nil, nil), (0, 20), (-1, 20), (20, 20), (21, 21), (.max, .max)] as [(Int?, Int?)])
    func `the window has room for four pages or more`(asked: Int?, is windowLimit: Int?) {
        let timeline = TestTimeline(me: "alice", room: "lobby", limit: 5, windowLimit: asked)
        #expect(timeline.windowLimit == windowLimit)
    }

    @Test func `a page with a hole is refused`() {
        #expect(throws: MalformedPage.self) {
            try TestTimeline.Page(
                messages: [message(1), message(3)], hasBefore: false, hasAfter: false, head: 3, rev: 3, epoch: "e1")
        }
    }

    @Test(arguments: [-1, 9_007_199_254_740_992, .max, .min] as [Int64])
    func `a page with a number that no server sends is refused`(number: Int64) {
        #expect(throws: MalformedPage.self) {
            try TestTimeline.Page(messages: [], hasBefore: false, hasAfter: false, head: number, rev: 0, epoch: "e1")
        }
        #expect(throws: MalformedPage.self) {
            try TestTimeline.Page(
                messages: [message(number)], hasBefore: false, hasAfter: false, head: 0, rev: 0, epoch: "e1")
        }
    }

    @Test(arguments: [0, -1, .min, .max, 9_007_199_254_740_992] as [Int64])
    func `a message with a number that no server sends is ignored`(seq: Int64) throws {
        var timeline = try following(1...3)
        let before = timeline.view
        _ = timeline.handle(.frame(.init(.message(message(seq, rev: 1)))))
        _ = timeline.handle(.sent(clientMessageID: "a1", message(seq, rev: 1)))
        _ = timeline.handle(.frame(.init(.read(user: "alice", seq: .max))))
        #expect(timeline.view == before)
    }

    @Test func `places and times at the ends of their types do no harm`() throws {
        var timeline = try following(1...3)
        for place in [.min, -1, 0, .max] as [Int64] {
            _ = timeline.handle(.viewport(atBottom: false, lastVisible: place))
            _ = timeline.handle(.jump(to: .seq(place)))
        }
        for now in [-Double.greatestFiniteMagnitude, .greatestFiniteMagnitude, .infinity, .nan, 0] {
            _ = timeline.handle(.time(now: now))
        }
        for at in [.min, .max] as [Int64] {
            _ = timeline.handle(.send(TestDraft(clientMessageID: "at\(at)"), at: at))
        }
        #expect(
            timeline.keys == [
                "day/2026-11-22", "1", "2", "3", "me/at\(Int64.min)", "day/+255479-11-28", "me/at\(Int64.max)",
            ])
    }

    @Test func `an answer to a mark with a number that no server sends is ignored`() throws {
        var timeline = TestTimeline(me: "alice", room: "lobby", limit: 5)
        _ = timeline.handle(.open(at: .seq(50)))
        let messages = (48...52 as ClosedRange<Int64>).map { message($0) }
        let page = try TestTimeline.Page(
            messages: messages, hasBefore: true, hasAfter: true, head: 3000, rev: 3000, epoch: "e1", read: 49,
            unread: TestTimeline.unreadCap)
        _ = timeline.handle(.page(request: 1, page))
        for number in [-1, .min, .max] as [Int64] {
            _ = timeline.handle(.marked(read: number, unread: 5))
            _ = timeline.handle(.marked(read: 50, unread: number))
        }
        #expect(timeline.view.unread == 1000)
        #expect(timeline.view.read == 49)
        _ = timeline.handle(.marked(read: 50, unread: 999))
        #expect(timeline.view.unread == 999)
    }

    @Test func `a store's number of unread messages counts where they are not all there`() throws {
        var timeline = TestTimeline(me: "alice", room: "lobby")
        _ = timeline.handle(
            .restore(
                .init(
                    messages: (91...100 as ClosedRange<Int64>).map { message($0) }, hasBefore: true, hasAfter: false,
                    rev: 100, epoch: "e1", read: 50, unread: 48)))
        #expect(timeline.view.unread == 48)
    }

    @Test func `an id is its bytes, not its characters`() throws {
        var timeline = try following(1...1)
        _ = timeline.handle(.send(TestDraft(clientMessageID: "\u{e9}"), at: 1_795_348_800_000))
        _ = timeline.handle(.send(TestDraft(clientMessageID: "e\u{301}"), at: 1_795_348_800_000))
        #expect(timeline.view.rows.count == 4)
        #expect(Set(timeline.view.rows.map(\.id)).count == 4)
    }

    @Test func `a draft without an id is ignored`() throws {
        var timeline = try following(1...1)
        #expect(timeline.handle(.send(TestDraft(clientMessageID: ""), at: 0)).isEmpty)
        #expect(timeline.keys == ["day/2026-11-22", "1"])
    }

    @Test func `a row's content is the latest snapshot`() throws {
        var timeline = try following(1...2)
        var edited = message(1, rev: 3)
        edited.text = "edited"
        _ = timeline.handle(.frame(.init(.message(edited))))
        #expect(timeline.view.rows[1].content == .message(edited, isMine: false))
    }

    @Test func `an id made of its parts is that of the row`() throws {
        var timeline = try following(1...2)
        _ = timeline.handle(.send(TestDraft(clientMessageID: "a1"), at: 1_795_348_800_000))
        let day = TestTimeline.Day(daysSince1970: 20_779)
        #expect(
            timeline.view.rows.map(\.id) == [
                .day(day), .message(seq: 1), .message(seq: 2), .mine(clientMessageID: "a1"),
            ])
    }

    @Test(arguments: [
        (0, "1970-01-01"), (-1, "1969-12-31"), (20_779, "2026-11-22"), (11_016, "2000-02-29"), (-719_528, "0000-01-01"),
        (-719_529, "-000001-12-31"), (2_932_896, "9999-12-31"), (2_932_897, "+010000-01-01"), (.max, "+275760-09-13"),
        (.min, "-271821-04-20"),
    ])
    func `a day is written as its date`(days: Int64, date: String) {
        #expect(TestTimeline.Day(daysSince1970: days).description == date)
    }

    /// Rebuilding the list for each message would make this quadratic: 100,000² rows.
    @Test func `a hundred thousand live messages are appended one by one`() throws {
        var timeline = try following(1...1)
        for seq in 2...100_000 as ClosedRange<Int64> {
            _ = timeline.handle(.frame(.init(.message(message(seq)))))
        }
        #expect(timeline.view.rows.count == 100_001)
        #expect(timeline.view.rows.last?.seq == 100_000)
    }

    @Test func `a window with a limit drops what is far from the reader`() throws {
        var timeline = TestTimeline(me: "alice", room: "lobby", limit: 5, windowLimit: 20)
        _ = timeline.handle(.open(at: .last))
        _ = timeline.handle(.page(request: 1, try page(81...100)))
        _ = timeline.handle(.viewport(atBottom: false, lastVisible: 85))
        _ = timeline.handle(.near(.before))
        let change = timeline.change(.page(request: 2, try page(76...80, head: 100)))
        #expect(change.removed.map(\.id) == (92...100).map { .message(seq: $0) })
        #expect(timeline.keys == ["day/2026-11-22"] + (76...91).map(String.init))
        #expect(timeline.view.after == .idle)
    }

    /// Without a cut the list would have 100,000 rows, and a cut of each message would make this quadratic.
    @Test func `a window with a limit keeps the newest of a hundred thousand messages`() throws {
        var timeline = TestTimeline(me: "alice", room: "lobby", windowLimit: 2000)
        _ = timeline.handle(.open(at: .last))
        _ = timeline.handle(.page(request: 1, try page(1...1)))
        _ = timeline.handle(.connected)
        _ = timeline.handle(.frame(.init(.live(rev: 1))))
        _ = timeline.handle(.viewport(atBottom: true, lastVisible: 1))
        var most = 0
        for seq in 2...100_000 as ClosedRange<Int64> {
            _ = timeline.handle(
                .frame(.init(.message(message(seq, from: seq % 3 == 0 ? "alice" : "bob", id: "m\(seq)")))))
            most = max(most, timeline.view.rows.count)
        }
        #expect(most == 2001)
        #expect(timeline.view.rows.last?.seq == 100_000)
        #expect(timeline.view.before == .idle)
    }
}
