import Chat
import Testing
import Wire

@testable import Server

@Suite("A list of own rooms")
struct OwnRoomsTests {
    private func caller(_ patterns: String...) -> Identity {
        Identity(user: nil, rooms: patterns.map { RoomPattern($0)! })
    }

    private func rooms(of purpose: OwnRooms.Purpose?, among names: String...) throws -> [String] {
        try names.filter { try purpose?.covers(RoomID($0)) == true }
    }

    @Test func `does not apply to rooms that have changed since it was requested`() throws {
        let own = OwnRooms(limit: 10)
        let (a, b) = (try RoomID("a"), try RoomID("b"))
        own.touch(a)
        #expect(own.want(.all))
        own.touch(b)
        #expect(own.listApplies(to: a) && !own.listApplies(to: b))
        #expect(own.listed(for: .all) == nil)
        #expect(own.want(.all) && own.listApplies(to: b))
    }

    @Test func `does not apply to rooms that the client left, until the client or the user rejoins`() throws {
        let own = OwnRooms(limit: 2)
        let rooms = try ["a", "b", "c"].map { try RoomID($0) }
        for room in rooms { own.reject(room) }
        #expect(own.want(.all))
        // Maximum number of remembered rooms.
        #expect(rooms.map(own.listApplies) == [false, false, true])
        own.accept(rooms[0])
        #expect(rooms.map(own.listApplies) == [true, false, true])
        own.reject(rooms[2])
        #expect(own.listed(for: .all) == nil && own.want(.all))
        #expect(rooms.map(own.listApplies) == [true, false, false])
    }

    @Test func `is dropped and requested again if too many rooms have changed`() throws {
        let own = OwnRooms(limit: 2)
        #expect(own.want(.newlyAllowed([caller("a")])))
        for name in ["a", "b", "c"] { own.touch(try RoomID(name)) }
        #expect(try !own.listApplies(to: RoomID("d")))
        let again = own.listed(for: .newlyAllowed([caller("a")]))
        #expect(try rooms(of: again, among: "a", "b") == ["b"])
        #expect(own.want(again!))
        #expect(try own.listApplies(to: RoomID("d")))
        #expect(own.listed(for: again!) == nil)
    }

    @Test func `is requested again if the token has changed, for rooms that the old token did not allow`() throws {
        let own = OwnRooms(limit: 2)
        #expect(own.want(.all))
        #expect(!own.want(.newlyAllowed([caller("a", "b")])))
        #expect(!own.want(.newlyAllowed([caller("b")])))
        let next = own.listed(for: .all)
        #expect(try rooms(of: next, among: "a", "b", "c") == ["a", "c"])
        #expect(own.want(next!))
        #expect(own.listed(for: next!) == nil)
    }
}
