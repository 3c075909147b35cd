import Testing
import Wire

@testable import Chat

@Suite("Interest")
struct InterestTests {
    private func batch(_ room: RoomID) -> Batch {
        Batch(room: room, firstRev: 1, head: 1, messages: [[1]])
    }

    @Test("passes a batch only to the loops that want its room")
    func distributes() throws {
        let interest = Interest()
        let (a, b) = (try RoomID("a"), try RoomID("b"))
        interest.add(a, loop: 0)
        interest.add(a, loop: 2)
        interest.add(b, loop: 2)
        interest.add(b, loop: 2)
        #expect(interest.count == 3)
        let parts = interest.distribute([batch(a), batch(b), batch(try RoomID("c"))], loops: 3)
        #expect(parts.map { $0.map(\.room.string) } == [["a"], [], ["a", "b"]])
    }

    @Test("passes a notice to the loops that want its room")
    func notices() throws {
        let interest = Interest()
        let rooms = try ["a", "b", "c"].map { try RoomID($0) }
        interest.add(rooms[0], loop: 0)
        interest.add(rooms[0], loop: 2)
        interest.add(rooms[1], loop: 2)
        let notices = rooms.map { FramedNotice(.presence(room: $0, online: 1), in: $0) }
        let parts = interest.distribute(notices, loops: 3)
        #expect(parts.map { $0.map(\.room.string) } == [["a"], [], ["a", "b"]])
    }

    @Test("passes membership changes, in order, to the loops that follow the user")
    func memberships() throws {
        let interest = Interest()
        let (alice, bob) = (try UserID("alice"), try UserID("bob"))
        let changes = [
            MembershipChange(user: alice, room: try RoomID("a"), kind: .joined(rev: 0)),
            MembershipChange(user: bob, room: try RoomID("b"), kind: .left),
            MembershipChange(user: alice, room: try RoomID("a"), kind: .left),
        ]
        #expect(interest.distribute(changes, loops: 2) == [[], []])
        interest.follow(alice, loop: 0)
        interest.follow(alice, loop: 1)
        interest.follow(bob, loop: 1)
        #expect(interest.distribute(changes, loops: 2) == [[changes[0], changes[2]], changes])
        interest.unfollow(alice, loop: 1)
        interest.unfollow(alice, loop: 1)
        #expect(interest.distribute(changes, loops: 2) == [[changes[0], changes[2]], [changes[1]]])
        #expect(interest.count == 0)
    }

    @Test("ends when it is removed")
    func removes() throws {
        let interest = Interest()
        let room = try RoomID("a")
        interest.add(room, loop: 0)
        interest.add(room, loop: 63)
        interest.remove(room, loop: 0)
        #expect(interest.distribute([batch(room)], loops: 64).map(\.count).firstIndex(of: 1) == 63)
        interest.remove(room, loop: 63)
        interest.remove(room, loop: 63)
        #expect(interest.count == 0)
        #expect(interest.distribute([batch(room)], loops: 64).allSatisfy { $0.isEmpty })
    }
}
