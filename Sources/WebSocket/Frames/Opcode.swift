/// The type of a frame's payload (RFC 6455 §5.2, §11.8).
///
/// The values 0x3 to 0x7 and 0xB to 0xF are reserved and have no case: a frame with one of them fails the connection.
public enum Opcode: UInt8, Sendable {
    /// A further fragment of the current message (§5.4).
    case continuation = 0x0
    /// A text message in UTF-8, or its first fragment.
    case text = 0x1
    /// A binary message, or its first fragment.
    case binary = 0x2
    /// The closing handshake (§5.5.1).
    case close = 0x8
    /// A request for a pong, to check that the peer is alive (§5.5.2).
    case ping = 0x9
    /// The answer to a ping, or an unsolicited heartbeat (§5.5.3).
    case pong = 0xA

    /// True if this is a control frame (§5.5). It has at most 125 bytes, is never fragmented, and may come between the
    /// fragments of a message.
    public var isControl: Bool { rawValue & 0x8 != 0 }
}
