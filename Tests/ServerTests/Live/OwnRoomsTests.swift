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
        #expect(own.isSettled(a) && !own.isSettled(b))
        #expect(own.listed(for: .all) == nil)
        #expect(own.want(.all) && own.isSettled(b))
    }

    @Test("is nothing at all when more has happened than is remembered, and it is asked for again")
    func outdated() throws {
        let own = OwnRooms(limit: 2)
        #expect(own.want(.newlyAllowed([caller("a")])))
        for name in ["a", "b", "c"] { own.touch(try RoomID(name)) }
        #expect(try !own.isSettled(RoomID("d")))
        let again = own.listed(for: .newlyAllowed([caller("a")]))
        #expect(try rooms(of: again, among: "a", "b") == ["b"])
        #expect(own.want(again!))
        #expect(try own.isSettled(RoomID("d")))
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
