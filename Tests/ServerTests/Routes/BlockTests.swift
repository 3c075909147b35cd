import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("Blocks over HTTP")
struct BlockTests {
    private static let subscribe = #"{"type":"subscribe","rooms":"mine"}"#

    @Test func `are set, listed and removed, and only the 403 tells the blocked user`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let set = try client.request(.put, "/v1/blocks/bob?user=alice")
            #expect(set.status == .created && set.text.hasPrefix(#"{"user":"bob","created_at":""#))
            #expect(try client.request(.put, "/v1/blocks/bob?user=alice").text == set.text)
            #expect(try client.get("/v1/blocks?user=alice").text == #"{"blocks":[\#(set.text)],"has_more":false}"#)
            #expect(try client.get("/v1/blocks?user=bob").text == #"{"blocks":[],"has_more":false}"#)
            #expect(try client.get("/v1/blocks").problem.code == "unauthenticated")
            let refused = try client.request(.put, "/v1/direct/alice?user=bob")
            #expect(try refused.status == .forbidden && refused.problem.code == "blocked")
            #expect(try client.request(.delete, "/v1/blocks/bob?user=alice").status == .noContent)
            #expect(try client.request(.put, "/v1/direct/alice?user=bob").status == .created)
        }
    }

    @Test(arguments: [1, 2])
    func `reach the user's own devices, each change once, and nobody else`(threads: Int) throws {
        try withServer {
            $0.threads = threads
        } _: { server in
            let client = try HTTPClient(port: server.port)
            func open(_ user: String) throws -> WebSocketClient {
                let socket = try WebSocketClient.forRooms(port: server.port, as: user)
                try socket.send(Self.subscribe)
                #expect(try socket.isQuiet())
                return socket
            }
            let (devices, bob) = (try (0..<4).map { _ in try open("alice") }, try open("bob"))
            for _ in 0..<2 { #expect(try client.request(.put, "/v1/blocks/bob?user=alice").status.code < 300) }
            #expect(try client.request(.delete, "/v1/blocks/bob?user=alice").status == .noContent)
            for device in devices {
                #expect(
                    String(decoding: try device.next(), as: UTF8.self)
                        == #"{"type":"block","user":"bob","blocked":true}"#)
                #expect(
                    String(decoding: try device.next(), as: UTF8.self)
                        == #"{"type":"block","user":"bob","blocked":false}"#)
                #expect(try device.isQuiet())
            }
            #expect(try bob.isQuiet())
        }
    }

    @Test(.partOfPostgreSQL)
    func `reach the user's own devices on other nodes`() throws {
        let database = try TestPostgres.shared()
        let url = database.url(of: try database.createDatabase())
        try withServer({ $0.database = url }) { first in
            try withServer({ $0.database = url }) { second in
                let device = try WebSocketClient.forRooms(port: second.port, as: "alice")
                try device.send(Self.subscribe)
                #expect(try device.isQuiet())
                _ = try HTTPClient(port: first.port).request(.put, "/v1/blocks/b%C3%B6b?user=alice")
                #expect(
                    String(decoding: try device.next(), as: UTF8.self)
                        == #"{"type":"block","user":"böb","blocked":true}"#)
            }
        }
    }
}
