import BackscrollTimeline
import Testing

@Suite struct ListLayoutTests {
    /// A layout of a timeline's rows, at the bottom.
    private func layout(of timeline: TestTimeline) -> ListLayout<TestTimeline.Row.ID> {
        var layout = ListLayout<TestTimeline.Row.ID>(height: 100, estimate: 20)
        let empty = TestTimeline(me: "alice", room: "lobby").view
        layout.apply(timeline.view.difference(from: empty), isEnd: true, scroll: .bottom)
        return layout
    }

    @Test func `an older page of a timeline leaves what is read in place, and a new message is followed`() throws {
        var timeline = try following(21...40)
        var layout = layout(of: timeline)
        #expect(layout.count == 21 && layout.offset == 320 && layout.anchor == .bottom && layout.lastVisible == 40)
        layout.scroll(toOffset: 107)
        #expect(layout.anchor == .row(.message(seq: 25), distance: -7))
        _ = timeline.handle(.near(.before))
        let difference = timeline.change(.page(request: 2, try page(1...20, head: 40)))
        layout.apply(difference, isEnd: true, scroll: TestTimeline.ScrollTarget?.none)
        layout.measure(timeline.view.rows[layout.range(margin: 100)].map { ($0.id, 33) })
        #expect(layout.anchor == .row(.message(seq: 25), distance: -7))
        let anchor = try #require(layout.frame(of: .message(seq: 25)))
        #expect(anchor.top - layout.offset == -7 && layout.id(at: anchor.index) == .message(seq: 25))
        layout.scroll(to: .bottom)
        layout.apply(timeline.change(.frame(.init(.message(message(41))))), isEnd: true, scroll: .bottom)
        #expect(layout.isAtBottom && layout.lastVisible == 41)
    }

    @Test func `a send keeps its row and its height when it is stored`() throws {
        var timeline = try following(1...3)
        var layout = layout(of: timeline)
        let send = TestTimeline.Row.ID.mine(clientMessageID: "a1")
        let sent = timeline.change(.send(TestDraft(clientMessageID: "a1"), at: 1_795_348_800_000))
        layout.apply(sent, isEnd: true, scroll: .bottom)
        layout.measure([(send, 70)])
        #expect(layout.lastVisible == 3)
        // The push of another message overtakes the answer, and is above it.
        layout.apply(
            timeline.change(.frame(.init(.message(message(4))))), isEnd: true, scroll: TestTimeline.ScrollTarget?.none)
        layout.apply(
            timeline.change(.sent(clientMessageID: "a1", message(5, from: "alice", id: "a1"))), isEnd: true,
            scroll: .bottom)
        #expect(layout.frame(of: send)?.height == 70 && layout.frame(of: send)?.index == 5)
        #expect(layout.lastVisible == 5)
    }

    @Test func `a copy does not change with the original`() throws {
        let copy = layout(of: try following(1...20))
        var original = copy
        original.apply(
            removed: [.message(seq: 5)], moved: [], inserted: [], updated: [], isEnd: true)
        original.measure([(.message(seq: 1), 500)])
        #expect(copy.count == 21 && copy.contentHeight == 420 && copy.frame(of: .message(seq: 5))?.index == 5)
        #expect(original.count == 20 && original.contentHeight == 880)
    }

    @Test func `the reporter's events load pages and move the mark of a timeline`() throws {
        var timeline = try following(21...40)
        var layout = layout(of: timeline)
        var reporter = ListReporter()
        let first = reporter.events(layout, before: timeline.view.before, after: timeline.view.after)
        #expect(first == [TestTimeline.Event.viewport(atBottom: true, lastVisible: 40)])
        layout.scroll(toOffset: 150)
        let next = reporter.events(layout, before: timeline.view.before, after: timeline.view.after)
        #expect(next == [TestTimeline.Event.viewport(atBottom: false, lastVisible: 31), .near(.before)])
        for event in next { _ = timeline.handle(event) }
        #expect(timeline.view.phase == .prepending)
        #expect(reporter.events(layout, before: timeline.view.before, after: timeline.view.after).isEmpty)
    }

    @Test func `an inverted list counts from the newest row`() {
        #expect(ListLayout<Int>.inverted(0, count: 5) == 4)
        #expect(ListLayout<Int>.inverted(ListLayout<Int>.inverted(1, count: 5), count: 5) == 1)
    }
}
