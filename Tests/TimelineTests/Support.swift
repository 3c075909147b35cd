import BackscrollTimeline

struct TestMessage: TimelineMessage {
    var seq: Int64
    var rev: Int64
    var senderID = "bob"
    var clientMessageID: String?
    /// Noon on 2026-11-22.
    var createdMilliseconds: Int64 = 1_795_348_800_000
    var isDeleted = false
    var text = ""
}

struct TestDraft: TimelineDraft {
    var clientMessageID: String
    var text = ""
}

typealias TestTimeline = Timeline<TestMessage, TestDraft>

func message(_ seq: Int64, rev: Int64? = nil, from sender: String = "bob", id: String? = nil) -> TestMessage {
    TestMessage(seq: seq, rev: rev ?? seq, senderID: sender, clientMessageID: id)
}

func page(
    _ seqs: ClosedRange<Int64>, head: Int64? = nil, rev: Int64? = nil, epoch: String = "e1"
) throws -> TestTimeline.Page {
    let head = head ?? seqs.upperBound
    return try TestTimeline.Page(
        messages: seqs.map { message($0) }, hasBefore: seqs.lowerBound > 1, hasAfter: seqs.upperBound < head,
        head: head, rev: rev ?? head, epoch: epoch)
}

/// Returns a timeline at the head of a room with these messages, live, with a reader at the bottom.
func following(_ seqs: ClosedRange<Int64>) throws -> TestTimeline {
    var timeline = TestTimeline(me: "alice", room: "lobby")
    _ = timeline.handle(.open(at: .last))
    _ = timeline.handle(.page(request: 1, try page(seqs)))
    _ = timeline.handle(.connected)
    _ = timeline.handle(.frame(.init(.live(rev: seqs.upperBound))))
    _ = timeline.handle(.viewport(atBottom: true, lastVisible: seqs.upperBound))
    return timeline
}

extension TestTimeline {
    var keys: [String] { view.rows.map(\.id.description) }

    /// Handles an event, and returns the difference between the views before and after it.
    mutating func change(_ event: Event) -> Difference {
        let before = view
        _ = handle(event)
        return view.difference(from: before)
    }
}
