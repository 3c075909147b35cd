import Foundation
import HTTP
import HTTPTypes
import Logging
import TestSupport
import Testing
import Transport
import WebSocket

@testable import Server

@Suite("The request log")
struct RequestLogTests {
    /// A line of the JSON log.
    private struct Line {
        var message: String
        var values: [String: Any]

        subscript(key: String) -> String? { values[key] as? String }
        func number(_ key: String) -> Double? { (values[key] as? NSNumber)?.doubleValue }
    }

    /// Runs `body` with a server, and returns its log lines with these messages.
    private func log(
        _ logging: RequestLogging, level: Logger.Level = .info, of messages: [String] = ["request"],
        configure: (inout ServerConfiguration) -> Void = { _ in }, _ body: (LiveServer) throws -> Void
    ) throws -> [Line] {
        let pipe = PipeEnds()
        let logger = makeLogger(label: "test", format: .json, level: level, output: LogOutput(descriptor: pipe.writing))
        try withServer(
            {
                $0.requestLogging = logging
                configure(&$0)
            }, logger: logger, body)
        return try lines(pipe.finish()).filter { messages.contains($0.message) }
    }

    private func lines(_ text: String) throws -> [Line] {
        try text.split(separator: "\n").map { line in
            let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            return Line(
                message: object["message"] as? String ?? "", values: object["metadata"] as? [String: Any] ?? [:])
        }
    }

    private func visit(_ server: LiveServer) throws {
        let client = try HTTPClient(port: server.port)
        try client.send("a secret text", id: "a1")
        #expect(try client.get("/v1/rooms/lobby/messages?limit=0&user=bob").status == .badRequest)
        #expect(try client.get("/nowhere?access_token=a-secret-token").status == .notFound)
        #expect(try client.get("/healthz").status == .ok)
        try client.write("GET /late HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n")
        #expect(try client.response().status == .badRequest)
    }

    @Test func `is off by default`() throws {
        #expect(ServerConfiguration().requestLogging == .off)
        let lines = try log(.off) { try visit($0) }
        #expect(lines.isEmpty)
    }

    @Test func `has a line for each refused request, with its code and without its query`() throws {
        // Request lines are written at any log level.
        let lines = try log(.refused, level: .error) { try visit($0) }
        #expect(lines.map { $0.number("status") } == [400, 404, 400])
        #expect(lines.map { $0["code"] } == ["invalid_limit", "not_found", "host_repeated"])
        #expect(lines.map { $0["path"] } == ["/v1/rooms/lobby/messages", "/nowhere", "/late"])
        #expect(lines.map { $0["user"] } == ["bob", nil, nil])
        for line in lines {
            #expect(line["method"] == "GET")
            #expect(line["address"] == "127.0.0.1")
            #expect(line.number("duration_ms").map { $0 >= 0 } == true)
            #expect(line.number("bytes").map { $0 > 100 } == true)
            #expect(!"\(line.values)".contains("secret"))
        }
    }

    @Test func `has a line for every request, without tokens and messages`() throws {
        let lines = try log(.all) { server in
            try visit(server)
            try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=carol").greeting()
            try EventStreamClient(port: server.port, "/v1/rooms/lobby/live?user=dan").greeting()
        }
        #expect(lines.map { $0.number("status") } == [201, 400, 404, 200, 400, 101, 200])
        let sent = try #require(lines.first)
        #expect(sent["method"] == "POST" && sent["user"] == "alice" && sent["code"] == nil)
        #expect(lines.suffix(2).map { $0["user"] } == ["carol", "dan"])
        #expect(!lines.contains { "\($0.values)".contains("secret") })
    }

    @Test func `has the trace that a request belongs to`() throws {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let field = HTTPField("traceparent", trace)
        let lines = try log(.all, level: .debug, of: ["request", "socket opened"]) { server in
            let client = try HTTPClient(port: server.port)
            _ = try client.get("/v1/rooms/lobby/messages", fields: [field])
            _ = try client.get("/nowhere", fields: [field])
            _ = try client.get("/healthz", fields: [field, field])
            _ = try client.get("/healthz", fields: [HTTPField("traceparent", "secret")])
            try WebSocketClient(port: server.port, "/v1/rooms/lobby/live", fields: [field]).greeting()
        }
        #expect(lines.map { $0["trace"] } == [trace, trace, nil, nil, trace, trace])
    }

    @Test func `includes requests refused with their connection, and malformed ones`() throws {
        let lines = try log(.refused) {
            $0.transport.connections = 0
        } _: { server in
            let client = try HTTPClient(port: server.port)
            #expect(try client.get("/x").status == .serviceUnavailable)
            let silent = try HTTPClient(port: server.port)
            #expect(try silent.response().status == .serviceUnavailable)
        }
        #expect(lines.map { $0["code"] } == ["too_many_connections", "too_many_connections"])
        #expect(lines.map { $0["path"] } == ["/x", nil])
        #expect(lines.map { $0["method"] } == ["GET", nil])
    }

    @Test func `has the client's address behind a trusted proxy`() throws {
        let lines = try log(.all) {
            $0.trustedProxies = [IPRange("127.0.0.1")!]
        } _: { server in
            let client = try HTTPClient(port: server.port)
            _ = try client.get("/", fields: [HTTPField("X-Forwarded-For", "1.1.1.1, 2001:db8::7")])
        }
        #expect(lines.map { $0["address"] } == ["2001:db8::7"])
    }

    @Test func `has sockets at debug level: when they open, and how and why they close`() throws {
        // Open until the server stops.
        var last: WebSocketClient?
        let lines = try log(.off, level: .debug, of: ["socket opened", "socket closed"]) { server in
            let polite = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=alice&x=secret")
            try polite.greeting()
            try polite.send(.close, [3, 232])
            _ = try polite.closeCode()
            let wrong = try WebSocketClient(port: server.port, "/v1/live?user=bob")
            try wrong.send("{")
            _ = try wrong.closeCode()
            let client = try HTTPClient(port: server.port)
            let stream = try EventStreamClient(port: server.port, "/v1/rooms/lobby/live?user=carol")
            try stream.greeting()
            stream.close()
            let cut = try WebSocketClient(port: server.port)
            try cut.greeting()
            cut.http.reset()
            // The server notices the ends asynchronously.
            while try !client.get("/metrics").text.contains("\nbackscroll_subscribers 0\n") {}
            last = try WebSocketClient(port: server.port)
            try last?.greeting()
        }
        _ = last
        let opened = lines.filter { $0.message == "socket opened" }
        #expect(opened.map { $0["user"] } == ["alice", "bob", "carol", nil, nil])
        #expect(opened.map { $0["kind"] } == ["WebSocket", "WebSocket", "event stream", "WebSocket", "WebSocket"])
        #expect(opened.first?["path"] == "/v1/rooms/lobby/live" && opened.first?["address"] == "127.0.0.1")
        let ends = try opened.map { opened in
            try #require(lines.first { $0.message == "socket closed" && $0["socket"] == opened["socket"] })
        }
        #expect(ends.map { $0.number("code") } == [1000, 1007, nil, 1006, 1001])
        let gone = "the client ended the connection"
        #expect(ends.map { $0["cause"] }.prefix(1) == ["the client closed it"])
        #expect(ends[1]["cause"] == "The JSON text is incomplete.")
        #expect(ends[2...3].map { $0["cause"] } == [gone, gone])
        #expect(ends[4]["cause"] == "the server is going away")
        #expect(!lines.contains { "\($0.values)".contains("secret") })
    }
}
