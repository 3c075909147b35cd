import HTTP
import HTTPTypes
import Testing

@Suite("Changes of messages, live")
struct ChangePushTests {
    @Test(arguments: LiveFormat.allCases)
    func `are pushed in order of revision, with the same bytes as the answers`(format: LiveFormat) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let live = try format.subscribe(port: server.port)
            try live.greeting()
            let answers = [
                try client.change(.patch, "1", #"{"text":"one"}"#), try client.change(.put, "1/reactions/x", as: "bob"),
                try client.post(#"{"text":"2"}"#), try client.change(.delete, "1"),
                try client.change(.patch, "2", #"{"text":"two"}"#),
            ]
            // A change without effect is not pushed.
            _ = try client.change(.delete, "1")
            _ = try client.change(.patch, "2", #"{"text":"two"}"#)
            let last = try client.post(#"{"text":"3"}"#)
            for answer in answers + [last] {
                #expect(
                    try String(decoding: live.next(), as: UTF8.self) == #"{"type":"message","message":\#(answer.text)}"#
                )
            }
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `in one commit are each pushed, in order, mixed with sends`(format: LiveFormat) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let live = try format.subscribe(port: server.port)
            try live.greeting()
            let messages = "/v1/rooms/lobby/messages"
            // Each connection has one pending request, so these are committed together.
            let users = (0..<20).map { "user\($0)" }
            let clients = try users.map { _ in try HTTPClient(port: server.port) }
            for (user, client) in zip(users, clients) {
                try client.write(HTTPClient.bytes(.put, "\(messages)/1/reactions/x?user=\(user)"))
                try client.write(HTTPClient.bytes(sending: HTTPClient.draft(user), as: user))
            }
            for client in clients {
                #expect(try client.response().status == .ok)
                #expect(try client.response().status == .created)
            }
            var count = 0
            for rev in 2...41 as ClosedRange<Int64> {
                let message = try live.message()
                #expect(message.rev == rev)
                guard message.seq == 1 else { continue }
                count += 1
                #expect(message.reactions?.first?.count == count)
            }
            #expect(count == 20)
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `are replayed once for each message, as it is now`(format: LiveFormat) throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for text in ["1", "2", "3"] { try client.send(text) }
            for user in 0..<10 { _ = try client.change(.put, "2/reactions/x", as: "user\(user)") }
            _ = try client.change(.delete, "1")
            let live = try format.subscribe(port: server.port, query: "since=2")
            let room = try live.frame().room
            #expect(room?.head == 3 && room?.rev == 14)
            #expect(try live.message().seq == 3)
            let liked = try live.message()
            #expect(liked.seq == 2 && liked.rev == 13 && liked.reactions?.first?.count == 10)
            let deleted = try live.message()
            #expect(deleted.seq == 1 && deleted.rev == 14 && deleted.deleted == true && deleted.text == nil)
            #expect(try live.frame().liveRev == 14)
            _ = try client.change(.put, "3/reactions/x")
            #expect(try live.message().rev == 15)
        }
    }
}
