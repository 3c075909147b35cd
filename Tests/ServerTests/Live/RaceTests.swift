import HTTP
import Server
import Testing
import Transport

/// The heart of it: a page joined with a subscription has every message once, whatever happens at the same time.
@Suite("While many send, page and subscribe", .serialized)
struct RaceTests {
    @Test("every reader has every message exactly once, in order, from its page on", arguments: [1, 2])
    func race(loops: Int) throws {
        try withServer {
            $0.threads = loops
            // So small that whoever stalls for a moment falls behind the feed.
            $0.feedBytes = 4096
            $0.transport.sendBuffer = 16 * 1024
            $0.webSocket.framesPerSecond = .max
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
            let senders = (0..<race.senders).map { number in { @Sendable in try race.send(as: number) } }
            let pagers = race.rooms.map { room in { @Sendable in try race.page(room) } }
            try concurrently(senders + readers + pagers)
            for room in race.rooms { try race.expectComplete(room) }
            // The slow ones have been replayed, so that way was taken as well.
            let metrics = try HTTPClient(port: server.port).get("/metrics").text
            let replays = try #require(metrics.firstMatch(of: /backscroll_replays_total (\d+)/))
            #expect(Int(replays.1)! > 0)
        }
    }
}
