import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport
import WebSocket

@Suite("A server that stops")
struct StopTests {
    /// Starts sends that reach the server and wait for a commit, which a lock on the database delays.
    private func sendsOnTheirWay(_ server: LiveServer, _ watching: HTTPClient) throws -> [HTTPClient] {
        var senders: [HTTPClient] = []
        // Some sends are in the commit, and the others wait for the next one.
        while try !watching.get("/metrics").text.contains("backscroll_queued_sends 3\n") {
            let sender = try HTTPClient(port: server.port)
            try sender.write(HTTPClient.bytes(sending: HTTPClient.draft("\(senders.count)")))
            senders.append(sender)
            // Two answers show that the server has read what was sent before the first one. The third shows that it has
            // handed everything to the log, since no more sends were arriving.
            for _ in 0..<3 { _ = try watching.get("/healthz") }
        }
        return senders
    }

    @Test func `answers pending sends, closes idle connections, and accepts no new ones`() throws {
        try withServer {
            $0.grace = .seconds(30)
            $0.busyTimeout = 30_000
        } _: { server in
            let running = server.server!
            let watching = try HTTPClient(port: running.port)
            let database = try Database(of: server.configuration)
            try database.lock()
            let senders = try sendsOnTheirWay(server, watching)
            try concurrently([{ running.stop() }]) {
                let isClosed = try watching.endsSilently()
                #expect(isClosed)
                // The loops close their listeners at different moments.
                while let late = try? TestClient(port: running.port) { late.close() }
                #expect(throws: TestClientError.refused) { try TestClient(port: running.port) }
                try database.unlock()
                for sender in senders {
                    let response = try sender.response()
                    #expect(response.status == .created)
                    #expect(!response.keepAlive)
                    let isLast = try sender.endsSilently()
                    #expect(isLast)
                    sender.close()
                }
            }
            try server.restart()
            let client = try HTTPClient(port: server.port)
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == Int64(senders.count))
        }
    }

    @Test func `answers a partly received request if the rest arrives within the grace period`() throws {
        try withServer {
            $0.grace = .seconds(30)
        } _: { server in
            let running = server.server!
            let idle = try HTTPClient(port: running.port)
            #expect(try idle.get("/healthz").status == .ok)
            let request = HTTPClient.bytes(sending: HTTPClient.draft("hello"))
            let halves = try [10, request.count - 3].map { cut in
                let client = try HTTPClient(port: running.port)
                try client.write(Array(request[..<cut]))
                return (client, Array(request[cut...]))
            }
            // Two answers show that the server has read what was sent before the first one.
            for _ in 0..<2 { #expect(try idle.get("/healthz").status == .ok) }
            try concurrently([{ running.stop() }]) {
                let isClosed = try idle.endsSilently()
                #expect(isClosed)
                for (client, rest) in halves {
                    try client.write(rest)
                    let response = try client.response()
                    #expect(response.status == .created && !response.keepAlive)
                }
            }
        }
    }

    @Test func `waits for remaining clients no longer than the grace period`() throws {
        try withServer {
            $0.grace = .milliseconds(200)
            $0.transport.linger = .seconds(3600)
        } _: { server in
            let idle = try HTTPClient(port: server.port)
            #expect(try idle.get("/healthz").status == .ok)
            let half = try HTTPClient(port: server.port)
            try half.write("POST /v1/rooms/lobby/messages HTTP/1.1\r\n")
            let socket = try WebSocketClient(port: server.port)
            try socket.greeting()
            // None of the clients closes its connection.
            server.stop()
            #expect(try socket.event() == .close(code: .goingAway, reason: Array("the server is going away".utf8)))
            try idle.socket.waitForEnd()
            try half.socket.waitForEnd()
        }
    }

    @Test func `loses no acknowledged message, whenever it stops`() throws {
        try withServer {
            $0.threads = 2
        } _: { server in
            for round in 0..<4 {
                let running = server.server!
                let acknowledged = Recorder<String>()
                let senders: [@Sendable () throws -> Void] = (0..<4).map { sender in
                    {
                        // On a busy machine a sender may come after the stop.
                        let client: HTTPClient
                        do { client = try HTTPClient(port: running.port) } catch TestClientError.refused { return }
                        for number in 0... {
                            let id = "\(round)-\(sender)-\(number)"
                            guard (try? client.post(HTTPClient.draft("x", id: id)).status) == .created else { return }
                            acknowledged.record(id)
                        }
                    }
                }
                try concurrently(senders) {
                    try acknowledged.wait(for: 20 + 7 * round)
                    running.stop()
                }
                try server.restart()
                let client = try HTTPClient(port: server.port)
                for id in acknowledged.events {
                    let target = "/v1/rooms/lobby/messages/by-client-id/\(id)?user=alice"
                    #expect(try client.get(target).status == .ok)
                }
            }
        }
    }

    @Test func `can be restarted at once on the same port and database`() throws {
        try withServer { server in
            let port = server.port
            let client = try HTTPClient(port: port)
            try client.send("1")
            server.stop()
            try server.start { $0.port = port }
            #expect(server.port == port)
            #expect(try HTTPClient(port: port).send("2").seq == 2)
        }
    }
}
