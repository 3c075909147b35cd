/// What a frame's payload is (RFC 6455 §5.2, §11.8).
///
/// The values 0x3 to 0x7 and 0xB to 0xF are reserved and have no case: a frame that carries one fails the connection.
public enum Opcode: UInt8, Sendable {
    /// A further fragment of the message under way (§5.4).
    case continuation = 0x0
    /// A message of UTF-8 text, or its first fragment.
    case text = 0x1
    /// A message of bytes, or its first fragment.
    case binary = 0x2
    /// The closing handshake (§5.5.1).
    case close = 0x8
    /// "Are you there?" (§5.5.2).
    case ping = 0x9
    /// The answer to a ping, or an unasked sign of life (§5.5.3).
    case pong = 0xA

    /// True if this is a control frame (§5.5): at most 125 bytes, never fragmented, allowed between the fragments of
    /// a message.
    public var isControl: Bool {
        rawValue & 0x8 != 0
    }
}
