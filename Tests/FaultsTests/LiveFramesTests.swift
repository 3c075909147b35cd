import Chat
import Testing
import WebSocket
import Wire

@testable import Faults

@Suite("Faulty frames")
struct LiveFramesTests {
    private func frames(_ text: String, _ format: PushFormat) throws -> LiveFrames {
        LiveFrames(
            try FaultPlan(parsing: text.split(separator: ","), field: "fault"), isStream: format == .serverSentEvents)
    }

    /// Returns the message with a revision, as pushed.
    private func message(_ rev: Int64, in room: String = "lobby", _ format: PushFormat) -> [UInt8] {
        let text = String(repeating: "x", count: 200)
        let snapshot = Array(#"{"room":"\#(room)","rev":\#(rev),"text":"\#(text)"}"#.utf8)
        var bytes: [UInt8] = []
        switch format {
        case .webSocket: PushEncoding.appendFrame(snapshot.span, to: &bytes)
        case .deflatedWebSocket: PushDeflater().appendFrame(snapshot.span, to: &bytes)
        case .serverSentEvents: PushEncoding.appendEvent(snapshot.span, epoch: "E0", rev: rev, to: &bytes)
        }
        return bytes
    }

    private func messages(_ revs: [Int64], _ format: PushFormat) -> [UInt8] {
        revs.flatMap { message($0, format) }
    }

    private func notice(_ notice: ServerFrame, _ format: PushFormat) -> [UInt8] {
        var bytes: [UInt8] = []
        if format == .serverSentEvents {
            PushEncoding.appendEvent(notice, to: &bytes)
        } else {
            PushEncoding.appendFrame(notice, to: &bytes)
        }
        return bytes
    }

    private func typing(_ format: PushFormat) throws -> [UInt8] {
        notice(.typing(room: try RoomID("message"), user: try UserID("alice")), format)
    }

    private func subscribed(_ format: PushFormat, to room: String = "lobby", epoch: String = "E0") throws -> [UInt8] {
        notice(.subscribed(room: try RoomID(room), head: 1, rev: 1, epoch: epoch), format)
    }

    private func live(_ format: PushFormat, in room: String = "lobby") throws -> [UInt8] {
        notice(.live(room: try RoomID(room), rev: 1), format)
    }

    /// Returns the bytes sent in place of these, and whether the connection ends.
    private func pass(_ all: [UInt8]..., by frames: inout LiveFrames) throws -> ([UInt8], Bool) {
        var out: [UInt8] = []
        for bytes in all where try frames.pass(bytes, into: &out) { return (out, true) }
        return (out, false)
    }

    @Test(arguments: PushFormat.all)
    func `are counted the same however they arrive; notices do not count`(format: PushFormat) throws {
        let notice = try typing(format)
        let (begin, one, two, three) = (
            try subscribed(format), messages([1, 2], format), messages([3], format), messages([4, 5, 6], format)
        )
        let all = begin + notice + one + notice + two + notice + three
        let expected = begin + notice + messages([1], format) + notice + messages([3], format) + notice
        for size in [1, 7, 100, all.count] {
            var frames = try frames("drop-frame=2,double-frame=4,drop-frame=5", format)
            var out: [UInt8] = []
            for start in stride(from: 0, to: all.count, by: size) {
                let isEnd = try frames.pass(Array(all[start..<min(start + size, all.count)]), into: &out)
                #expect(!isEnd)
            }
            #expect(out == expected + messages([4, 4, 6], format))
        }
    }

    @Test(arguments: PushFormat.all)
    func `end the connection after a number of replayed or live messages`(format: PushFormat) throws {
        let (begin, live) = (try subscribed(format), try live(format))
        var replay = try frames("cut-replay=2", format)
        #expect(try pass(begin, messages([1, 2, 3], format), by: &replay) == (begin + messages([1, 2], format), true))
        var caughtUp = try frames("cut-replay=2", format)
        let all = begin + messages([1], format) + live + messages([2, 3], format)
        #expect(try pass(all, by: &caughtUp) == (all, false))
        var cut = try frames("cut-live=2", format)
        let start = begin + messages([1, 2, 3], format) + live
        #expect(
            try pass(start, messages([4], format), messages([5, 6], format), by: &cut)
                == (start + messages([4, 5], format), true))
    }

