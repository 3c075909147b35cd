import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing

@Suite("When the disk is full", .partOfSQLite(.files))
struct FullDiskTests {
    /// Runs `body` with a server whose database has room for a few messages, until the test makes more.
    private func withFullDisk(_ body: (LiveServer, Database) throws -> Void) throws {
        try withServer { server in
            server.stop()
            let database = try Database(of: server.configuration)
            try database.fill(bytes: 1 << 20)
            let pages = try database.pageCount
            try server.start { $0.maximumDatabasePages = pages + 20 }
            try body(server, database)
        }
    }

    private let text = String(repeating: "x", count: 10_000)

    /// Sends until a send fails.
    ///
    /// - Returns: The number of successful sends.
    private func fill(_ client: HTTPClient) throws -> Int {
        for number in 1...100 {
            let response = try client.post(HTTPClient.draft(text, id: "\(number)"))
            if response.status == .created { continue }
            #expect(response.status == .serviceUnavailable)
            #expect(response["Retry-After"] == "5")
            #expect(try response.problem.code == "storage_full")
            return number - 1
        }
        throw Unexpected("the disk does not get full")
    }

    @Test func `only the sends that failed are refused, and the server continues when there is space again`() throws {
        try withFullDisk { server, database in
            let live = try WebSocketClient(port: server.port)
            try live.greeting()
            let client = try HTTPClient(port: server.port)
            let stored = try fill(client)
            #expect(stored > 0)
            #expect(try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head == Int64(stored))
            let missing = "/v1/rooms/lobby/messages/by-client-id/\(stored + 1)?user=alice"
            #expect(try client.get(missing).status == .notFound)
            try database.empty()
            // The client retries, as the answer says.
            #expect(try client.send(text, id: "\(stored + 1)").seq == Int64(stored + 1))
            #expect(try client.get("/readyz").status == .ok)
            for seq in 1...Int64(stored + 1) { #expect(try live.message().seq == seq) }
        }
    }

    @Test func `readiness reports it and liveness does not, and history can be read`() throws {
        try withFullDisk { server, _ in
            let client = try HTTPClient(port: server.port)
            #expect(try client.get("/readyz").status == .ok)
            let stored = try fill(client)
            // In the same segment after the failing send, so before the server retries by itself.
            let send = HTTPClient.bytes(sending: HTTPClient.draft(text, id: "again"))
            let targets = ["/readyz", "/healthz", "/v1/rooms/lobby/messages?limit=1"]
            try client.write(send + targets.flatMap { HTTPClient.bytes(.get, $0) })
            #expect(try client.response().status == .serviceUnavailable)
            let readiness = try client.response()
            #expect(readiness.status == .serviceUnavailable)
            #expect(try readiness.problem.code == "unavailable")
            #expect(try readiness.problem.detail == "Messages cannot be stored at the moment.", "and not why")
            #expect(try client.response().status == .ok)
            #expect(try decode(client.response().body, as: ReceivedPage.self).seqs == [Int64(stored)])
        }
    }

    @Test func `each of many simultaneous sends is either stored or refused`() throws {
        try withFullDisk { server, _ in
            let port = server.port
            let text = text
            let senders: [@Sendable () throws -> Void] = (0..<6).map { sender in
                {
                    let client = try HTTPClient(port: port)
                    for number in 0..<5 {
                        let draft = HTTPClient.draft(text, id: "\(number)")
                        let response = try client.post(draft, as: "sender\(sender)")
                        let target = "/v1/rooms/lobby/messages/by-client-id/\(number)?user=sender\(sender)"
                        let isThere = try client.get(target).status == .ok
                        #expect(response.status == (isThere ? .created : .serviceUnavailable))
                    }
                }
            }
            try concurrently(senders)
            let client = try HTTPClient(port: port)
            let head = try client.read("/v1/rooms/lobby", as: ReceivedRoom.self).head
            #expect(head > 0 && head < 30)
            let page = try client.read("/v1/rooms/lobby/messages?limit=200", as: ReceivedPage.self)
            #expect(page.seqs == Array(1...head))
        }
    }
}
