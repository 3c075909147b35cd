import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import WebSocket

@Suite("A subscription with faults")
struct LiveFaultTests {
    /// Long enough to be compressed.
    private static let padding = String(repeating: "lorem ", count: 40)

    private func withMessages(_ count: Int, _ body: (LiveServer, HTTPClient) throws -> Void) throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            try send(count, by: client)
            try body(server, client)
        }
    }

    private func send(_ count: Int, to room: String = "lobby", by client: HTTPClient) throws {
        for _ in 0..<count { try client.send(Self.padding, to: room) }
    }

    /// Reads frames to the end of the connection.
    ///
    /// - Returns: The `rev` of each message, and `nil` for other frames.
    private func revsToEnd(_ live: any LiveClient) throws -> [Int64?] {
        var revs: [Int64?] = []
        while true {
            do {
                revs.append(try live.frame().message?.rev)
            } catch TestClientError.ended {
                return revs
            }
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `lacks the dropped frames, and has others twice`(format: LiveFormat) throws {
        try withMessages(4) { server, client in
            let live = try format.subscribe(
                port: server.port, query: "since=0&fault=drop-frame=2,double-frame=3,drop-frame=6,double-frame=7")
            let other = try format.subscribe(port: server.port, query: "since=0")
            #expect(try live.frames(6).map { $0.message?.rev } == [nil, 1, 3, 3, 4, nil])
            try send(4, by: client)
            #expect(try live.frames(4).map { $0.message?.rev } == [5, 7, 7, 8])
            #expect(try other.frames(10).map { $0.message?.rev } == [nil, 1, 2, 3, 4, nil, 5, 6, 7, 8])
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `ends in the middle of its replay, and resumes when the client reconnects`(format: LiveFormat) throws {
        try withMessages(5) { server, _ in
            func subscribe(since: Int) throws -> any LiveClient {
                try format.subscribe(port: server.port, query: "since=\(since)&fault=cut-replay=2")
            }
            #expect(try revsToEnd(subscribe(since: 0)) == [nil, 1, 2])
            #expect(try revsToEnd(subscribe(since: 2)) == [nil, 3, 4])
            let live = try subscribe(since: 4)
            #expect(try live.frames(3).map { $0.message?.rev } == [nil, 5, nil])
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `ends in the middle of live messages`(format: LiveFormat) throws {
        try withMessages(3) { server, client in
            let live = try format.subscribe(port: server.port, query: "since=0&fault=cut-live=2")
            let other = try format.subscribe(port: server.port)
            try other.greeting()
            #expect(try live.frames(5).map { $0.message?.rev } == [nil, 1, 2, 3, nil])
            try send(3, by: client)
            #expect(try revsToEnd(live) == [4, 5])
            for rev in 4...6 as ClosedRange<Int64> { #expect(try other.message().rev == rev) }
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `ends in the middle of a frame`(format: LiveFormat) throws {
        try withMessages(3) { server, _ in
            let live = try format.subscribe(port: server.port, query: "since=0&fault=torn-frame=2")
            #expect(try revsToEnd(live) == [nil, 1])
        }
    }

    @Test(arguments: [LiveFormat.webSocket, .deflatedWebSocket])
    func `arrives in fragments`(format: LiveFormat) throws {
        try withMessages(2) { server, client in
            let live = try format.subscribe(port: server.port, query: "since=0&fault=fragment-frames=7")
            #expect(try live.frames(4).map { $0.message?.text } == [nil, Self.padding, Self.padding, nil])
            try client.send("x")
            #expect(try live.message().text == "x")
        }
    }

    @Test func `on a socket for many rooms counts its own frames, and ends the whole socket`() throws {
        try withMessages(3) { server, client in
            try send(3, to: "other", by: client)
            let live = try WebSocketClient(port: server.port, "/v1/live?fault=drop-frame=2,cut-live=2")
            for room in ["lobby", "other"] {
                try live.ask(for: room, since: "0")
                #expect(try live.frames(4).map { $0.message?.rev } == [nil, 1, 3, nil])
            }
            // A room that is left and joined again starts a new count.
            try live.send(#"{"type":"unsubscribe","room":"lobby"}"#)
            try live.ask(for: "lobby", since: "0")
            #expect(try live.frames(4).map { $0.message?.rev } == [nil, 1, 3, nil])
            try send(1, to: "other", by: client)
            #expect(try live.message().rev == 4)
            try send(2, by: client)
            #expect(try revsToEnd(live) == [4, 5])
            #expect(try client.send("x", to: "other").seq == 5)
        }
    }

    @Test(arguments: LiveFormat.allCases)
    func `behaves the same whatever the size of the replay and the client's speed`(format: LiveFormat) throws {
        try withServer {
            $0.faults = true
        } _: { server in
            let client = try HTTPClient(port: server.port)
            // Several slices of the log, each larger than the kernel accepts at once.
            var generator = SeededGenerator(seed: 5)
            for _ in 1...40 {
                try client.send(String((0..<15_000).map { _ in "abcdefghijklmnop".randomElement(using: &generator)! }))
            }
            let live = try format.subscribe(
                port: server.port, query: "since=0&fault=drop-frame=3,cut-replay=38", receiveBuffer: 4096)
            #expect(try revsToEnd(live) == [nil, 1, 2] + (4...38).map { $0 })
        }
    }
}
