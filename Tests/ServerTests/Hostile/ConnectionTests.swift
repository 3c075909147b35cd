import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport

@Suite("A connection")
struct ConnectionTests {
    private let head = "POST /v1/rooms/lobby/messages?user=a HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n"
    private let body = #"{"text":"x"}"#

    @Test func `whose client waits for 100 Continue gets it`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.write("\(head)Expect: 100-continue\r\n\r\n")
            let goOn = "HTTP/1.1 100 Continue\r\n\r\n"
            #expect(try client.socket.receive(asLongAs: goOn) == goOn)
            try client.write(body)
            #expect(try client.response().status == .created)
            // Not if the body has already arrived.
            try client.write("\(head)Expect: 100-continue\r\n\r\n\(body)")
            let answer = try client.socket.receive { $0.count >= 12 }
            #expect(String(decoding: answer.prefix(12), as: UTF8.self) == "HTTP/1.1 201")
        }
    }

    @Test func `with another expectation is refused`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.write("\(head)Expect: miracles\r\n\r\n")
            #expect(try client.response().status == .expectationFailed)
            #expect(try client.endsSilently())
        }
    }

    @Test func `whose client has closed its sending side gets its answers, whatever their number and size`() throws {
        try withServer {
            $0.transport.sendBuffer = 16 * 1024
        } _: { server in
            let client = try HTTPClient(port: server.port, receiveBuffer: 16 * 1024)
            let sends = (0..<20).flatMap { _ in
                HTTPClient.bytes(sending: HTTPClient.draft(String(repeating: "x", count: 10_000)))
            }
            try client.write(sends + HTTPClient.bytes(.get, "/v1/rooms/lobby/messages"))
            client.socket.finishSending()
            let responses = try client.responsesToEnd()
            #expect(responses.count == 21)
            #expect(responses.prefix(20).allSatisfy { $0.status == .created })
            #expect(try decode(responses.last?.body ?? [], as: ReceivedPage.self).messages.count == 20)
        }
    }

    @Test func `whose client leaves before the answer affects no other client, and its send is stored`() throws {
        try withServer { server in
            let watching = try WebSocketClient(port: server.port)
            try watching.greeting()
            for round in 1...30 {
                let client = try HTTPClient(port: server.port)
                try client.write(HTTPClient.bytes(sending: HTTPClient.draft("\(round)")))
                round % 2 == 0 ? client.close() : client.socket.finishSending()
                #expect(try watching.message().text == "\(round)")
            }
        }
    }

    @Test func `that is reset at any moment affects no other client`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            let targets = ["/v1/rooms/lobby/messages?limit=200", "/v1/rooms/lobby/changes", "/healthz"]
            let sender = try HTTPClient(port: server.port)
            for _ in 0..<20 { try sender.send(String(repeating: "x", count: 10_000)) }
            for round in 0..<60 {
                let client = try HTTPClient(port: server.port, receiveBuffer: 16 * 1024)
                switch round % 4 {
                case 3: _ = try? LiveFormat.webSocket.subscribe(port: server.port, query: "since=0").frame()
                default: try client.write((0..<5).flatMap { _ in HTTPClient.bytes(.get, targets[round % 3]) })
                }
                client.reset()
            }
            #expect(try sender.send("still there").seq == 21)
        }
    }

    @Test func `of HTTP/1.0 ends after the answer, unless it asks for keep-alive`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.write("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(try client.response().keepAlive)
            try client.write("GET /healthz HTTP/1.0\r\n\r\n")
            #expect(try client.response().status == .ok)
            #expect(try client.endsSilently())
        }
    }

    @Test func `above the maximum is refused with 503, until another one ends`() throws {
        try withServer {
            $0.transport.connections = 4
        } _: { server in
            var clients = try (0..<4).map { _ in try HTTPClient(port: server.port) }
            for client in clients { #expect(try client.get("/healthz").status == .ok) }
            let refused = try HTTPClient(port: server.port)
            let response = try refused.response()
            #expect(response.status == .serviceUnavailable)
            #expect(try response.problem.code == "too_many_connections")
            #expect(response["Retry-After"] != nil)
            #expect(try refused.endsSilently())
            for client in clients { #expect(try client.get("/healthz").status == .ok) }
            clients.removeLast().close()
            // The server notices the end asynchronously.
            while true {
                let client = try HTTPClient(port: server.port)
                try? client.write(HTTPClient.bytes(.get, "/healthz"))
                if try client.response().status == .ok { break }
            }
        }
    }
}
