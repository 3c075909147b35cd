import Testing
import Wire

@Suite struct ServerFrameTests {
    @Test func `every frame is encoded`() throws {
        let room = try RoomID("lobby")
        let user = try UserID("ü\"")
        let expected: [(ServerFrame, String)] = [
            (
                .subscribed(room: room, head: 5, rev: 9, epoch: "E1"),
                #"{"type":"subscribed","room":"lobby","head":5,"rev":9,"epoch":"E1"}"#
            ),
            (.live(room: room, rev: 9), #"{"type":"live","room":"lobby","rev":9}"#),
            (.typing(room: room, user: user), #"{"type":"typing","room":"lobby","user":"ü\""}"#),
            (.read(room: room, user: user, seq: 5), #"{"type":"read","room":"lobby","user":"ü\"","seq":5}"#),
            (.presence(room: room, online: 3), #"{"type":"presence","room":"lobby","online":3}"#),
            (
                .error(
                    Problem(code: .messageNotFound, detail: "The room has no such message."), room: "not a \"room\""),
                """
                {"type":"error","code":"message_not_found","message":"The room has no such message.",\
                "room":"not a \\"room\\""}
                """
            ),
            (
                .error(Problem(code: .messageNotFound, detail: "The room has no such message.")),
                #"{"type":"error","code":"message_not_found","message":"The room has no such message."}"#
            ),
        ]
        for (frame, text) in expected {
            #expect(written(frame.encode) == text)
            #expect(text.hasPrefix("{\"type\":\"\(frame.type)\""))
        }
    }

    @Test func `a message is embedded unchanged`() {
        let snapshot = Array(#"{"seq":1}"#.utf8)
        let frame = written { ServerFrame.appendMessage(snapshot.span, to: &$0) }
        #expect(frame == #"{"type":"message","message":{"seq":1}}"#)
        #expect(frame.utf8.count == snapshot.count + ServerFrame.messageOverhead)
        #expect(frame == "\(ServerFrame.messagePrefix)\(#"{"seq":1}"#)\(ServerFrame.messageSuffix)")
    }
}
