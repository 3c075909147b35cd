import HTTP
import HTTPTypes
import TestSupport
import Testing
import Wire

@Suite("Any page")
struct PageModelTests {
    /// Fills a room with this many messages, half of them at once, so that some have the same time.
    private func fill(_ room: String, _ count: Int, _ client: HTTPClient) throws -> RoomModel {
        for index in 0..<count / 2 { try client.send("\(index)", to: room) }
        let rest = count - count / 2
        let bytes = (0..<rest).flatMap { HTTPClient.bytes(sending: HTTPClient.draft("\($0)"), to: room) }
        try client.write(bytes)
        for _ in 0..<rest { _ = try client.response() }
        let page = try client.read("/v1/rooms/\(room)/messages?limit=200", as: ReceivedPage.self)
        return RoomModel(times: page.messages.map(\.createdAt))
    }

    private func expectPage(
        _ anchor: RoomModel.Anchor, limit: Int, of room: String, _ model: RoomModel, _ client: HTTPClient
    ) throws {
        let query =
            switch anchor {
            case .newest: "limit=\(limit)"
            case .before(let place): "before=\(place)&limit=\(limit)"
            case .after(let place): "limit=\(limit)&after=\(place)"
            case .around(let place): "around=\(place)&limit=\(limit)"
            }
        let page = try client.read("/v1/rooms/\(room)/messages?\(query)", as: ReceivedPage.self)
        let seen = RoomModel.Page(seqs: page.seqs, hasBefore: page.hasBefore, hasAfter: page.hasAfter)
        #expect(seen == model.page(anchor, limit: limit), "\(query) in a room of \(model.times.count)")
        #expect(page.head == Int64(model.times.count))
        #expect(page.rev == page.head)
    }

    @Test func `matches the specification, whatever the place, the limit and the size of the room`() throws {
        var generator = SeededGenerator(seed: 7)
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            for size in [0, 1, 2, 5, 61, 200] {
                let room = "room\(size)"
                let model = try fill(room, size, client)
                for _ in 0..<120 {
                    let limit =
                        Bool.random(using: &generator)
                        ? Int.random(in: 1...6, using: &generator)
                        : Int.random(in: 1...Limits.pageMessages, using: &generator)
                    let place = self.place(in: model, using: &generator)
                    let anchors: [RoomModel.Anchor] = [.newest, .before(place), .after(place), .around(place)]
                    try expectPage(anchors.randomElement(using: &generator)!, limit: limit, of: room, model, client)
                }
            }
        }
    }

    private func place(in model: RoomModel, using generator: inout SeededGenerator) -> RoomModel.Place {
        let head = Int64(model.times.count)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: return .first
        case 1: return .last
        case 2: return .seq([0, head + 1, head + 100, .max].randomElement(using: &generator)!)
        case 3...5:
            let time = model.times.randomElement(using: &generator) ?? "2026-01-01T00:00:00.000Z"
            return .time(time)
        case 6:
            return .time(["2000-01-01T00:00:00.000Z", "2999-12-31T23:59:59.999Z"].randomElement(using: &generator)!)
        default: return .seq(.random(in: 0...head + 1, using: &generator))
        }
    }

    @Test func `before a time and the one after it make up the whole room, also with equal times`() throws {
        try withServer { server in
            let client = try HTTPClient(port: server.port)
            let model = try fill("lobby", 60, client)
            for time in Set(model.times) {
                func page(_ form: String) throws -> ReceivedPage {
                    try client.read("/v1/rooms/lobby/messages?\(form)=\(time)&limit=200")
                }
                let before = try page("before")
                let after = try page("after")
                #expect(before.seqs + after.seqs == Array(1...60))
                #expect(before.messages.allSatisfy { $0.createdAt < time })
                #expect(after.messages.allSatisfy { $0.createdAt >= time })
                #expect(try page("around").seqs == Array(1...60))
            }
        }
    }
}
