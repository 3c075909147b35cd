import HTTPTypes
import Testing
import Wire

@testable import Server

@Suite("A route")
struct RouteTests {
    private let lobby = try! RoomID("lobby")

    @Test("is found by the path's segments")
    func finds() throws {
        #expect(try Route([""]) == .index)
        #expect(try Route(["page", "app.js"]) == .pageFile(name: "app.js"))
        #expect(try Route(["healthz"]) == .health)
        #expect(try Route(["readyz"]) == .readiness)
        #expect(try Route(["metrics"]) == .metrics)
        #expect(try Route(["v1", "rooms"]) == .rooms)
        #expect(try Route(["v1", "rooms", "lobby"]) == .room(lobby))
        #expect(try Route(["v1", "rooms", "lobby", "messages"]) == .messages(lobby))
        #expect(try Route(["v1", "rooms", "lobby", "messages", "7"]) == .message(lobby, seq: 7))
        #expect(
            try Route(["v1", "rooms", "lobby", "messages", "by-client-id", "a/1"]) == .clientMessage(lobby, id: "a/1"))
        #expect(
            try Route(["v1", "rooms", "lobby", "messages", "7", "reactions", "a/1"])
                == .reaction(lobby, seq: 7, ReactionKey("a/1")))
        #expect(try Route(["v1", "rooms", "lobby", "changes"]) == .changes(lobby))
        #expect(try Route(["v1", "rooms", "lobby", "members"]) == .members(lobby))
        #expect(try Route(["v1", "rooms", "lobby", "members", "a/b"]) == .member(lobby, try UserID("a/b")))
        #expect(try Route(["v1", "rooms", "lobby", "read"]) == .read(lobby))
        #expect(try Route(["v1", "rooms", "lobby", "live"]) == .live(lobby))
        #expect(try Route(["v1", "live"]) == .liveRooms)
        #expect(try Route(["v1", "rooms", "lobby", "presence"]) == .presence(lobby))
    }

    @Test(
        "is not found for other paths",
        arguments: [
            [], ["v1"], ["v2", "rooms"], ["v2", "rooms", "lobby"], ["v1", "room", "lobby"], ["healthz", ""],
            ["v1", "lives"], ["v2", "live"],
            ["V1", "rooms", "lobby"], ["v1", "rooms", "lobby", "Messages"],
            ["v1", "rooms", "lobby", "messages", "1", "2"],
            ["v1", "rooms", "lobby", "messages", "1", "reactions"],
            ["v1", "rooms", "lobby", "messages", "1", "reactions", "x", "y"],
            ["v1", "rooms", "lobby", "messages", "1", "likes", "x"],
            ["v1", "rooms", "lobby", "messages", "by-client-id", "a", "b"], ["v1", "rooms", "lobby", "live", ""],
            ["v1", "rooms", "lobby", ""],
        ] as [[String]])
    func findsNothing(segments: [String]) throws {
        #expect(try Route(segments) == nil)
    }

    @Test("treats a seq that is too large as a missing message")
    func clampsSeq() throws {
        let route = try Route(["v1", "rooms", "lobby", "messages", "99999999999999999999"])
        #expect(route == .message(lobby, seq: .max))
    }

    @Test("refuses an invalid seq", arguments: ["", "-1", "+1", "1.0", "x", "١", "0x1"])
    func refusesSeq(text: String) {
        let problem = #expect(throws: Problem.self) { try Route(["v1", "rooms", "lobby", "messages", text]) }
        #expect(problem?.code == .invalidField)
        #expect(problem?.field == "seq")
        #expect(problem?.detail == "seq must be a decimal number.")
    }

    @Test("refuses an invalid reaction key", arguments: ["", " ", ".", "..", String(repeating: "x", count: 65)])
    func refusesKey(text: String) {
        let problem = #expect(throws: Problem.self) {
            try Route(["v1", "rooms", "lobby", "messages", "1", "reactions", text])
        }
        #expect(problem == .invalidReaction)
    }

    @Test("lists its methods")
    func methods() throws {
        #expect(Route.messages(lobby).allowed == "GET, HEAD, POST, OPTIONS")
        #expect(Route.message(lobby, seq: 1).allowed == "GET, HEAD, PATCH, DELETE, OPTIONS")
        #expect(try Route.reaction(lobby, seq: 1, ReactionKey("x")).allowed == "GET, HEAD, PUT, DELETE, OPTIONS")
        #expect(Route.read(lobby).allowed == "PUT, OPTIONS")
        #expect(Route.live(lobby).allowed == "GET, OPTIONS")
        #expect(Route.liveRooms.allowed == "GET, OPTIONS")
        #expect(Route.room(lobby).allowed == "GET, HEAD, PUT, DELETE, OPTIONS")
        #expect(Route.changes(lobby).allowed == "GET, HEAD, OPTIONS")
    }
}
