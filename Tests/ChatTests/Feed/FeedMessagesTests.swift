import Testing
import Wire

@testable import Chat

@Suite("The messages that a feed keeps")
struct FeedMessagesTests {
    private func batch(_ revs: ClosedRange<Int64>) throws -> EncodedBatch {
        let messages = revs.map { Array("\($0)".utf8) }
        return EncodedBatch(
            Batch(room: try RoomID("lobby"), firstRev: revs.lowerBound, head: revs.upperBound, messages: messages))
    }

    @Test func `are in each format that a subscriber wants, and in no other`() throws {
        var messages = FeedMessages(FeedContext(epoch: "E"))
        try messages.append(batch(1...2))
        #expect(messages.rev == 2 && messages.count == 0)
        for _ in 0..<2 { messages.add(.webSocket) }
        messages.add(.serverSentEvents)
        try messages.append(batch(3...3))
        #expect(messages.bytes(in: .webSocket) == (try batch(3...3).frames))
        #expect(messages.bytes(in: .serverSentEvents).starts(with: "event: message\nid: E:3\n".utf8))
        messages.remove(.webSocket)
        messages.remove(.serverSentEvents)
        #expect(messages.count == (try batch(3...3).frames.count))
    }

    @Test func `of a format that begins later lack the earlier ones`() throws {
        var messages = FeedMessages(FeedContext(epoch: "E"))
        messages.add(.webSocket)
        try messages.append(batch(1...2))
        messages.add(.deflatedWebSocket)
        #expect(messages.next(after: 1, in: .deflatedWebSocket) == .behind)
        #expect(messages.next(after: 2, in: .deflatedWebSocket) == .level)
        #expect(messages.next(after: 2, in: .webSocket) == .level)
    }

    @Test func `are dropped once every subscriber has them, and later ones are appended`() throws {
        var messages = try FeedMessages(FeedContext(epoch: "E", feedLimit: 2 * batch(1...1).frames.count))
        messages.add(.webSocket)
        try messages.append(batch(1...1))
        #expect(try messages.hasRoom(for: batch(2...2)) && !messages.hasRoom(for: batch(2...3)))
        messages.forgetSent()
        #expect(messages.count == 0 && messages.rev == 1)
        #expect(messages.next(after: 0, in: .webSocket) == .behind)
        try messages.append(batch(2...2))
        #expect(messages.next(after: 1, in: .webSocket) == .frames(0..<messages.count, rev: 2))
    }

    @Test func `with missing revisions have events whose ids are their own revisions`() throws {
        var messages = FeedMessages(FeedContext(epoch: "E"))
        messages.add(.serverSentEvents)
        let batch = try EncodedBatch(
            Batch(
                room: RoomID("lobby"), since: 2, revs: [4, 7], rev: 8, head: 5,
                messages: [Array("4".utf8), Array("7".utf8)]))
        messages.append(batch)
        let text = String(decoding: messages.bytes(in: .serverSentEvents), as: UTF8.self)
        #expect(text.contains("id: E:4\n") && text.contains("id: E:7\n") && !text.contains("id: E:3\n"))
        #expect(messages.rev == 8)
        #expect(messages.next(after: 7, in: .serverSentEvents) == .frames(messages.count..<messages.count, rev: 8))
    }

    @Test func `ignore a batch that arrives after a later one`() throws {
        var messages = FeedMessages(FeedContext(epoch: "E"))
        messages.add(.webSocket)
        try messages.append(batch(1...2))
        try messages.append(batch(5...6))
        try messages.append(batch(3...4))
        #expect(messages.rev == 6)
        #expect(messages.next(after: 2, in: .webSocket) == .behind)
        #expect(messages.next(after: 4, in: .webSocket) == .frames(0..<messages.count, rev: 6))
    }
}
