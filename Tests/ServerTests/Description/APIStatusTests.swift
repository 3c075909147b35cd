import Foundation
import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport
import Wire

/// Provokes every status in the description, and compares the answers with it.
@Suite("Every described status")
struct APIStatusTests {
    /// Compares answers with the description.
    ///
    /// With the environment variable `BACKSCROLL_TEST_ANSWERS` it also writes them into that directory, for
    /// `scripts/validate`.
    private final class Answered {
        let document: APIDocument
        private var lines: [String] = []
        private(set) var seen: [String: Set<Int>] = [:]

        init(_ document: APIDocument) {
            self.document = document
        }

        func record(_ response: Response, to operation: APIDocument.Operation, expecting status: Int? = nil) throws {
            let name = "\(operation.id) \(response.status.code) \(response.text.prefix(300))"
            if let status { #expect(response.status.code == status, "\(name)") }
            let faults = try document.faults(of: response, to: operation)
            #expect(faults == [], "\(name)")
            seen[operation.id, default: []].insert(response.status.code)
            lines.append(try document.line(for: response, to: operation))
        }

        /// Writes the description to NAME.json and the answers to NAME.jsonl.
        func write(as name: String) throws {
            guard let directory = ProcessInfo.processInfo.environment["BACKSCROLL_TEST_ANSWERS"] else { return }
            let file = URL(fileURLWithPath: directory).appendingPathComponent(name)
            try Data(document.bytes).write(to: file.appendingPathExtension("json"))
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: file.appendingPathExtension("jsonl"))
        }
    }

    @Test(arguments: [false, true])
    func `occurs, with answers as described`(wantsTokens: Bool) async throws {
        var log: Answered?
        try await withServer(
            wantsTokens: wantsTokens,
            {
                $0.presence = true
                $0.deadlines.head = .milliseconds(100)
            }
        ) { server in
            let record = Answered(try APIDocument(of: server))
            log = record
            try unreadable(server, record)
            if !wantsTokens { try misdirected(server, record) }
            try common(server, record, wantsTokens: wantsTokens)
            for answer in Provocation.all { try provoke(answer, server, record, wantsTokens: wantsTokens) }
            try lost(server, record, wantsTokens: wantsTokens)
        }
        let record = try #require(log)
        try await withServer(wantsTokens: wantsTokens, { $0.presence = false }) { server in
            let presence = record.document["getPresence"]
            try record.record(
                HTTPClient(port: server.port).get(presence.target, fields: [caller("alice", wantsTokens)]),
                to: presence, expecting: 501)
        }
        try await withServer(wantsTokens: wantsTokens, { $0.search = false }) { server in
            for id in ["searchRoom", "searchRooms"] {
                let search = record.document[id]
                try record.record(
                    HTTPClient(port: server.port).get(search.target, fields: [caller("alice", wantsTokens)]),
                    to: search, expecting: 501)
            }
        }
        // One connection reaches the limits.
        for configure in [
            { (configuration: inout ServerConfiguration) in
                configuration.limits.addressConnections = RateLimit("1/h:1")
            },
            { $0.transport.connections = 1 },
        ] {
            try await withServer(wantsTokens: wantsTokens, configure) { server in
                let first = try HTTPClient(port: server.port)
                #expect(try first.get("/healthz").status == .ok)
                // These limits do not apply to health checks.
                for operation in record.document.operations where operation.answers[429] != nil {
                    let client = try HTTPClient(port: server.port)
                    try client.write("\(operation.method.rawValue) \(operation.target) HTTP/1.1\r\nHost: x\r\n\r\n")
                    try record.record(client.response(), to: operation)
                }
            }
        }
        try await withServer(wantsTokens: wantsTokens) { server in
            try full(server, record, wantsTokens: wantsTokens)
        }
        for operation in record.document.operations {
            // Open mode has no admins.
            if operation.tag == "admin", !wantsTokens {
                #expect(record.seen[operation.id]?.isDisjoint(with: 200..<300) == true)
                continue
            }
            let missing = Set(operation.answers.keys).subtracting(record.seen[operation.id] ?? [])
            #expect(missing.isEmpty, "\(operation.id): \(missing.sorted())")
        }
        try record.write(as: wantsTokens ? "tokens" : "open")
    }

