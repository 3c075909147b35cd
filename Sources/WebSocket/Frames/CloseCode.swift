/// The reason why a connection is closed (RFC 6455 §7.4).
public struct CloseCode: RawRepresentable, Hashable, Sendable {
    /// The number in a Close frame.
    public let rawValue: UInt16

    /// Creates a code with any number, including ones that must not be sent; see ``mayBeSent``.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// True if the code may appear in a Close frame. Such codes are registered for the wire (1000-1003 and 1007-1014),
    /// belong to libraries and frameworks (3000-3999), or are private (4000-4999). The codes 1004-1006 and 1015 are
    /// never sent; the other codes below 3000 are reserved for the protocol (§7.4.2).
    public var mayBeSent: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// Registered codes (§7.4.1; the IANA registry for 1013).
extension CloseCode {
    /// The purpose of the connection is fulfilled.
    public static let normalClosure = CloseCode(rawValue: 1000)
    /// The server is shutting down, or the user left the page.
    public static let goingAway = CloseCode(rawValue: 1001)
    /// The peer broke the framing rules.
    public static let protocolError = CloseCode(rawValue: 1002)
    /// The endpoint does not accept this kind of message, such as binary where it expects text.
    public static let unsupportedData = CloseCode(rawValue: 1003)
    /// Represents a Close frame without a code; never sent.
    public static let noStatusReceived = CloseCode(rawValue: 1005)
    /// Represents a connection that ended without a Close frame; never sent.
    public static let abnormalClosure = CloseCode(rawValue: 1006)
    /// Data that contradicts its type, such as text that is not UTF-8.
    public static let invalidPayloadData = CloseCode(rawValue: 1007)
    /// A message violates the endpoint's rules, and no other code fits.
    public static let policyViolation = CloseCode(rawValue: 1008)
    /// A message exceeds the endpoint's size limit.
    public static let messageTooBig = CloseCode(rawValue: 1009)
    /// The server met an unexpected condition.
    public static let internalError = CloseCode(rawValue: 1011)
    /// The service is overloaded.
    public static let tryAgainLater = CloseCode(rawValue: 1013)
}

/// Backscroll's codes, in the range for private use (§7.4.2). Each resembles a related HTTP status.
extension CloseCode {
    /// The request for the socket is malformed or contradicts itself.
    public static let badRequest = CloseCode(rawValue: 4400)
    /// The token is missing, invalid or expired, or the request names no user. Get a new token and reconnect.
    public static let tokenExpired = CloseCode(rawValue: 4401)
    /// The user may not read the room, or may no longer do so.
    public static let notMember = CloseCode(rawValue: 4403)
    /// The room has been deleted, does not exist, or is hidden from the user.
    public static let roomDeleted = CloseCode(rawValue: 4404)
    /// The send queue was full and made no progress for too long.
    public static let noProgress = CloseCode(rawValue: 4408)
    /// The cursor belongs to another history: reload the room.
    public static let cursorUnknown = CloseCode(rawValue: 4410)
    /// The peer exceeded the limit on frames or requests.
    public static let tooManyFrames = CloseCode(rawValue: 4429)
    /// The server is temporarily unavailable: reconnect later.
    public static let unavailable = CloseCode(rawValue: 4503)
}
