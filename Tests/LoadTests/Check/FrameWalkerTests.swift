import Testing
import WebSocket

@testable import Load

@Suite struct FrameWalkerTests {
    struct Seen: Equatable {
        let event: FrameWalker.Event
        let payload: String
    }

    static func frame(_ opcode: Opcode, _ payload: String, isFinal: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        Frame.append(opcode, payload: Array(payload.utf8).span, isFinal: isFinal, into: &bytes)
        return bytes
    }

    /// Returns the events of bytes that arrive in reads of at most `size`.
    static func walk(_ bytes: [UInt8], readsOf size: Int) throws -> [Seen] {
        var walker = FrameWalker()
        var seen: [Seen] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            try walker.walk(bytes.span.extracting(start..<min(start + size, bytes.count))) { event, payload in
                seen.append(
                    Seen(event: event, payload: String(decoding: payload.indices.map { payload[$0] }, as: UTF8.self)))
            }
        }
        #expect(walker.cut.isEmpty && walker.fragments == nil)
        return seen
    }

    @Test func `every event is seen once, however reads cut the frames`() throws {
        let long = String(repeating: "long", count: 100)
        let huge = String(repeating: "huge", count: 20_000)
        let bytes =
            Self.frame(.text, "one") + Self.frame(.text, "") + Self.frame(.ping, "are you there")
            + Self.frame(.text, long)
            + Self.frame(.pong, "ignored") + Self.frame(.binary, huge) + Self.frame(.text, "two")
            + Self.frame(.close, "")
        let expected = [
            Seen(event: .message, payload: "one"), Seen(event: .message, payload: ""),
            Seen(event: .ping, payload: "are you there"), Seen(event: .message, payload: long),
            Seen(event: .message, payload: huge), Seen(event: .message, payload: "two"),
            Seen(event: .close, payload: ""),
        ]
        for size in [1, 2, 3, 5, 7, 16, 100, 1000, 4096, 65_536, bytes.count] {
            #expect(try Self.walk(bytes, readsOf: size) == expected, "in reads of \(size)")
        }
    }

    @Test func `fragments form one message, also with control frames between them`() throws {
        let bytes =
            Self.frame(.text, "BSL:1:", isFinal: false) + Self.frame(.ping, "p")
            + Self.frame(.continuation, "2:3", isFinal: false) + Self.frame(.continuation, ":4;")
            + Self.frame(.text, "next")
        for size in [1, 4, bytes.count] {
            #expect(
                try Self.walk(bytes, readsOf: size) == [
                    Seen(event: .ping, payload: "p"), Seen(event: .message, payload: "BSL:1:2:3:4;"),
                    Seen(event: .message, payload: "next"),
                ])
        }
    }

    @Test func `invalid framing is an error`() {
        let cases: [[UInt8]] = [
            [0x81, 0x81, 1, 2, 3, 4, 5],  // masked, as only clients do
            [0xC1, 0x00],  // RSV1 without an extension
            [0x83, 0x00],  // a reserved opcode
            Self.frame(.continuation, "x"),  // nothing to continue
            Self.frame(.text, "x", isFinal: false) + Self.frame(.text, "y"),  // a message within a message
            [0x82, 127, 0, 0, 0, 0, 1, 0, 0, 1],  // 16 MiB and one byte
        ]
        for bytes in cases {
            var walker = FrameWalker()
            #expect(throws: WebSocketError.self, "\(bytes)") { try walker.walk(bytes.span) { _, _ in } }
            var slow = FrameWalker()
            #expect(throws: WebSocketError.self, "\(bytes), byte by byte") {
                for index in bytes.indices { try slow.walk(bytes.span.extracting(index..<index + 1)) { _, _ in } }
            }
        }
    }

    @Test func `a message may have 16 MiB, also in fragments`() throws {
        let half = String(repeating: "x", count: FrameWalker.maxMessageBytes / 2)
        let bytes = Self.frame(.binary, half, isFinal: false) + Self.frame(.continuation, half)
        #expect(try Self.walk(bytes, readsOf: 1 << 20).map(\.payload.utf8.count) == [FrameWalker.maxMessageBytes])
        #expect(throws: WebSocketError.self) {
            try Self.walk(
                Self.frame(.binary, half + "x", isFinal: false) + Self.frame(.continuation, half), readsOf: 1 << 20)
        }
    }
}
