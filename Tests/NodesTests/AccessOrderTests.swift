import Chat
import Testing
import Wire

@testable import Nodes

@Suite("Reports of access")
struct AccessOrderTests {
    private let bob = try! UserID("bob")
    private let lobby = try! RoomID("lobby")

    private func event(_ id: Int64, _ node: String, _ text: String) -> AccessState.Stored {
        AccessState.Stored(id: id, node: node, event: AccessEvent(text: text), bans: [:])
    }

    private func joined(_ rev: Int64) -> AccessOrder.News {
        AccessOrder.News(memberships: [MembershipChange(user: bob, room: lobby, kind: .joined(rev: rev))])
    }

    private var left: AccessOrder.News {
        AccessOrder.News(memberships: [MembershipChange(user: bob, room: lobby, kind: .left)])
    }

    @Test func `have texts from which every change is read again`() {
        let changes: [AccessEvent.Change] = [
            .joined(bob, lobby, rev: 7), .left(bob, lobby), .deleted(lobby), .removed(bob, lobby),
            .becamePrivate(lobby),
            .restricted(lobby), .ban(bob, lobby), .ban(bob, nil), .erasing(bob), .erased(bob),
        ]
        var event = AccessEvent(text: "")
        event.changes = changes
        #expect(AccessEvent(text: event.text).changes == changes)
    }

    @Test func `are the changes of other nodes, in order`() throws {
        var order = AccessOrder()
        let removed = AccessOrder.News(
            memberships: [MembershipChange(user: bob, room: lobby, kind: .left)], ends: [.removed(bob, from: lobby)])
        let news = order.news(
            of: [
                event(1, "other", "joined bob lobby 7"), event(2, "own", "joined carol lobby 7"),
                event(3, "other", "left bob lobby\nremoved bob lobby"), event(4, "other", "erased carol"),
            ], on: "own")
        #expect(news == [joined(7), removed])
    }

    @Test func `repeat a later membership of the node itself after an earlier one of another node`() {
        // Both in one read, in two reads, and not any more in a third.
        var order = AccessOrder()
        let both = [event(1, "other", "left bob lobby"), event(2, "own", "joined bob lobby 8")]
        #expect(order.news(of: both, on: "own") == [left, joined(8)])
        order = AccessOrder()
        #expect(order.news(of: [both[0]], on: "own") == [left])
        #expect(order.news(of: [both[1]], on: "own") == [joined(8)])
        order = AccessOrder()
        #expect(order.news(of: [both[0]], on: "own") == [left])
        #expect(order.news(of: [], on: "own") == [])
        #expect(order.news(of: [both[1]], on: "own") == [])
        // An earlier one of the node itself was told in its place.
        order = AccessOrder()
        #expect(order.news(of: both.reversed(), on: "own") == [left])
    }
}
