import Chat
import Testing
import Wire

@Suite struct ClientFrameTests {
    private func decode(_ text: String) throws(ClientFrame.Refusal) -> ClientFrame {
        try ClientFrame.decode(Array(text.utf8))
    }

    private func refusal(_ text: String) -> ClientFrame.Refusal? {
        do throws(ClientFrame.Refusal) {
            _ = try decode(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `every frame is parsed`() throws {
        let room = try RoomID("lobby")
        let expected: [(String, ClientFrame)] = [
            (#"{"type":"subscribe","room":"lobby"}"#, .subscribe(room: room, since: nil)),
            (#"{"type":"subscribe","room":"lobby","since":null}"#, .subscribe(room: room, since: nil)),
            (
                #"{"since":57,"epoch":"E1","room":"lobby","type":"subscribe"}"#,
                .subscribe(room: room, since: SincePosition(epoch: "E1", rev: 57))
            ),
            (#"{"type":"subscribe","room":"lobby","since":0}"#, .subscribe(room: room, since: SincePosition(rev: 0))),
            (
                #"{"type":"subscribe","room":"lobby","since":"E1:57"}"#,
                .subscribe(room: room, since: SincePosition(epoch: "E1", rev: 57))
            ),
            (
                #"{"type":"subscribe","room":"lobby","since":"57"}"#,
                .subscribe(room: room, since: SincePosition(rev: 57))
            ),
            (
                #"{"type":"subscribe","room":"lobby","since":99999999999999999999}"#,
                .subscribe(room: room, since: SincePosition(rev: .max))
            ),
            (
                #"{"type":"subscribe","room":"lobby","epoch":"E1"}"#,
                .subscribe(room: room, since: nil, epoch: "E1")
            ), (#"{"type":"subscribe","rooms":"mine"}"#, .subscribeMine()),
            (#"{"type":"subscribe","rooms":"mine","since":null,"epoch":"E1"}"#, .subscribeMine(epoch: "E1")),
            (#"{"type":"unsubscribe","rooms":"mine"}"#, .unsubscribeMine),
            (#"{"type":"subscribe","rooms":null,"room":"lobby"}"#, .subscribe(room: room, since: nil)),
            (#" { "type" : "unsubscribe" , "room" : "lobby" , "x" : [ 1 ] } "#, .unsubscribe(room: room)),
            (#"{"type":"typing","room":"lobby"}"#, .typing(room: room)), (#"{"type":"typing"}"#, .typing(room: nil)),
            (#"{"type":"token","token":"a.b.c"}"#, .token("a.b.c")),
        ]
        for (text, frame) in expected { #expect(try decode(text) == frame) }
    }

    @Test(arguments: ["", "hello", "{", #"{"type":"typing"}}"#, #"{"type":"typing","type":"typing"}"#, "[1", "nul"])
    func `a frame that is not JSON ends the connection`(text: String) {
        guard case .notJSON(let problem) = refusal(text) else {
            Issue.record("\(text) should not be JSON")
            return
        }
        #expect(problem.code == .invalidJSON)
    }

    @Test(arguments: ["[]", "null", "5", #""typing""#, #"[{"type":"typing"}]"#])
    func `a frame that is not a JSON object ends the connection`(text: String) {
        guard case .notObject(let problem) = refusal(text) else {
            Issue.record("\(text) should be no object")
            return
        }
        #expect(problem.code == .invalidJSON)
    }

    @Test(
        arguments: [
            ("{}", .invalidField, "type", nil), (#"{"type":5,"room":"lobby"}"#, .invalidField, "type", "lobby"),
            (#"{"type":null}"#, .invalidField, "type", nil), (#"{"type":"dance"}"#, .unknownType, "type", nil),
            (#"{"type":"dance","room":"lobby"}"#, .unknownType, "type", "lobby"),
            (#"{"type":"subscribe"}"#, .invalidField, "room", nil),
            (#"{"type":"subscribe","room":5}"#, .invalidField, "room", nil),
            (#"{"type":"subscribe","rooms":"all"}"#, .invalidField, "rooms", nil),
            (#"{"type":"subscribe","rooms":["lobby"]}"#, .invalidField, "rooms", nil),
            (#"{"type":"subscribe","rooms":"mine","room":"lobby"}"#, .invalidField, "rooms", "lobby"),
            (#"{"type":"subscribe","rooms":"mine","since":1}"#, .invalidField, "since", nil),
            (#"{"type":"subscribe","rooms":"mine","epoch":"-"}"#, .invalidCursor, "epoch", nil),
            (#"{"type":"subscribe","room":"lobby","epoch":"-"}"#, .invalidCursor, "epoch", "lobby"),
            (#"{"type":"unsubscribe","rooms":"all"}"#, .invalidField, "rooms", nil),
            (#"{"type":"unsubscribe","rooms":"mine","room":"lobby"}"#, .invalidField, "rooms", "lobby"),
            (#"{"type":"subscribe_mine"}"#, .unknownType, "type", nil),
            (#"{"type":"subscribe","room":"not a room"}"#, .invalidRoom, "room", "not a room"),
            (#"{"type":"unsubscribe","room":""}"#, .invalidRoom, "room", ""),
            (#"{"type":"unsubscribe"}"#, .invalidField, "room", nil),
            (#"{"type":"typing","room":"/"}"#, .invalidRoom, "room", "/"),
            (#"{"type":"subscribe","since":true,"room":"lobby"}"#, .invalidField, "since", "lobby"),
            (#"{"type":"subscribe","since":-1,"room":"lobby"}"#, .invalidCursor, "since", "lobby"),
            (#"{"type":"subscribe","since":1.5,"room":"lobby"}"#, .invalidCursor, "since", "lobby"),
            (#"{"type":"subscribe","since":"x","room":"lobby"}"#, .invalidCursor, "since", "lobby"),
            (#"{"type":"subscribe","since":1,"epoch":2,"room":"lobby"}"#, .invalidField, "epoch", "lobby"),
            (#"{"type":"subscribe","since":"A:1","epoch":"B","room":"lobby"}"#, .invalidCursor, "epoch", "lobby"),
            (#"{"type":"token"}"#, .invalidField, "token", nil),
            (#"{"type":"token","token":""}"#, .invalidField, "token", nil),
            (#"{"type":"token","token":7}"#, .invalidField, "token", nil),
        ] as [(String, Problem.Code, String, String?)])
    func `an object that cannot be served is answered with the reason and the room`(
        text: String, code: Problem.Code, field: String, room: String?
    ) {
        guard case .unservable(let problem, let named) = refusal(text) else {
            Issue.record("\(text) should not be served")
            return
        }
        #expect(problem.code == code)
        #expect(problem.field == field)
        #expect(named == room)
    }

    @Test func `a refusal repeats a bounded part of the client's text`() {
        let long = String(repeating: "x", count: 60_000)
        guard case .unservable(let problem, let room) = refusal(#"{"type":"\#(long)","room":"\#(long)"}"#) else {
            Issue.record("it should not be served")
            return
        }
        #expect(problem.detail.utf8.count < 200)
        #expect(room == nil)
    }
}
