import HTTP
import HTTPTypes
import Logging
import Server
import Synchronization
import TestSupport
import Testing
import Transport
import WebSocket

@Suite("A client that sends much ahead lets the others of its loop go first")
struct TurnTests {
    /// Records the paths of requests, and holds the loop at the path `/hold` until it is released.
    private struct HoldingHandler: LogHandler {
        let paths: Recorder<String>
        let released: Recorder<Bool>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard case .string(let path)? = event.metadata?["path"] else { return }
            paths.record(path)
            if path == "/hold" { _ = try? released.wait(for: 1) }
        }
    }

    /// Runs `body` with a server of one loop. `body` calls its second argument with what to write while the loop is held.
    private func withHeldLoop(
        _ body: (LiveServer, Recorder<String>, (() throws -> Void) throws -> Void) throws -> Void
    ) throws {
        let (paths, released) = (Recorder<String>(), Recorder<Bool>())
        let logger = Logger(label: "test") { _ in HoldingHandler(paths: paths, released: released) }
        try withServer(
            {
                $0.threads = 1
                $0.requestLogging = .all
            }, logger: logger
        ) { server in
            try body(server, paths) { write in
                let holder = try HTTPClient(port: server.port)
                try holder.write(HTTPClient.bytes(.get, "/hold"))
                try paths.wait(for: "/hold")
                try write()
                released.record(true)
                #expect(try holder.response().status == .notFound)
            }
        }
    }

    @Test func `with requests that are answered at once`() throws {
        try withHeldLoop { server, paths, hold in
            let (many, other) = (try HTTPClient(port: server.port), try HTTPClient(port: server.port))
            for client in [many, other] { #expect(try client.get("/healthz").status == .ok) }
            let ahead = HTTPClient.bytes(.head, "/nothing")
            let count = 20_000 / ahead.count
            try hold {
                try many.write((0..<count).flatMap { _ in ahead })
                try other.write(HTTPClient.bytes(.get, "/other"))
            }
            #expect(try other.response().status == .notFound)
            for _ in 0..<count { #expect(try many.response(isHead: true).status == .notFound) }
            let order = try paths.wait { $0.count { $0 == "/nothing" } == count && $0.contains("/other") }
            #expect(order.last == "/nothing")
        }
    }

    @Test func `with frames`() throws {
        try withHeldLoop { server, _, hold in
            let many = try WebSocketClient(port: server.port, "/v1/live?user=alice")
            try many.send(#"{"type":"subscribe","room":"lobby"}"#)
            while try many.frame().type != "live" {}
            let other = try WebSocketClient(port: server.port, "/v1/rooms/lobby/live?user=bob")
            try other.greeting()
            let count = 1100
            try hold {
                try many.http.write(
                    (0..<count).flatMap { _ in WebSocketClient.frame(.text, Array(#"{"type":"x"}"#.utf8)) })
                try other.send(#"{"type":"typing"}"#)
            }
            var types: [String] = []
            while types.count < count + 1 { types.append(try many.frame().type) }
            #expect(types.contains("typing") && types.last == "error")
        }
    }
}
