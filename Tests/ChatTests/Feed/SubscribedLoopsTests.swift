import Testing
import Wire

@testable import Chat

@Suite("The loops subscribed to a room")
struct SubscribedLoopsTests {
    private func batch(_ room: RoomID) -> Batch {
        Batch(room: room, firstRev: 1, head: 1, messages: [[1]])
    }

    @Test func `passes a batch only to the loops that want its room`() throws {
        let subscribedLoops = SubscribedLoops()
        let (a, b) = (try RoomID("a"), try RoomID("b"))
        subscribedLoops.add(a, loop: 0)
        subscribedLoops.add(a, loop: 2)
        subscribedLoops.add(b, loop: 2)
        subscribedLoops.add(b, loop: 2)
        #expect(subscribedLoops.count == 3)
        #expect(subscribedLoops.hasSubscribers(a) && subscribedLoops.hasSubscribers(b))
        #expect(!subscribedLoops.hasSubscribers(try RoomID("c")))
        let parts = subscribedLoops.distribute([batch(a), batch(b), batch(try RoomID("c"))], loops: 3)
        #expect(parts.map { $0.map(\.room.string) } == [["a"], [], ["a", "b"]])
    }

    @Test func `passes a notice to the loops that want its room`() throws {
        let subscribedLoops = SubscribedLoops()
        let rooms = try ["a", "b", "c"].map { try RoomID($0) }
        subscribedLoops.add(rooms[0], loop: 0)
        subscribedLoops.add(rooms[0], loop: 2)
        subscribedLoops.add(rooms[1], loop: 2)
        let notices = rooms.map { EncodedNotice(.presence(room: $0, online: 1), in: $0) }
        let parts = subscribedLoops.distribute(notices, loops: 3)
        #expect(parts.map { $0.map(\.room.string) } == [["a"], [], ["a", "b"]])
    }

    @Test func `passes membership changes, in order, to the loops that follow the user`() throws {
        let subscribedLoops = SubscribedLoops()
        let (alice, bob) = (try UserID("alice"), try UserID("bob"))
        let changes = [
            MembershipChange(user: alice, room: try RoomID("a"), kind: .joined(rev: 0)),
            MembershipChange(user: bob, room: try RoomID("b"), kind: .left),
            MembershipChange(user: alice, room: try RoomID("a"), kind: .left),
        ]
        #expect(subscribedLoops.distribute(changes, loops: 2) == [[], []])
        subscribedLoops.follow(alice, loop: 0)
        subscribedLoops.follow(alice, loop: 1)
        subscribedLoops.follow(bob, loop: 1)
        #expect(subscribedLoops.distribute(changes, loops: 2) == [[changes[0], changes[2]], changes])
        subscribedLoops.unfollow(alice, loop: 1)
        subscribedLoops.unfollow(alice, loop: 1)
        #expect(subscribedLoops.distribute(changes, loops: 2) == [[changes[0], changes[2]], [changes[1]]])
        #expect(subscribedLoops.count == 0)
    }

    @Test func `ends when it is removed`() throws {
        let subscribedLoops = SubscribedLoops()
        let room = try RoomID("a")
        subscribedLoops.add(room, loop: 0)
        subscribedLoops.add(room, loop: 63)
        subscribedLoops.remove(room, loop: 0)
        #expect(subscribedLoops.distribute([batch(room)], loops: 64).map(\.count).firstIndex(of: 1) == 63)
        subscribedLoops.remove(room, loop: 63)
        subscribedLoops.remove(room, loop: 63)
        #expect(subscribedLoops.count == 0)
        #expect(subscribedLoops.distribute([batch(room)], loops: 64).allSatisfy { $0.isEmpty })
    }
}
