import Chat
import Testing
import Wire

@testable import Server

@Suite("What a list of own rooms has to say")
struct OwnRoomsTests {
    private func caller(_ patterns: String...) -> Identity {
        Identity(user: nil, rooms: patterns.map { RoomPattern($0)! })
    }

    private func rooms(of purpose: OwnRooms.Purpose?, among names: String...) throws -> [String] {
        try names.filter { try purpose?.means(RoomID($0)) == true }
    }

    @Test("is nothing of rooms to which something has happened meanwhile")
    func touched() throws {
        let own = OwnRooms(limit: 10)
        let (a, b) = (try RoomID("a"), try RoomID("b"))
        own.touch(a)
        #expect(own.want(.all))
        own.touch(b)
        #expect(own.listTells(of: a) && !own.listTells(of: b))
        #expect(own.listed(for: .all) == nil)
        #expect(own.want(.all) && own.listTells(of: b))
    }

    @Test("is nothing of rooms that the client has left itself, until it comes back, or the user does")
    func unwanted() throws {
        let own = OwnRooms(limit: 2)
        let rooms = try ["a", "b", "c"].map { try RoomID($0) }
        for room in rooms { own.reject(room) }
        #expect(own.want(.all))
        // So many are remembered.
        #expect(rooms.map(own.listTells) == [false, false, true])
        own.accept(rooms[0])
        #expect(rooms.map(own.listTells) == [true, false, true])
        own.reject(rooms[2])
        #expect(own.listed(for: .all) == nil && own.want(.all))
        #expect(rooms.map(own.listTells) == [true, false, false])
    }

    @Test("is nothing at all when more has happened than is remembered, and it is asked for again")
    func outdated() throws {
        let own = OwnRooms(limit: 2)
        #expect(own.want(.newlyAllowed([caller("a")])))
        for name in ["a", "b", "c"] { own.touch(try RoomID(name)) }
        #expect(try !own.listTells(of: RoomID("d")))
        let again = own.listed(for: .newlyAllowed([caller("a")]))
        #expect(try rooms(of: again, among: "a", "b") == ["b"])
        #expect(own.want(again!))
        #expect(try own.listTells(of: RoomID("d")))
        #expect(own.listed(for: again!) == nil)
    }

    @Test("is asked for once more when the token has changed meanwhile, for all that a former one did not allow")
    func renewed() throws {
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
