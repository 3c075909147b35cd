import BackscrollTimeline
import Testing

@Suite struct ListDifferenceTests {
    @Test func `nothing changes where no row does`() throws {
        var timeline = try following(1...3)
        #expect(timeline.change(.frame(.init(.presence(online: 3)))).isEmpty)
    }

    @Test func `a live message is inserted at the end`() throws {
        var timeline = try following(1...3)
        let difference = timeline.change(.frame(.init(.message(message(4)))))
        #expect(difference.inserted.map(\.index) == [4])
        #expect(difference.inserted.map(\.row.id) == [.message(seq: 4)])
        #expect(difference.removed.isEmpty && difference.moved.isEmpty && difference.updated.isEmpty)
    }

    @Test func `a changed message is updated, and nothing else`() throws {
        var timeline = try following(1...3)
        let difference = timeline.change(.frame(.init(.message(message(2, rev: 4)))))
        #expect(difference.updated.map(\.index) == [2])
        #expect(difference.updated.map(\.row.id) == [.message(seq: 2)])
        #expect(difference.removed.isEmpty && difference.moved.isEmpty && difference.inserted.isEmpty)
    }

    @Test func `an older page is inserted below the day line`() throws {
        var timeline = try following(4...6)
        _ = timeline.handle(.near(.before))
        let difference = timeline.change(.page(request: 2, try page(1...3, head: 6)))
        #expect(difference.inserted.map(\.index) == [1, 2, 3])
        #expect(difference.removed.isEmpty && difference.moved.isEmpty && difference.updated.isEmpty)
    }

    @Test func `a send that is stored stays the same row`() throws {
        var timeline = try following(1...3)
        _ = timeline.handle(.send(TestDraft(clientMessageID: "a1"), at: 1_795_348_800_000))
        let difference = timeline.change(.sent(clientMessageID: "a1", message(4, from: "alice", id: "a1")))
        #expect(difference.updated.map(\.row.id) == [.mine(clientMessageID: "a1")])
        #expect(difference.removed.isEmpty && difference.moved.isEmpty && difference.inserted.isEmpty)
    }

    @Test func `a send that others overtake moves by itself`() throws {
        var timeline = try following(1...3)
        for id in ["a1", "a2", "a3"] {
            _ = timeline.handle(.send(TestDraft(clientMessageID: id), at: 1_795_348_800_000))
        }
        _ = timeline.handle(.sendFailed(clientMessageID: "a1", .init(status: 403)))
        let difference = timeline.change(.retry(clientMessageID: "a1"))
        #expect(difference.moved.map(\.id) == [.mine(clientMessageID: "a1")])
        #expect(difference.moved.map { [$0.from, $0.to] } == [[4, 6]])
        #expect(difference.inserted.isEmpty && difference.removed.isEmpty)
        #expect(difference.updated.map(\.row.id) == [.mine(clientMessageID: "a1")])
    }

    @Test func `a discarded send is removed`() throws {
        var timeline = try following(1...3)
        _ = timeline.handle(.send(TestDraft(clientMessageID: "a1"), at: 1_795_348_800_000))
        _ = timeline.handle(.sendFailed(clientMessageID: "a1", .init(status: 403)))
        let difference = timeline.change(.discard(clientMessageID: "a1"))
        #expect(difference.removed.map(\.id) == [.mine(clientMessageID: "a1")])
        #expect(difference.removed.map(\.index) == [4])
    }

    @Test func `the unread line that another message takes is removed and inserted`() throws {
        var timeline = try following(1...3)
        _ = timeline.handle(.viewport(atBottom: false, lastVisible: 3))
        _ = timeline.handle(.frame(.init(.message(message(4)))))
        _ = timeline.handle(.viewport(atBottom: true, lastVisible: 4))
        _ = timeline.handle(.viewport(atBottom: false, lastVisible: 4))
        #expect(timeline.keys == ["day/2026-11-22", "1", "2", "3", "unread", "4"])
        let difference = timeline.change(.frame(.init(.message(message(5)))))
        #expect(timeline.keys == ["day/2026-11-22", "1", "2", "3", "4", "unread", "5"])
        #expect(difference.moved.isEmpty && difference.updated.isEmpty)
        #expect(difference.removed.map(\.id) == [.unreadLine])
        #expect(difference.removed.map(\.index) == [4])
        #expect(difference.inserted.map(\.row.id) == [.unreadLine, .message(seq: 5)])
        #expect(difference.inserted.map(\.index) == [5, 6])
    }

