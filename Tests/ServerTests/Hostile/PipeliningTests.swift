import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport

@Suite("Pipelined requests")
struct PipeliningTests {
    @Test(arguments: [1, 2])
    func `with sends are carried out and answered in order`(threads: Int) throws {
        try withServer {
            $0.threads = threads
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.write((1...200).flatMap { HTTPClient.bytes(sending: HTTPClient.draft("\($0)", id: "\($0)")) })
            for seq in 1...200 as ClosedRange<Int64> {
                let response = try client.response()
                #expect(response.status == .created)
                let message: ReceivedMessage = try decode(response.body)
                #expect(message.seq == seq && message.text == "\(seq)")
            }
        }
    }

    @Test func `are carried out and answered in order, also from a client that waited for answers before`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            var seq: Int64 = 0
            for _ in 1...3 {
                seq += 1
                #expect(try client.send("\(seq)").seq == seq)
                let ahead = (seq + 1...seq + 300).map { HTTPClient.draft("\($0)", id: "\($0)") }
                try client.write(ahead.flatMap { HTTPClient.bytes(sending: $0) })
                for _ in ahead {
                    seq += 1
                    let message: ReceivedMessage = try decode(client.response().body)
                    #expect(message.seq == seq && message.text == "\(seq)")
                }
            }
        }
    }

    @Test func `of all kinds see the effects of earlier ones`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for round in 1...20 {
                let send = HTTPClient.bytes(sending: HTTPClient.draft("\(round)"))
                let targets = [
                    "/v1/rooms/lobby", "/v1/rooms/lobby/messages?limit=1", "/v1/rooms/lobby/messages/\(round)",
                ]
                try client.write(
                    send + targets.flatMap { HTTPClient.bytes(.get, $0) } + HTTPClient.bytes(.head, "/healthz"))
                #expect(try client.response().status == .created)
                #expect(try decode(client.response().body, as: ReceivedRoom.self).head == Int64(round))
                #expect(try decode(client.response().body, as: ReceivedPage.self).seqs == [Int64(round)])
                #expect(try decode(client.response().body, as: ReceivedMessage.self).text == "\(round)")
                #expect(try client.response(isHead: true).status == .ok)
            }
        }
    }

    @Test func `are answered one by one, even if thousands arrive at once`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("x")
            let count = 3000
            let page = HTTPClient.bytes(.get, "/v1/rooms/lobby/messages?limit=1")
            let health = HTTPClient.bytes(.get, "/healthz")
            try client.write((0..<count).flatMap { $0 % 3 == 0 ? page : health })
            for index in 0..<count {
                let response = try client.response()
                guard response.status == .ok, (response.body.count > 100) == (index % 3 == 0) else {
                    throw Unexpected(response)
                }
            }
        }
    }

    @Test func `before an invalid one are answered; then it is refused and the connection ends`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let good = HTTPClient.bytes(.get, "/healthz") + HTTPClient.bytes(sending: HTTPClient.draft("x"))
            let behind = HTTPClient.bytes(sending: HTTPClient.draft("never"))
            try client.write(good + Array("GET /healthz HTTP/1.1\r\n\r\n".utf8) + behind)
            #expect(try client.response().status == .ok)
            #expect(try client.response().status == .created)
            let refusal = try client.response()
            #expect(refusal.status == .badRequest)
            #expect(try refusal.problem.code == "host_missing")
            #expect(!refusal.keepAlive)
            #expect(try client.endsSilently())
            let other = try HTTPClient(port: server.port)
            #expect(try other.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 1)
        }
    }

    @Test func `after one that ends the connection are not served`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let last = HTTPClient.bytes(.get, "/healthz", fields: [HTTPField("Connection", "close")])
            try client.write(last + HTTPClient.bytes(sending: HTTPClient.draft("never")))
            let response = try client.response()
            #expect(response.status == .ok && !response.keepAlive)
            #expect(try client.endsSilently())
            let other = try HTTPClient(port: server.port)
            #expect(try other.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == 0)
        }
    }

    @Test func `are all answered if the client reads slowly, and none times out`() throws {
        try withServer {
            $0.transport.sendBuffer = 16 * 1024
            $0.deadlines.head = .milliseconds(200)
            $0.deadlines.idle = .milliseconds(200)
        } _: { server in
            let sender = try HTTPClient(port: server.port)
            let sends = (0..<5).flatMap { _ in
                HTTPClient.bytes(sending: HTTPClient.draft(String(repeating: "x", count: 16_000)))
            }
            try sender.write(sends)
            for _ in 0..<5 { #expect(try sender.response().status == .created) }
            let client = try HTTPClient(port: server.port, receiveBuffer: 16 * 1024)
            try client.write((0..<100).flatMap { _ in HTTPClient.bytes(.get, "/v1/rooms/lobby/messages") })
            // Other clients time out twice, while these answers wait to be read.
            for _ in 0..<2 {
                let late = try HTTPClient(port: server.port)
                try late.write("GET /")
                #expect(try late.response().status == .requestTimeout)
            }
            for _ in 0..<100 { #expect(try client.response().status == .ok) }
        }
    }
}
