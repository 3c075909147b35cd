import Testing
import WebSocket

/// Bytes of a client, and the server's expected reaction, however they are cut.
struct Conversation: CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let events: [MessageReader.Event]
    let closeCode: CloseCode?

    init(
        _ name: String, _ frames: [UInt8]..., events: [MessageReader.Event] = [], closeCode: CloseCode? = nil
    ) {
        self.name = name
        bytes = frames.flatMap { $0 }
        self.events = events
        self.closeCode = closeCode
    }

    var testDescription: String { name }
}

/// The cases of the Autobahn testsuite, sections 1 to 7, that depend on the codec alone. ``MessageTextTests`` has more
/// about text.
@Suite("Conversations, whole and in every pair of pieces")
struct ConversationTests {
    @Test(arguments: pings + reservedBits + reservedOpcodes + fragments + closes)
    func `Every conversation ends the same wherever it is cut`(conversation: Conversation) {
        let bytes = conversation.bytes
        let whole = MessageReader.outcome(of: bytes)
        #expect(whole.events == conversation.events)
        #expect(whole.error?.closeCode == conversation.closeCode)
        #expect(MessageReader.outcome(of: bytes, inPiecesOf: 1) == whole)
        for cut in 1..<max(bytes.count, 2) {
            var reader = MessageReader(role: .server, maxMessageBytes: 1 << 20)
            var outcome = reader.read(Array(bytes[..<cut]))
            if outcome.error == nil {
                let rest = reader.read(Array(bytes[cut...]))
                outcome = Outcome(events: outcome.events + rest.events, error: rest.error)
            }
            #expect(outcome == whole, "cut at \(cut)")
        }
    }
}

private typealias W = WireBytes

private let hello: MessageReader.Event = .text("Hello, world!")
private let helloFrame = W.masked(.text, "Hello, world!")
private let fragment1 = W.masked(.text, "fragment1", isFinal: false)
private let fragment2 = W.masked(.continuation, "fragment2")
private let joined: MessageReader.Event = .text("fragment1fragment2")
private let ping = W.masked(.ping, "p")
private let long = [UInt8](repeating: 0x2A, count: 125)

private let pings = [
    Conversation("2.1 an empty ping", W.masked(.ping), events: [.ping([])]),
    Conversation(
        "2.3 a ping of bytes that are no text", W.masked(.ping, [0, 255, 254]), events: [.ping([0, 255, 254])]),
    Conversation("2.4 a ping of 125 bytes", W.masked(.ping, long), events: [.ping(long)]),
    Conversation("2.5 a ping of 126 bytes", W.raw(0x89, 0xFE, 0, 126, payloadCount: 126), closeCode: .protocolError),
    Conversation(
        "2.8 a pong that nobody asked for", W.masked(.pong, "x"), ping, events: [.pong([0x78]), .ping([0x70])]),
    Conversation(
        "2.10 ten pings", (0..<10).flatMap { W.masked(.ping, [$0]) }, events: (0..<10).map { .ping([$0]) }),
]

private let reservedBits = [
    Conversation("3.1 RSV 1", W.raw(0xC1, 0x80), closeCode: .protocolError),
    Conversation(
        "3.2 RSV2 after a message", helloFrame, W.raw(0xA1, 0x80), ping, events: [hello], closeCode: .protocolError),
    Conversation(
        "3.3 RSV2 and 3 after a message", helloFrame, W.raw(0xB1, 0x80), events: [hello], closeCode: .protocolError),
    Conversation("3.5 a binary message with RSV 5", W.raw(0xD2, 0x81, payloadCount: 1), closeCode: .protocolError),
    Conversation("3.6 a ping with RSV 6", W.raw(0xE9, 0x80), closeCode: .protocolError),
    Conversation("3.7 a close with RSV 7", W.raw(0xF8, 0x80), closeCode: .protocolError),
]

private let reservedOpcodes = [
    Conversation("4.1.1 opcode 3", W.raw(0x83, 0x80), closeCode: .protocolError),
    Conversation(
        "4.1.4 opcode 6 after a message", helloFrame, W.raw(0x86, 0x81, payloadCount: 1), ping, events: [hello],
        closeCode: .protocolError),
    Conversation("4.2.1 opcode 11", W.raw(0x8B, 0x80), closeCode: .protocolError),
    Conversation(
        "4.2.5 opcode 15 after a message", helloFrame, W.raw(0x8F, 0x81, payloadCount: 1), ping, events: [hello],
        closeCode: .protocolError),
]

