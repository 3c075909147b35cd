import Chat
import Testing
import WebSocket
import Wire

@testable import Server

/// Tests faults on frames without a connection.
@Suite("Faulty frames")
struct FrameFaultsTests {
    private func faults(_ text: String, _ format: PushFormat) throws -> FrameFaults? {
        FrameFaults(
            try FaultPlan(parsing: text.split(separator: ","), field: "fault"), format: format, epoch: "E")
    }

    /// Returns the message with a revision, as pushed.
    private func frame(_ rev: Int64, _ format: PushFormat) -> [UInt8] {
        let snapshot = Array(#"{"rev":\#(rev),"text":"\#(String(repeating: "x", count: 200))"}"#.utf8)
        var bytes: [UInt8] = []
        switch format {
        case .webSocket: PushEncoding.appendFrame(snapshot.span, to: &bytes)
        case .deflatedWebSocket: PushDeflater().appendFrame(snapshot.span, to: &bytes)
        case .serverSentEvents: PushEncoding.appendEvent(snapshot.span, epoch: "E", rev: rev, to: &bytes)
        }
        return bytes
    }

    private func frames(_ revs: [Int64], _ format: PushFormat) -> [UInt8] {
        revs.flatMap { frame($0, format) }
    }

    private func typing(_ format: PushFormat) throws -> [UInt8] {
        let notice = ServerFrame.typing(room: try RoomID("message"), user: try UserID("alice"))
        var bytes: [UInt8] = []
        if format == .serverSentEvents {
            PushEncoding.appendEvent(notice, to: &bytes)
        } else {
            PushEncoding.appendFrame(notice, to: &bytes)
        }
        return bytes
    }

    /// Returns the bytes sent in place of these frames, and whether the connection ends.
    private func pass(_ all: [UInt8]..., by faults: inout FrameFaults) -> ([UInt8], Bool) {
        var out: [UInt8] = []
        for bytes in all where faults.pass(bytes.span, into: &out) { return (out, true) }
        return (out, false)
    }

    @Test("are counted the same whether sent together or one by one; notices do not count", arguments: PushFormat.all)
    func numbers(format: PushFormat) throws {
        var faults = try #require(try faults("drop-frame=2,double-frame=4,drop-frame=5", format))
        let notice = try typing(format)
        let (out, isEnd) = pass(
            notice + frames([1, 2], format), notice, frames([3], format) + notice, frames([4, 5, 6], format),
            by: &faults)
        let expected = notice + frames([1], format) + notice + frames([3], format) + notice + frames([4, 4, 6], format)
        #expect(out == expected)
        #expect(!isEnd)
    }

    @Test("end the connection after a number of replayed or live messages", arguments: PushFormat.all)
    func cuts(format: PushFormat) throws {
        var replay = try #require(try faults("cut-replay=2", format))
        #expect(pass(frames([1, 2, 3], format), by: &replay) == (frames([1, 2], format), true))
        var caughtUp = try #require(try faults("cut-replay=2", format))
        #expect(pass(frames([1], format), by: &caughtUp) == (frames([1], format), false))
        caughtUp.replayEnded()
        #expect(pass(frames([2, 3], format), by: &caughtUp) == (frames([2, 3], format), false))
        var live = try #require(try faults("cut-live=2", format))
        #expect(pass(frames([1, 2, 3], format), by: &live) == (frames([1, 2, 3], format), false))
        live.replayEnded()
        #expect(pass(frames([4], format), frames([5, 6], format), by: &live) == (frames([4, 5], format), true))
    }

    @Test("can be cut in the middle", arguments: PushFormat.all)
    func tears(format: PushFormat) throws {
        var faults = try #require(try faults("torn-frame=2", format))
        let (out, isEnd) = pass(frames([1, 2, 3], format), by: &faults)
        let second = frame(2, format)
        #expect(out == frame(1, format) + second[..<(second.count / 2)])
        #expect(isEnd)
    }

    @Test("can be sent in fragments, also compressed", arguments: [PushFormat.webSocket, .deflatedWebSocket])
    func fragments(format: PushFormat) throws {
        for length in [1, 16, 100, 1000] {
            var faults = try #require(try faults("fragment-frames=\(length)", format))
            let (out, _) = pass(frames([1, 2], format) + (try typing(format)), by: &faults)
            func messages(_ bytes: [UInt8]) throws -> [MessageReader.Event] {
                var reader = MessageReader(role: .client, maxMessageBytes: 1 << 20, allowsCompression: true)
                reader.append(bytes.span)
                return try (0..<4).map { _ in try reader.next() }
            }
            #expect(try messages(out) == messages(frames([1, 2], format) + typing(format)))
            var offset = 0
            let first = try FrameHeader.decode(from: out.span, at: &offset, role: .client, allowsRSV1: true)
            #expect(first?.payloadLength == min(length, first?.payloadLength ?? 0))
            #expect(first?.isFinal == (out == frames([1, 2], format) + (try typing(format))))
        }
    }

    @Test("of an event stream carry the requested epoch")
    func epochs() throws {
        var faults = try #require(try faults("new-epoch", .serverSentEvents))
        let (out, _) = pass(frames([7], .serverSentEvents) + (try typing(.serverSentEvents)), by: &faults)
        #expect(String(decoding: out, as: UTF8.self).hasPrefix("event: message\nid: Efault:7\ndata: {"))
        #expect(out.count == frame(7, .serverSentEvents).count + "fault".count + (try typing(.serverSentEvents)).count)
        var torn = try #require(try self.faults("torn-frame,new-epoch", .serverSentEvents))
        let (half, _) = pass(frames([7], .serverSentEvents), by: &torn)
        #expect(String(decoding: half, as: UTF8.self).hasPrefix("event: message\nid: Efault:7\n"))
        // WebSocket frames contain no epoch.
        #expect(try self.faults("new-epoch", .webSocket) == nil)
    }

    @Test("do not occur for faults of another kind", arguments: PushFormat.all)
    func none(format: PushFormat) throws {
        #expect(try faults("delay,late-answer,lost-answer,status,double-push", format) == nil)
    }
}

extension PushFormat {
    fileprivate static let all: [PushFormat] = [.webSocket, .deflatedWebSocket, .serverSentEvents]
}
