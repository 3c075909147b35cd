import HTTP
import Server
import TestSupport
import Testing
import Transport

/// The central promise: a page joined with a subscription has every message once, whatever happens at the same time.
@Suite("While many send, page and subscribe", .serialized)
struct RaceTests {
    @Test(arguments: [1, 2])
    func `every reader gets every message exactly once, in order, from its page on`(loops: Int) throws {
        try withServer {
            $0.threads = loops
            // So small that a reader that stalls falls behind the feed at once.
            $0.feedBytes = 4096
            $0.transport.sendBuffer = 16 * 1024
            $0.webSocket.framesPerSecond = .max
            $0.webSocket.framesPerSecondForRooms = .max
        } _: { server in
            let race = Race(port: server.port, rooms: ["red", "green", "blue"], senders: 4, perSender: 300)
            var readers: [@Sendable () throws -> Void] = []
            for number in 0..<12 {
                let room = race.rooms[number % 3]
                let behavior = RaceReader.Behavior.allCases[number / 3]
                for format in LiveFormat.allCases {
                    readers.append {
                        var reader = RaceReader(
                            race, room: room, behavior: behavior, format: format, seed: UInt64(number))
                        try reader.run()
                    }
                }
            }
            for number in 0..<6 {
                readers.append {
                    var reader = RaceRoomsReader(race, offersDeflate: number % 2 == 1, seed: UInt64(100 + number))
                    try reader.run()
                }
            }
            let senders = (0..<race.senders).map { number in { @Sendable in try race.send(as: number) } }
            let pagers = race.rooms.map { room in { @Sendable in try race.page(room) } }
            try concurrently(senders + readers + pagers)
            for room in race.rooms { try race.expectComplete(room) }
            // The slow readers caused replays, so that path was tested as well.
            let metrics = try HTTPClient(port: server.port).get("/metrics").text
            let replays = try #require(metrics.firstMatch(of: /backscroll_replays_total (\d+)/))
            #expect(Int(replays.1)! > 0)
        }
    }

    @Test(arguments: [1, 2])
    func `a reader that subscribes while the last message is being stored gets it`(loops: Int) throws {
        var generator = SeededGenerator(seed: 11)
        try withServer {
            $0.threads = loops
        } _: { server in
            let port = server.port
            for round in 1...150 as ClosedRange<Int64> {
                // A separate room, so that the reader of each format is sometimes the first one.
                let delay = Int.random(in: 0...6, using: &generator)
                let send = { @Sendable in
                    let client = try HTTPClient(port: port)
                    for _ in 0..<delay { _ = try client.get("/healthz") }
                    try client.send("last", to: "room\(round)")
                }
                let readers = LiveFormat.allCases.map { format in
                    { @Sendable in
                        let client = try HTTPClient(port: port)
                        let page = try client.read("/v1/rooms/room\(round)/messages", as: ReceivedPage.self)
                        if page.rev == 1 { return }
                        let live = try format.subscribe(port: port, room: "room\(round)", query: "since=0")
                        while try live.frame().message == nil {}
                    }
                }
                try concurrently([send] + readers)
            }
        }
    }
}