private let fragments = [
    Conversation("5.1 a fragmented ping", W.raw(0x09, 0x80), W.raw(0x80, 0x80), closeCode: .protocolError),
    Conversation("5.2 a fragmented pong", W.raw(0x0A, 0x80), W.raw(0x80, 0x80), closeCode: .protocolError),
    Conversation("5.3 two fragments", fragment1, fragment2, events: [joined]),
    Conversation("5.6 a ping between two fragments", fragment1, ping, fragment2, events: [.ping([0x70]), joined]),
    Conversation("5.9 a continuation of nothing", fragment2, helloFrame, closeCode: .protocolError),
    Conversation(
        "5.12 a continuation of nothing, to be continued", W.masked(.continuation, "x", isFinal: false), helloFrame,
        closeCode: .protocolError),
    Conversation(
        "5.15 a continuation behind the end of a message", fragment1, fragment2,
        W.masked(.continuation, "x", isFinal: false), helloFrame, events: [joined], closeCode: .protocolError),
    Conversation(
        "5.18 a second text frame inside a message", fragment1, W.masked(.text, "fragment2"), closeCode: .protocolError),
    Conversation(
        "a binary frame inside a text message", fragment1, W.masked(.binary, [1]), closeCode: .protocolError),
    Conversation(
        "5.19 five fragments with two pings between", fragment1, W.masked(.continuation, "2", isFinal: false), ping,
        W.masked(.continuation, "3", isFinal: false), W.masked(.continuation, "4", isFinal: false), ping,
        W.masked(.continuation, "5"), events: [.ping([0x70]), .ping([0x70]), .text("fragment12345")]),
    Conversation(
        "6.1.2 three empty fragments", W.masked(.text, isFinal: false), W.masked(.continuation, isFinal: false),
        W.masked(.continuation), events: [.text("")]),
    Conversation(
        "6.1.3 one filled fragment between two empty ones", W.masked(.text, isFinal: false),
        W.masked(.continuation, "middle", isFinal: false), W.masked(.continuation), events: [.text("middle")]),
    Conversation("an unmasked frame", W.unmasked(.text, [0x61]), closeCode: .protocolError),
    Conversation(
        "two fragmented messages, binary and text", W.masked(.binary, [1], isFinal: false),
        W.masked(.continuation, [255]), fragment1, fragment2, events: [.binary([1, 255]), joined]),
]

private let closes = [
    Conversation(
        "7.1.2 two close frames", W.masked(.close, [3, 232]), W.masked(.close),
        events: [.close(code: .normalClosure, reason: [])]),
    Conversation(
        "7.1.3 a ping after the close", W.masked(.close, [3, 232]), ping,
        events: [.close(code: .normalClosure, reason: [])]),
    Conversation(
        "7.1.5 a close inside a message", fragment1, W.masked(.close, [3, 232]), fragment2,
        events: [.close(code: .normalClosure, reason: [])]),
    Conversation(
        "a broken frame after the close", W.masked(.close), W.raw(0xFF, 0), events: [.close(code: nil, reason: [])]),
    Conversation("7.3.1 a close that says nothing", W.masked(.close), events: [.close(code: nil, reason: [])]),
    Conversation("7.3.2 a close of one byte", W.masked(.close, [3]), closeCode: .protocolError),
    Conversation(
        "7.3.4 a close with a reason", W.masked(.close, [3, 232] + Array("Hello World!".utf8)),
        events: [.close(code: .normalClosure, reason: Array("Hello World!".utf8))]),
    Conversation(
        "7.3.5 a close with the longest reason", W.masked(.close, [3, 232] + long.dropLast(2)),
        events: [.close(code: .normalClosure, reason: long.dropLast(2))]),
    Conversation(
        "7.3.6 a close with a reason too long", W.raw(0x88, 0xFE, 0, 126, payloadCount: 126), closeCode: .protocolError),
    Conversation(
        "7.5.1 a close with a reason that is not UTF-8", W.masked(.close, [3, 232, 0xCE, 0xBA, 0xED, 0xA0, 0x80]),
        closeCode: .invalidPayloadData),
    Conversation("7.9.5 close code 1006", W.masked(.close, [0x03, 0xEE]), closeCode: .protocolError),
]
