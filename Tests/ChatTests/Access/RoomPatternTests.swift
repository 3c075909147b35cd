import Testing
import Wire

@testable import Chat

@Suite("A room pattern")
struct RoomPatternTests {
    @Test(arguments: [
        ("lobby", "lobby", true), ("lobby", "lobb", false), ("lobby", "lobby2", false), ("lobby", "Lobby", false),
        ("*", "lobby", true), ("team-*", "team-1", true), ("team-*", "team-", true), ("team-*", "team", false),
        ("team-*", "a-team-1", false), ("*-chat", "a-chat", true), ("*-chat", "a-chat-b", false),
        ("a*b", "ab", true), ("a*b", "axxb", true), ("a*b", "axxbc", false), ("a*b*c", "a1b2b3c", true),
        ("a*b*c", "a1c2b", false), ("**", "x", true), ("a**", "a", true), ("*ab", "aab", true),
        ("*a*a*", "a", false), ("*a*a*", "baab", true), ("a.b", "axb", false),
    ])
    func `matches its own room id, or with * several`(pattern: String, room: String, expected: Bool) throws {
        let pattern = try #require(RoomPattern(pattern))
        #expect(try pattern.matches(RoomID(room)) == expected)
    }

    @Test func `allows the characters of room ids and *, up to the length of a room id`() {
        #expect(RoomPattern(String(repeating: "*", count: RoomID.maximumBytes)) != nil)
        #expect(RoomPattern(String(repeating: "a", count: RoomID.maximumBytes + 1)) == nil)
        for wrong in ["", "a b", "a/b", "a?", "[ab]", "{a,b}", "é", "a\u{0}"] { #expect(RoomPattern(wrong) == nil) }
    }

    @Test func `is matched in little time, whatever it contains`() throws {
        let pattern = try #require(RoomPattern(String(repeating: "*a", count: 63) + "*b"))
        let room = try RoomID(String(repeating: "a", count: RoomID.maximumBytes))
        #expect(!pattern.matches(room))
    }
}

@Suite("An identity")
struct IdentityTests {
    @Test func `allows the rooms it lists, no rooms with an empty list, and all rooms without a list`() throws {
        let user = try UserID("alice")
        let (lobby, team) = (try RoomID("lobby"), try RoomID("team-1"))
        let patterns = try ["lobby", "x*"].map { try #require(RoomPattern($0)) }
        #expect(Identity(user: user).allows(room: lobby))
        #expect(Identity(user: user, rooms: patterns).allows(room: lobby))
        #expect(!Identity(user: user, rooms: patterns).allows(room: team))
        #expect(!Identity(user: user, rooms: [], isAdmin: true).allows(room: lobby))
    }
}