    @Test(arguments: [PushFormat.webSocket, .deflatedWebSocket])
    func `are counted for each subscription`(format: PushFormat) throws {
        var frames = try frames("drop-frame=2,cut-live=1", format)
        let (lobby, den) = (try subscribed(format), try subscribed(format, to: "den"))
        var expected = lobby + messages([1], format) + den + message(1, in: "den", format)
        let (out, _) = try pass(
            lobby + messages([1, 2], format) + den + message(1, in: "den", format) + message(2, in: "den", format),
            by: &frames)
        #expect(out == expected)
        // A new subscription starts a new count.
        expected = lobby + messages([3], format)
        #expect(try pass(lobby + messages([3, 4], format), by: &frames) == (expected, false))
        let live = try live(format, in: "den")
        #expect(
            try pass(messages([5], format) + live + message(3, in: "den", format), by: &frames)
                == (messages([5], format) + live + message(3, in: "den", format), true))
    }

    @Test(arguments: PushFormat.all)
    func `can be cut in the middle`(format: PushFormat) throws {
        var frames = try frames("torn-frame=2", format)
        let (out, isEnd) = try pass(messages([1, 2, 3], format), by: &frames)
        let second = message(2, format)
        #expect(out == message(1, format) + second[..<(second.count / 2)])
        #expect(isEnd)
    }

    @Test(arguments: [PushFormat.webSocket, .deflatedWebSocket])
    func `can be sent in fragments, also compressed`(format: PushFormat) throws {
        let all = messages([1, 2], format) + (try typing(format))
        for length in [1, 16, 100, 1000] {
            var frames = try frames("fragment-frames=\(length)", format)
            let (out, _) = try pass(all, by: &frames)
            func events(_ bytes: [UInt8]) throws -> [MessageReader.Event] {
                var reader = MessageReader(role: .client, maxMessageBytes: 1 << 20, allowsCompression: true)
                reader.append(bytes.span)
                return try (0..<4).map { _ in try reader.next() }
            }
            #expect(try events(out) == events(all))
            var offset = 0
            let first = try FrameHeader.decode(from: out.span, at: &offset, role: .client, allowsRSV1: true)
            #expect(first?.payloadLength == min(length, first?.payloadLength ?? 0))
            #expect(first?.isFinal == (out == all))
        }
    }

    @Test(arguments: PushFormat.all)
    func `have the requested epoch: the ids of events, and the first frame`(format: PushFormat) throws {
        var frames = try frames("new-epoch", format)
        let (out, _) = try pass(try subscribed(format) + messages([7], format) + typing(format), by: &frames)
        let begin = try subscribed(format, epoch: "E0fault")
        #expect(out.starts(with: begin))
        if format == .serverSentEvents {
            let rest = String(decoding: out.dropFirst(begin.count), as: UTF8.self)
            #expect(rest.hasPrefix("event: message\nid: E0fault:7\ndata: {"))
        } else {
            #expect(out == begin + messages([7], format) + (try typing(format)))
        }
    }

    @Test(arguments: PushFormat.all)
    func `are pushed again if the client has them, else twice when they come`(format: PushFormat) throws {
        var frames = try frames("drop-frame=4", format)
        let snapshot = Array(#"{"room":"lobby","rev":3,"text":"y"}"#.utf8)
        func again(_ rev: Int64) -> [UInt8] {
            var out: [UInt8] = []
            _ = frames.pushAgain(snapshot, rev, in: "lobby", into: &out)
            return out
        }
        _ = try pass(try subscribed(format), by: &frames)
        // Not while it is replayed.
        #expect(again(2).isEmpty)
        _ = try pass(try live(format), messages([2], format), by: &frames)
        #expect(frames.known(of: "lobby") == 2 && frames.known(of: "den") == nil)
        #expect(again(3).isEmpty)
        frames.note(4, in: "lobby")
        #expect(frames.known(of: "lobby") == 4)
        let (twice, _) = try pass(messages([3], format), by: &frames)
        #expect(twice == messages([3, 3], format))
        // The fourth message, a repetition, is dropped.
        #expect(again(3).isEmpty)
        let text = String(decoding: again(3), as: UTF8.self)
        #expect(text.contains(#"{"type":"message","message":{"room":"lobby","rev":3,"text":"y"}}"#))
        #expect(text.contains("id: E0:3\n") == (format == .serverSentEvents))
    }

    @Test(arguments: PushFormat.all)
    func `pass as they are with faults of another kind`(format: PushFormat) throws {
        var frames = try frames("delay,late-answer,lost-answer,status,double-push", format)
        let all = try subscribed(format) + messages([1, 2], format) + live(format) + messages([3], format)
        #expect(try pass(all, by: &frames) == (all, false))
    }
}

extension PushFormat {
    fileprivate static let all: [PushFormat] = [.webSocket, .deflatedWebSocket, .serverSentEvents]
}
