import Chat
import Testing
import Wire

@testable import Nodes

@Suite("The turns of a listener")
struct ListenerTurnsTests {
    /// An observer that hears nothing.
    private struct Nobody: LogObserver {
        func membershipsChanged(_ changes: [MembershipChange]) {}
        func accessEnded(_ ends: [AccessEnd]) {}
        func committed(_ outcomes: [Outcome], _ batches: [Batch]) {}
        func fetched(_ replies: [any PendingReply]) {}
    }

    private let start = ContinuousClock.now
    private let loops = SubscribedLoops()
    private let feeds: NodeFeeds
    private let rooms = try! ["a", "b", "c"].map { try RoomID($0) }

    init() {
        feeds = NodeFeeds(Nobody(), subscribers: loops, wake: {})
        for room in rooms { loops.add(room, loop: 0) }
    }

    private func turns() -> ListenerTurns {
        ListenerTurns(ListenerTurns.Limits(looks: 2, comparisons: 2), at: start)
    }

    /// Begins the position of each room.
    private func replay() {
        for room in rooms { replay(room) }
    }

    private func replay(_ room: RoomID) {
        let reply = Reply<ReplaySlice>(loop: 0, client: .connection(0)) { _ in }
        reply.answer(ReplaySlice(frames: [], rev: 5, hasMore: false, state: RoomState(head: 5, rev: 5)))
        let query = Query(reply) { .room(room, .replay(since: 5, format: .webSocket, bytes: 1, $0)) }
        feeds.answered([query])
    }

    private func name(_ read: ListenerTurns.Read?) -> String {
        switch read {
        case nil: "end"
        case .events: "events"
        case .horizon: "horizon"
        case .revisions(beyond: let looks): "revisions \(looks.count)"
        case .changedRooms: "changed rooms"
        case .changes(let looks): "changes \(looks.count)"
        }
    }

    @Test func `read events first, then begin a sweep, and look at what it finds`() {
        replay()
        var turns = turns()
        turns.begin(hearing: Hints(), at: start)
        #expect(name(turns.next(feeds)) == "events")
        #expect(name(turns.next(feeds)) == "horizon")
        turns.found(ListenerTurns.Horizon(transaction: 1, pages: 9))
        #expect(name(turns.next(feeds)) == "revisions 2")
        var found = Hints()
        found.add(rooms[0], rev: 7)
        turns.found(found, feeds)
        #expect(name(turns.next(feeds)) == "changes 1")
        turns.found([], feeds)
        #expect(name(turns.next(feeds)) == "end")
        // The sweep goes on at once.
        #expect(turns.deadline(feeds) == nil)
        turns.begin(hearing: Hints(), at: start)
        #expect(name(turns.next(feeds)) == "revisions 1")
        #expect(name(turns.next(feeds)) == "end")
        #expect(turns.deadline(feeds) == start + ListenerTurns.eventInterval)
    }

    @Test func `read events when a hint tells of them, and otherwise in intervals`() {
        var turns = turns()
        turns.begin(hearing: Hints(), at: start)
        #expect(name(turns.next(feeds)) == "events")
        #expect(name(turns.next(feeds)) == "end")
        turns.begin(hearing: Hints(), at: start + .milliseconds(499))
        #expect(name(turns.next(feeds)) == "end")
        var hints = Hints()
        hints.addEvents()
        turns.begin(hearing: hints, at: start + .milliseconds(499))
        #expect(name(turns.next(feeds)) == "events")
        #expect(name(turns.next(feeds)) == "end")
        turns.begin(hearing: Hints(), at: start + .milliseconds(999))
        #expect(name(turns.next(feeds)) == "events")
    }

    @Test func `read all changed rooms if there are more to compare than the table has pages`() {
        replay()
        var turns = turns()
        for (turn, expected) in ["revisions 2", "changed rooms"].enumerated() {
            turns.begin(hearing: Hints(), at: start + .seconds(turn))
            #expect(name(turns.next(feeds)) == "events")
            #expect(name(turns.next(feeds)) == "horizon")
            turns.found(ListenerTurns.Horizon(transaction: Int64(turn), pages: 1))
            #expect(name(turns.next(feeds)) == expected)
            #expect(name(turns.next(feeds)) == "end")
            guard turn == 0 else { continue }
            turns.begin(hearing: Hints(), at: start)
            #expect(name(turns.next(feeds)) == "revisions 1")
            #expect(name(turns.next(feeds)) == "end")
        }
    }

    @Test func `look again at rooms after a failed read`() {
        replay()
        var hints = Hints()
        hints.add(rooms[1], rev: 6)
        feeds.hinted(hints)
        var turns = turns()
        turns.begin(hearing: Hints(), at: start)
        while let read = turns.next(feeds), name(read) != "changes 1" {
            if case .horizon = read { turns.found(ListenerTurns.Horizon(transaction: 0, pages: 9)) }
        }
        #expect(!feeds.hasDue)
        turns.failed(feeds)
        #expect(feeds.hasDue)
    }
}