    @Test func `a day line that another time zone moves is removed and inserted`() throws {
        var timeline = TestTimeline(me: "alice", room: "lobby")
        _ = timeline.handle(.open(at: .last))
        var messages = (1...4 as ClosedRange<Int64>).map { message($0) }
        for index in messages.indices { messages[index].createdMilliseconds += Int64(index) * 36_000_000 }
        _ = timeline.handle(
            .page(
                request: 1,
                try .init(messages: messages, hasBefore: false, hasAfter: false, head: 4, rev: 4, epoch: "e1")))
        #expect(timeline.keys == ["day/2026-11-22", "1", "2", "day/2026-11-23", "3", "4"])
        let before = timeline.view
        let difference = timeline.change(.utcOffsets(UTCOffsets(180)))
        #expect(timeline.keys == ["day/2026-11-22", "1", "day/2026-11-23", "2", "3", "4"])
        #expect(difference.moved.isEmpty && difference.updated.isEmpty)
        #expect(difference.removed.map(\.id.description) == ["day/2026-11-23"])
        #expect(difference.applied(to: before.rows) == timeline.view.rows)
    }

    @Test func `messages of another epoch are updated although their numbers are the same`() throws {
        var timeline = try following(1...2)
        let before = timeline.view
        _ = timeline.handle(.open(at: .last))
        let other = try TestTimeline.Page(
            messages: [message(1), message(2, from: "carol")], hasBefore: false, hasAfter: false, head: 2, rev: 2,
            epoch: "e2")
        _ = timeline.handle(.page(request: 2, other))
        let difference = timeline.view.difference(from: before)
        #expect(difference.updated.map(\.row.id) == [.message(seq: 2)])
    }

    /// Random changes of rows and lines, in any order, within one frame of the screen.
    @Test(arguments: 0..<200) func `applied to the rows before it gives the rows after`(seed: UInt64) throws {
        var random = SeededGenerator(state: seed)
        var timeline = try following(1...Int64.random(in: 1...20, using: &random))
        var head: Int64 = timeline.view.rows.last?.seq ?? 0
        var sends = 0
        for _ in 0..<30 {
            let before = timeline.view
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let id = "a\(Int.random(in: 0...max(sends, 1), using: &random))"
                let event: TestTimeline.Event
                switch Int.random(in: 0..<12, using: &random) {
                case 0:
                    head += 1
                    event = .frame(.init(.message(message(head, rev: head * 100))))
                case 1:
                    let seq = Int64.random(in: 1...head, using: &random)
                    event = .frame(.init(.message(message(seq, rev: Int64.random(in: 1...9999, using: &random)))))
                case 2:
                    head += 1
                    event = .sent(clientMessageID: id, message(head, rev: head * 100, from: "alice", id: id))
                case 3: event = .sendFailed(clientMessageID: id, .init(status: 403))
                case 4: event = .retry(clientMessageID: id)
                case 5: event = .discard(clientMessageID: id)
                case 6: event = .utcOffsets(UTCOffsets(Int.random(in: -1440...1440, using: &random)))
                case 7: event = .viewport(atBottom: true, lastVisible: head)
                case 8, 9: event = .viewport(atBottom: false, lastVisible: head)
                default:
                    sends += 1
                    event = .send(TestDraft(clientMessageID: "a\(sends)"), at: 1_795_348_800_000)
                }
                _ = timeline.handle(event)
            }
            let difference = timeline.view.difference(from: before)
            #expect(difference.applied(to: before.rows) == timeline.view.rows)
            #expect(difference.isEmpty == (before.rows == timeline.view.rows))
        }
    }
}

/// A small generator with the same random numbers for the same seed (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