    private func caller(_ user: String, _ wantsTokens: Bool) throws -> HTTPField {
        guard wantsTokens else { return HTTPField("X-User", user) }
        return .bearer(user == "root" ? try TestToken.of(user, #""admin":true"#) : try TestToken.of(user))
    }

    // MARK: What any operation refuses

    /// Requests that are refused before they are routed.
    private func unreadable(_ server: LiveServer, _ record: Answered) throws {
        for operation in record.document.operations {
            let start = "\(operation.method.rawValue) \(operation.target)"
            let refused: [(Int, String)] = [
                (400, "\(start)?%zz HTTP/1.1\r\nHost: x\r\n\r\n"),
                (403, "\(start) HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\n\r\n"),
                (408, "\(start) HTTP/1.1\r\nHost: x\r\n"),
                (413, "\(start) HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999\r\n\r\n"),
                (414, "\(start)?\(String(repeating: "x", count: 9000)) HTTP/1.1\r\nHost: x\r\n\r\n"),
                (417, "\(start) HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n"),
                (431, "\(start) HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "x", count: 17_000))\r\n\r\n"),
                (501, "\(start) HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
                (505, "\(start) HTTP/2.0\r\nHost: x\r\n\r\n"),
            ]
            for (status, request) in refused {
                let client = try HTTPClient(port: server.port)
                try client.write(request)
                try record.record(client.response(), to: operation, expecting: status)
            }
        }
    }

    /// Requests to a host name that a server in open mode does not accept.
    private func misdirected(_ server: LiveServer, _ record: Answered) throws {
        let client = try HTTPClient(port: server.port)
        for operation in record.document.operations where operation.answers[421] != nil {
            try client.write("\(operation.method.rawValue) \(operation.target) HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            try record.record(client.response(), to: operation, expecting: 421)
        }
    }

    /// Requests without a name, for a private room, or with a body other than JSON.
    private func common(_ server: LiveServer, _ record: Answered, wantsTokens: Bool) throws {
        let client = try HTTPClient(port: server.port)
        let settings = Array(#"{"visibility":"private"}"#.utf8)
        let made = try client.request(
            .put, "/v1/rooms/club", fields: [caller("alice", wantsTokens)], body: settings)
        #expect(made.status == .created)
        let gone = try client.request(
            .post, "/v1/rooms/gone/messages", fields: [caller("alice", wantsTokens)], body: Array(#"{"text":"x"}"#.utf8)
        )
        #expect(gone.status == .created)
        #expect(
            try client.request(.delete, "/v1/rooms/gone", fields: [caller("alice", wantsTokens)]).status == .noContent)
        for operation in record.document.operations {
            let handshake = operation.tag == "live" ? HandshakeTests.fields : []
            let body = Array((operation.examples.first?.value.text ?? "").utf8)
            func ask(_ status: Int, _ target: String, _ fields: [HTTPField]) throws {
                let response = try client.request(operation.method, target, fields: fields + handshake, body: body)
                try record.record(response, to: operation, expecting: status)
            }
            if operation.answers[401] != nil, operation.id != "readMessages" || wantsTokens {
                try ask(401, operation.target, [])
            }
            if operation.path.contains("{room}") {
                let target = operation.target.replacing("/lobby", with: "/club")
                // Admins decide on reports whatever has become of the room.
                if operation.tag != "admin" {
                    try ask(404, target, [caller("bob", wantsTokens)])
                    try ask(410, operation.target.replacing("/lobby", with: "/gone"), [caller("alice", wantsTokens)])
                }
                let noRoom = operation.target.replacing("/lobby", with: "/-")
                try ask(400, noRoom, [caller("bob", wantsTokens)])
                if wantsTokens { try ask(403, target, [.bearer(TestToken.of("bob", #""rooms":["den"]"#))]) }
            }
            if operation.body != nil {
                let isAdmins = operation.tag == "admin"
                let status = isAdmins && !wantsTokens ? 403 : 415
                try ask(
                    status, operation.target,
                    [caller(isAdmins ? "root" : "alice", wantsTokens), HTTPField("Content-Type", "text/css")])
            }
        }
    }

    // MARK: What one operation answers

    private func provoke(
        _ provocation: Provocation, _ server: LiveServer, _ record: Answered, wantsTokens: Bool
    ) throws {
        let operation = record.document[provocation.id]
        if operation.tag == "admin", !wantsTokens { return }
        var fields = provocation.fields
        if let user = provocation.user { fields.append(try caller(user, wantsTokens)) }
        let status = wantsTokens ? provocation.statusWithTokens ?? provocation.status : provocation.status
        let bytes = HTTPClient.bytes(
            operation.method, provocation.target, fields: fields, body: Array(provocation.body.utf8))
        guard status == 200, operation.answers[200]?["content"]?["text/event-stream"] != nil else {
            let client = try HTTPClient(port: server.port)
            try client.write(bytes)
            return try record.record(client.response(), to: operation, expecting: status)
        }
        // The stream is endless, so only the head is checked.
        let client = try TestClient(port: server.port)
        try client.send(bytes)
        let end = Array("\r\n\r\n".utf8)
        let received = try client.receive { $0.firstRange(of: end) != nil }
        var parser = ResponseParser(limits: HTTPLimits())
        parser.append(Array(received[..<received.firstRange(of: end)!.upperBound]).span)
        _ = try parser.next()
        let response = try #require(try parser.finish())
        try record.record(response, to: operation, expecting: status)
    }

    /// Requests to a server that cannot store messages: SQLite's has no space, PostgreSQL's is read-only.
    private func full(_ server: LiveServer, _ record: Answered, wantsTokens: Bool) throws {
        server.stop()
        let database = try Database(of: server.configuration)
        let pages = try database.pageCount
        try server.start { $0.maximumDatabasePages = pages + 20 }
        if TestPostgres.isTestedStore { try database.forbidWrites() }
        let client = try HTTPClient(port: server.port)
        let body = Array(#"{"text":"\#(String(repeating: "x", count: 10_000))"}"#.utf8)
        let send = HTTPClient.bytes(
            .post, "/v1/rooms/lobby/messages", fields: [try caller("alice", wantsTokens)], body: body)
        let readiness = record.document["getReadiness"]
        while true {
            // In one segment, so that the server does not retry in between.
            try client.write(send + HTTPClient.bytes(.get, readiness.target))
            let (sent, response) = (try client.response(), try client.response())
            if sent.status == .created || response.status == .ok { continue }
            return try record.record(response, to: readiness, expecting: 503)
        }
    }

    /// Requests for a message that is missing in the database, as only damage can cause.
    private func lost(_ server: LiveServer, _ record: Answered, wantsTokens: Bool) throws {
        let client = try HTTPClient(port: server.port)
        let alice = try caller("alice", wantsTokens)
        func request(_ operation: APIDocument.Operation) throws -> Response {
            let target = operation.target.replacing("/lobby", with: "/attic")
            return try client.request(operation.method, target, fields: [alice], body: Array(#"{"text":"y"}"#.utf8))
        }
        #expect(try request(record.document["sendMessage"]).status == .created)
        #expect(try request(record.document["editMessage"]).status == .ok)
        try Database(of: server.configuration).loseMessages()
        for operation in record.document.operations where operation.answers[500] != nil {
            try record.record(request(operation), to: operation, expecting: 500)
        }
    }
}
