/// A violation of the protocol by the peer. Fail the connection (RFC 6455 §7.1.7) with this code and reason in the last
/// Close frame.
public struct WebSocketError: Error, Equatable, Sendable {
    /// The code of the Close frame, which is always one that may be sent.
    public let closeCode: CloseCode
    /// A description of the problem, for people: short enough for a Close frame (123 bytes), and without data from the
    /// peer.
    public let reason: String

    /// Creates an error that ends the connection with `closeCode`.
    public init(closeCode: CloseCode, reason: String) {
        self.closeCode = closeCode
        self.reason = reason
    }

    static func protocolError(_ reason: String) -> WebSocketError {
        WebSocketError(closeCode: .protocolError, reason: reason)
    }

    static func invalidUTF8(in place: String) -> WebSocketError {
        WebSocketError(closeCode: .invalidPayloadData, reason: "\(place) is not UTF-8")
    }

    static let cannotBeInflated = WebSocketError(
        closeCode: .invalidPayloadData, reason: "a compressed message cannot be decompressed")

    static func messageTooBig(limit: Int) -> WebSocketError {
        WebSocketError(closeCode: .messageTooBig, reason: "a message may have at most \(limit) bytes")
    }
}
