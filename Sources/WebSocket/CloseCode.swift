/// The reason why a connection is closed (RFC 6455 §7.4).
public struct CloseCode: RawRepresentable, Hashable, Sendable {
    /// The number as it stands in a Close frame.
    public let rawValue: UInt16

    /// Any number, also one that must not be sent: see ``mayBeSent``.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// True if the code may stand in a Close frame: those registered for the wire (1000-1003 and 1007-1014), those of
    /// libraries and frameworks (3000-3999), and private ones (4000-4999). The codes 1004-1006 and 1015 are never
    /// sent; the rest below 3000 is reserved for the protocol (§7.4.2).
    public var mayBeSent: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// The registered codes (§7.4.1, §11.7, and the IANA registry for 1012 to 1014).
extension CloseCode {
    /// The purpose of the connection is fulfilled.
    public static let normalClosure = CloseCode(rawValue: 1000)
    /// The server is shutting down, or the page was left.
    public static let goingAway = CloseCode(rawValue: 1001)
    /// The peer broke the framing rules.
    public static let protocolError = CloseCode(rawValue: 1002)
    /// A kind of message that the endpoint cannot take, such as binary where text is spoken.
    public static let unsupportedData = CloseCode(rawValue: 1003)
    /// Reserved without a meaning; never sent.
    public static let reserved1004 = CloseCode(rawValue: 1004)
    /// Stands for a Close frame without a code; never sent.
    public static let noStatusReceived = CloseCode(rawValue: 1005)
    /// Stands for a connection that ended without a Close frame; never sent.
    public static let abnormalClosure = CloseCode(rawValue: 1006)
    /// Data that contradicts its type, such as text that is not UTF-8.
    public static let invalidPayloadData = CloseCode(rawValue: 1007)
    /// A message against the endpoint's rules, where no other code fits.
    public static let policyViolation = CloseCode(rawValue: 1008)
    /// A message that is larger than the endpoint takes.
    public static let messageTooBig = CloseCode(rawValue: 1009)
    /// The server did not negotiate an extension that the client needs; sent by clients only.
    public static let mandatoryExtension = CloseCode(rawValue: 1010)
    /// The server met a condition that it did not expect.
    public static let internalError = CloseCode(rawValue: 1011)
    /// The service restarts; a client may come back after a random delay.
    public static let serviceRestart = CloseCode(rawValue: 1012)
    /// The service is overloaded.
    public static let tryAgainLater = CloseCode(rawValue: 1013)
    /// A gateway got an invalid answer from the server behind it.
    public static let badGateway = CloseCode(rawValue: 1014)
    /// Stands for a failed TLS handshake; never sent.
    public static let tlsHandshake = CloseCode(rawValue: 1015)
}

/// Backscroll's own codes, in the range for private use (§7.4.2). They resemble the HTTP status they stand for.
extension CloseCode {
    /// The request for the socket cannot be read, or contradicts itself.
    public static let badRequest = CloseCode(rawValue: 4400)
    /// The token is missing, invalid or expired, or nobody is named: get a new token and come back.
    public static let tokenExpired = CloseCode(rawValue: 4401)
    /// The user may not read the room, or no longer.
    public static let notMember = CloseCode(rawValue: 4403)
    /// The room has been deleted, or there is none that the user may know of.
    public static let roomDeleted = CloseCode(rawValue: 4404)
    /// The connection was full and took nothing for too long.
    public static let noProgress = CloseCode(rawValue: 4408)
    /// The cursor belongs to another history: load the room afresh.
    public static let cursorUnknown = CloseCode(rawValue: 4410)
    /// The peer sent more frames, or asked more often, than it may.
    public static let tooManyFrames = CloseCode(rawValue: 4429)
    /// The server cannot serve at the moment: come back later.
    public static let unavailable = CloseCode(rawValue: 4503)
}
