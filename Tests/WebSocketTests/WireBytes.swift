import Testing
import WebSocket

/// Bytes to feed to a reader.
enum WireBytes {
    static let key = MaskingKey(0x37, 0xFA, 0x21, 0x3D)

    /// A frame as a client sends it.
    static func masked(
        _ opcode: Opcode, _ payload: [UInt8] = [], isFinal: Bool = true, key: MaskingKey = key
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        Frame.append(opcode, payload: payload.span, isFinal: isFinal, maskingKey: key, into: &bytes)
        return bytes
    }

    static func masked(_ opcode: Opcode, _ text: String, isFinal: Bool = true) -> [UInt8] {
        masked(opcode, Array(text.utf8), isFinal: isFinal)
    }

    /// A frame as a server sends it.
    static func unmasked(_ opcode: Opcode, _ payload: [UInt8] = [], isFinal: Bool = true) -> [UInt8] {
        var bytes: [UInt8] = []
        Frame.append(opcode, payload: payload.span, isFinal: isFinal, into: &bytes)
        return bytes
    }

    /// A frame of a compressed message, as a client sends it.
    static func compressed(
        _ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true, key: MaskingKey = key
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        Frame.append(opcode, payload: payload.span, isFinal: isFinal, rsv1: true, maskingKey: key, into: &bytes)
        return bytes
    }

    /// Returns the compressed payload of a message.
    static func deflated(_ message: [UInt8], windowBits: Int = Deflater.defaultWindowBits) -> [UInt8] {
        var deflater = Deflater(windowBits: windowBits)
        var payload: [UInt8] = []
        deflater.append(message.span, to: &payload)
        return payload
    }

    /// Returns a masked frame with a header that no correct encoder writes: the first byte, the second byte, then the
    /// rest.
    static func raw(_ bytes: UInt8..., payloadCount: Int = 0) -> [UInt8] {
        bytes + [0, 0, 0, 0] + [UInt8](repeating: 0, count: payloadCount)
    }
}

/// The events that a reader produced, and the error that ended it.
struct Outcome: Equatable, CustomTestStringConvertible {
    var events: [MessageReader.Event] = []
    var error: WebSocketError?

    /// Reads all available events.
    mutating func drain(_ reader: inout MessageReader) {
        guard error == nil else { return }
        do throws(WebSocketError) {
            while true {
                let event = try reader.next()
                if event == .needMoreBytes { return }
                events.append(event)
            }
        } catch {
            self.error = error
        }
    }

    var testDescription: String {
        "\(events.count) events: \(events.prefix(8)), \(error?.reason ?? "no error")"
    }
}

extension MessageReader {
    /// Feeds all of `bytes` in pieces of at most `size`, draining after each.
    mutating func read(_ bytes: [UInt8], inPiecesOf size: Int = .max) -> Outcome {
        var outcome = Outcome()
        var start = 0
        while start < bytes.count {
            let end = start + min(size, bytes.count - start)
            append(bytes.span.extracting(start..<end))
            outcome.drain(&self)
            start = end
        }
        return outcome
    }

    /// Returns the outcome of `bytes` with a new reader.
    static func outcome(
        of bytes: [UInt8], role: Role = .server, maxMessageBytes: Int = 1 << 20, allowsCompression: Bool = false,
        inPiecesOf size: Int = .max
    ) -> Outcome {
        var reader = MessageReader(
            role: role, maxMessageBytes: maxMessageBytes, allowsCompression: allowsCompression)
        return reader.read(bytes, inPiecesOf: size)
    }
}

extension MessageReader.Event {
    static func text(_ text: String) -> MessageReader.Event {
        .text(Array(text.utf8))
    }
}
