import Server
import Testing

@Suite("A read notice")
struct ReadNoticeTests {
    @Test func `reaches the room's subscribers, the user's own included, on every loop and kind of connection`() throws
    {
        try withServer {
            $0.threads = 4
            $0.readNoticeInterval = .milliseconds(100)
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for index in 1...5 { try client.send("\(index)") }
            let live = "/v1/rooms/lobby/live?user="
            // Enough sockets for every loop to have some.
            let sockets = try (0..<8).map { try WebSocketClient(port: server.port, live + ($0 < 4 ? "bob" : "carol")) }
            let many = try (0..<8).map { _ in try WebSocketClient.forRooms(port: server.port) }
            let stream = try EventStreamClient(port: server.port)
            let elsewhere = try WebSocketClient(port: server.port, "/v1/rooms/other/live?user=bob")
            for socket in sockets + [elsewhere] { try socket.greeting() }
            for socket in many { try socket.join("lobby") }
            try stream.greeting()

            _ = try client.read(to: 3, as: "bob")
            for socket in sockets + many {
                let notice = try String(decoding: socket.next(), as: UTF8.self)
                #expect(notice == #"{"type":"read","room":"lobby","user":"bob","seq":3}"#)
            }
            let event = try stream.event()
            #expect(event.type == "read" && event.id == nil)
            #expect(try elsewhere.isQuiet())
        }
    }

    @Test func `is sent once in an interval with the latest mark, and only if the mark has moved`() throws {
        try withServer {
            $0.readNoticeInterval = .milliseconds(500)
        } _: { server in
            let client = try HTTPClient(port: server.port)
            for index in 1...5 { try client.send("\(index)") }
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            for seq in [2, 3, 1, 5, 4] as [Int64] { _ = try client.read(to: seq, as: "bob") }
            var seqs: [Int64] = []
            while seqs.last != 5 {
                guard case .read("lobby", user: "bob", let seq) = try socket.frame().content else {
                    throw Unexpected("another frame")
                }
                seqs.append(seq)
            }
            // On a slow machine the moves take more than one interval.
            #expect(seqs == seqs.sorted() && Set(seqs).count == seqs.count)
            _ = try client.read(to: 5, as: "bob")
            _ = try client.read(to: 1, as: "carol")
            guard case .read("lobby", user: "carol", seq: 1) = try socket.frame().content else {
                throw Unexpected("another frame")
            }
        }
    }

    @Test func `is not sent if read notices are off`() throws {
        try withServer {
            $0.readNotices = false
            $0.readNoticeInterval = .zero
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1")
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            #expect(try client.read(to: 1, as: "bob").read == 1)
            try client.send("2")
            #expect(try socket.message().text == "2")
        }
    }
}
