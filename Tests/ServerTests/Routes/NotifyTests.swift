import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("What may disturb, over HTTP")
struct NotifyTests {
    private static let subscribe = #"{"type":"subscribe","rooms":"mine"}"#

    @Test func `is shown in the user's rooms until the user leaves, and to nobody else`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1", to: "team", as: "alice")
            _ = try client.request(.put, "/v1/rooms/team/members/bob?user=alice")
            func set(_ body: String, as user: String = "bob") throws -> Response {
                try client.request(.put, "/v1/rooms/team/notify?user=\(user)", body: Array(body.utf8))
            }
            func shown(_ user: String = "bob") throws -> [Bool] {
                try ["/v1/rooms/team", "/v1/rooms"].map {
                    try client.get("\($0)?user=\(user)").text.contains(#""notify":{"level":"mentions","#)
                }
            }
            let answer = try set(#"{"level":"mentions","until":"2099-01-01T00:00:00Z"}"#)
            #expect(answer.text == #"{"level":"mentions","until":"2099-01-01T00:00:00.000Z","room_mentions":true}"#)
            #expect(try shown() == [true, true] && shown("alice") == [false, false])
            #expect(try set(#"{"level":"none","until":"2000-01-01T00:00:00Z"}"#).problem.code == "invalid_field")
            #expect(try shown() == [true, true])
            #expect(try client.request(.delete, "/v1/rooms/team/members/bob?user=bob").status == .noContent)
            _ = try client.request(.put, "/v1/rooms/team/members/bob?user=bob")
            #expect(try shown() == [false, false])
            #expect(try set(#"{"level":"mentions"}"#).status == .ok)
            #expect(try set(#"{"level":"all"}"#).text == #"{"level":"all","room_mentions":true}"#)
            #expect(try shown() == [false, false])
            let absent = try client.request(
                .put, "/v1/rooms/none/notify?user=bob", body: Array(#"{"level":"all"}"#.utf8))
            #expect(try absent.status == .notFound && absent.problem.code == "room_not_found")
            #expect(
                try client.request(.put, "/v1/rooms/team/notify", body: Array(#"{"level":"all"}"#.utf8)).problem.code
                    == "unauthenticated")
        }
    }

    @Test(arguments: [1, 2])
    func `reaches the user's own devices, and nobody else`(threads: Int) throws {
        try withServer {
            $0.threads = threads
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try client.send("1", to: "team", as: "alice")
            func open(_ user: String) throws -> WebSocketClient {
                let socket = try WebSocketClient.forRooms(port: server.port, as: user)
                try socket.send(Self.subscribe)
                #expect(try socket.isQuiet())
                return socket
            }
            let (devices, bob) = (try (0..<4).map { _ in try open("bob") }, try open("carol"))
            _ = try client.request(
                .put, "/v1/rooms/team/notify?user=bob", body: Array(#"{"level":"none","room_mentions":false}"#.utf8))
            for device in devices {
                #expect(
                    String(decoding: try device.next(), as: UTF8.self)
                        == #"{"type":"notify","room":"team","level":"none","room_mentions":false}"#)
            }
            #expect(try bob.isQuiet())
        }
    }

    @Test(.partOfPostgreSQL)
    func `reaches the user's own devices on other nodes`() throws {
        let database = try TestPostgres.shared()
        let url = database.url(of: try database.createDatabase())
        try withServer({ $0.database = url }) { first in
            try withServer({ $0.database = url }) { second in
                let client = try HTTPClient(port: first.port)
                try client.send("1", to: "team", as: "alice")
                let device = try WebSocketClient.forRooms(port: second.port, as: "bob")
                try device.send(Self.subscribe)
                #expect(try device.isQuiet())
                _ = try client.request(
                    .put, "/v1/rooms/team/notify?user=bob", body: Array(#"{"level":"mentions"}"#.utf8))
                #expect(
                    String(decoding: try device.next(), as: UTF8.self)
                        == #"{"type":"notify","room":"team","level":"mentions","room_mentions":true}"#)
            }
        }
    }
}
