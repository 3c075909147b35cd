import HTTP
import HTTPTypes
import Testing
import WebSocket

@Suite("The operational endpoints")
struct OperationTests {
    @Test func `report that the server is alive, that it can store, and its version`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let health = try client.get("/healthz")
            #expect(health.status == .ok)
            #expect(health.text == #"{"status":"ok"}"#)
            let readiness = try client.get("/readyz")
            #expect(readiness.status == .ok)
            #expect(readiness.text == #"{"status":"ready"}"#)
            let index = try client.get("/")
            #expect(index.status == .ok)
            #expect(index.text.contains("Backscroll"))
        }
    }

    @Test func `count events in the metrics`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            try client.send("1", id: "a1")
            #expect(try client.post(HTTPClient.draft("1", id: "a1")).status == .ok)
            _ = try client.get("/v1/rooms/lobby/messages")
            _ = try client.get("/nowhere")
            _ = try socket.message()
            let response = try client.get("/metrics")
            #expect(response["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            let samples = Set(response.text.split(separator: "\n").map(String.init))
            for sample in [
                "backscroll_messages_stored_total 1", "backscroll_messages_duplicate_total 1",
                "backscroll_deliveries_total 1", "backscroll_page_reads_total 1", "backscroll_connections 2",
                "backscroll_queued_sends 0", "backscroll_subscribers 1", "backscroll_feeds 1",
            ] {
                #expect(samples.contains(sample), "\(sample) in \(response.text)")
            }
        }
    }

    @Test func `count how sockets ended, and no longer count those that left`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            try client.send("x")
            _ = try socket.message()
            try socket.send(.close, [3, 232])
            #expect(try socket.closeCode() == .normalClosure)
            let stream = try EventStreamClient(port: server.port)
            try stream.greeting()
            try WebSocketClient(port: server.port).greeting()
            stream.close()
            // The server notices the ends asynchronously.
            var samples: Set<String> = []
            while !samples.isSuperset(of: ["backscroll_subscribers 0", "backscroll_feeds 0"]) {
                samples = Set(try client.get("/metrics").text.split(separator: "\n").map(String.init))
            }
            #expect(samples.contains(#"backscroll_websocket_closes_total{code="1000"} 1"#))
            #expect(samples.contains(#"backscroll_websocket_closes_total{code="1006"} 1"#))
            #expect(!samples.contains("backscroll_delivered_bytes_total 0"))
        }
    }
}
