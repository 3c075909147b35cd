import Chat
import Testing
import Wire

@Suite struct InboxTests {
    private func activity(_ milliseconds: Int64, _ room: String) throws -> InboxCursor.Activity {
        InboxCursor.Activity(milliseconds: milliseconds, room: try RoomID(room))
    }

    @Test func `rooms are sorted by activity, latest first, then by the bytes of their ids`() throws {
        let sorted = try [
            activity(9, "b"), activity(8, "B"), activity(8, "a"), activity(8, "a-"), activity(8, "a0"),
            activity(0, "c"),
        ]
        #expect(sorted.shuffled().sorted() == sorted)
        #expect(try activity(-5, "a") == activity(0, "a"))
    }

    @Test func `a cursor is parsed as written`() throws {
        let cursor = InboxCursor(epoch: "E1", activity: try activity(1_700_000_000_000, "a.b~c"))
        #expect(cursor.description == "E1:1700000000000:a.b~c")
        #expect(try InboxCursor(parsing: cursor.description) == cursor)
    }

    @Test(arguments: ["", "E1", "E1:1", "E1:1:", ":1:a", "E 1:1:a", "E1:-1:a", "E1:x:a", "E1::a", "E1:1:a:b", "E1:1:é"])
    func `an invalid cursor is refused`(text: String) {
        let problem = #expect(throws: Problem.self) { try InboxCursor(parsing: text) }
        #expect(problem?.status == 400 && problem?.code == .invalidCursor && problem?.field == "cursor")
    }

    @Test func `the limit of a request must be in range`() throws {
        #expect(try InboxRequest.parse(cursor: nil, limit: nil) == InboxRequest(cursor: nil, limit: 30))
        #expect(try InboxRequest.parse(cursor: "E1:5:a", limit: "200").limit == 200)
        for limit in ["0", "201", "x", ""] {
            let problem = #expect(throws: Problem.self) { try InboxRequest.parse(cursor: nil, limit: limit) }
            #expect(problem == .invalidLimit(maximum: 200))
        }
    }

    @Test func `an answer has each room with its newest message, and the next cursor`() throws {
        let summary = RoomSummary(room: try RoomID("r"), head: 1, rev: 1, epoch: "E1", role: .member)
        let rooms = [
            InboxRoom(summary: summary, lastMessage: Array(#"{"seq":1}"#.utf8)),
            InboxRoom(summary: summary, lastMessage: nil),
        ]
        let row = #"{"room":"r","head":1,"rev":1,"epoch":"E1","role":"member""#
        #expect(
            written { InboxSlice(rooms: rooms, next: nil).encode(epoch: "E1", into: &$0) }
                == #"{"rooms":[\#(row),"last_message":{"seq":1}},\#(row)}],"has_more":false,"epoch":"E1"}"#)
        let next = InboxCursor(epoch: "E1", activity: try activity(5, "r"))
        #expect(
            written { InboxSlice(rooms: [], next: next).encode(epoch: "E1", into: &$0) }
                == #"{"rooms":[],"has_more":true,"cursor":"E1:5:r","epoch":"E1"}"#)
    }
}
