import Chat
import Testing
import Wire

@testable import Store

@Suite("A replay")
struct ReplayTests {
    private func frames(_ bodies: some Sequence<[UInt8]>) -> [UInt8] {
        var bytes: [UInt8] = []
        for body in bodies { PushEncoding.appendFrame(body.span, to: &bytes) }
        return bytes
    }

    @Test func `has messages as frames, and its end position`() throws {
        let log = try TestLog()
        let bodies = try log.fill(5)
        let replay = try log.replay(since: 2)
        #expect(replay.frames == frames(bodies[2...]))
        #expect(replay.rev == 5 && !replay.hasMore && replay.state == RoomState(head: 5, rev: 5))
    }

    @Test func `has messages as events, each with an id to resume from`() throws {
        let log = try TestLog()
        let bodies = try log.fill(3)
        let replay = try log.replay(since: 1, as: .serverSentEvents)
        let expected = [2, 3].map { rev in
            let body = String(decoding: bodies[rev - 1], as: UTF8.self)
            return "event: message\nid: \(log.log.epoch):\(rev)\ndata: {\"type\":\"message\",\"message\":\(body)}\n\n"
        }
        #expect(String(decoding: replay.frames, as: UTF8.self) == expected.joined())
        #expect(replay.rev == 3 && !replay.hasMore)
    }

    @Test(arguments: [1, 100, 400, 1000])
    func `ends after the message that reaches the requested size`(bytes: Int) throws {
        let log = try TestLog()
        let bodies = try log.fill(10)
        var rev: Int64 = 0
        var slices: [[UInt8]] = []
        while true {
            let replay = try log.replay(since: rev, bytes: bytes)
            #expect(replay.rev > rev)
            #expect(replay.frames == frames(bodies[Int(rev)..<Int(replay.rev)]))
            let withoutLast = frames(bodies[Int(rev)..<Int(replay.rev) - 1])
            #expect(withoutLast.count < bytes)
            #expect(replay.frames.count >= bytes || !replay.hasMore)
            rev = replay.rev
            slices.append(replay.frames)
            guard replay.hasMore else { break }
        }
        #expect(slices.flatMap { $0 } == frames(bodies))
    }

    @Test func `without a start has only the room's state`() throws {
        let log = try TestLog()
        try log.fill(4)
        let replay = try log.replay(since: nil)
        #expect(replay.frames.isEmpty && replay.rev == 4 && !replay.hasMore)
        #expect(replay.state == RoomState(head: 4, rev: 4))
        let unused = try log.replay(since: nil, of: "unused")
        #expect(unused.frames.isEmpty && unused.rev == 0 && !unused.hasMore && unused.state == RoomState())
    }

    @Test func `after the latest revision is empty, with the room's state`() throws {
        let log = try TestLog()
        try log.fill(2)
        let replay = try log.replay(since: 9)
        #expect(replay.frames.isEmpty && replay.rev == 9 && !replay.hasMore && replay.state.rev == 2)
    }
}
