import HTTP
import HTTPTypes
import Server
import TestSupport
import Testing
import Transport

/// Clients that load a page, subscribe from its revision, and apply changes must end up with the same room.
@Suite("While many send, edit, delete and react", .serialized)
struct ChangeRaceTests {
    /// Runs a client that changes a room. All of them finish after their last message.
    private static func change(as number: Int, port: Int, room: String) throws {
        var generator = SeededGenerator(seed: UInt64(number))
        let client = try HTTPClient(port: port)
        var own: [Int64] = []
        for round in 0..<80 {
            let seq = own.randomElement(using: &generator) ?? 1
            let response =
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: try client.change(.delete, "\(seq)", in: room, as: "user\(number)")
                case 1: try client.change(.patch, "\(seq)", #"{"text":"\#(round)"}"#, in: room, as: "user\(number)")
                case 2, 3: try client.change(.put, "1/reactions/\(round % 3)", in: room, as: "user\(number)")
                case 4: try client.change(.delete, "1/reactions/\(round % 3)", in: room, as: "user\(number)")
                default:
                    try client.post(HTTPClient.draft("\(round)", id: "\(round)"), to: room, as: "user\(number)")
                }
            if response.status == .created { own.append(try decode(response.body, as: ReceivedMessage.self).seq) }
            guard response.status.code < 500 else { throw Unexpected(response) }
        }
    }

    /// Loads pages and follows the room, sometimes starting over, until the final message.
    ///
    /// - Returns: The client's messages by `seq`.
    private static func follow(
        as number: Int, port: Int, room: String, format: LiveFormat
    ) throws -> [Int64: ReceivedMessage] {
        var generator = SeededGenerator(seed: UInt64(100 + number))
        let client = try HTTPClient(port: port)
        let page = try client.read("/v1/rooms/\(room)/messages?limit=200", as: ReceivedPage.self)
        var held = Dictionary(uniqueKeysWithValues: page.messages.map { ($0.seq, $0) })
        var rev = page.rev
        while true {
            let live = try format.subscribe(port: port, room: room, query: "since=\(rev)", receiveBuffer: 16 * 1024)
            var isReplay = true
            for _ in 0..<Int.random(in: 5...150, using: &generator) {
                let frame = try live.frame()
                if let message = frame.message {
                    // Live, every revision arrives; in a replay, each message once. So it is with PostgreSQL, too, if
                    // the node has looked up its commits because they were reported out of order.
                    guard isReplay || TestPostgres.isTestedStore ? message.rev > rev : message.rev == rev + 1 else {
                        throw Unexpected("revision \(message.rev) after \(rev)")
                    }
                    rev = message.rev
                    held[message.seq] = message
                    if message.text == "the end" { return held }
                } else if let liveRev = frame.liveRev {
                    guard liveRev == rev else { throw Unexpected("live at \(liveRev) after \(rev)") }
                    isReplay = false
                }
            }
        }
    }

    @Test(arguments: [1, 2])
    func `all clients end up with the same room`(loops: Int) throws {
        try withServer {
            $0.threads = loops
            // So small that a client that stalls falls behind the feed at once.
            $0.feedBytes = 4096
            $0.transport.sendBuffer = 16 * 1024
            $0.webSocket.framesPerSecond = .max
        } _: { server in
            let port = server.port
            try HTTPClient(port: port).send("the first", to: "room", as: "nobody")
            let changers = (0..<6).map { number in
                { @Sendable in try Self.change(as: number, port: port, room: "room") }
            }
            let followers = (0..<6).map { number in
                { @Sendable in
                    let held = try Self.follow(
                        as: number, port: port, room: "room", format: LiveFormat.allCases[number % 3])
                    let client = try HTTPClient(port: port)
                    let truth = try client.read("/v1/rooms/room/changes?limit=1000", as: ReceivedChanges.self)
                    #expect(Set(truth.messages.map(\.rev)).count == truth.messages.count)
                    for message in truth.messages { #expect(held[message.seq] == message) }
                    #expect(held.count == truth.messages.count)
                }
            }
            try concurrently(followers) {
                try concurrently(changers)
                try HTTPClient(port: port).send("the end", to: "room", as: "nobody")
            }
        }
    }
}
