/// How a connection comes to its end (RFC 6455 §1.4, §7.1): each side sends one Close frame, and then the server ends
/// the TCP connection.
///
/// Feed it what happens and do what it returns. That the peer answers in time is the caller's to watch: when it does
/// not, disconnect.
public struct CloseHandshake: Equatable, Sendable {
    /// What the caller has to do.
    public enum Action: Equatable, Sendable {
        /// Nothing.
        case none
        /// Send this Close frame and go on reading.
        case send(ClosePayload)
        /// Send this Close frame, then end the TCP connection.
        case sendAndDisconnect(ClosePayload)
        /// End the TCP connection.
        case disconnect
    }

    /// Where the handshake stands.
    public enum State: Equatable, Sendable {
        /// Messages go both ways.
        case open
        /// Our Close frame is out and the peer's has not come. It may still send messages, which may be read or dropped.
        case closing
        /// Nothing more is sent, and what is received is ignored.
        case closed
    }

    /// Which end we are.
    public let role: Role
    /// Where the handshake stands.
    public private(set) var state = State.open

    /// The handshake of an open connection.
    public init(role: Role) {
        self.role = role
    }

    /// True if frames may be sent: no longer once our Close frame is out (§5.5.1), pongs and fragments included.
    public var maySend: Bool {
        state == .open
    }

    /// True if received frames count. After the peer's Close frame, or an error, they are ignored.
    public var mayReceive: Bool {
        state != .closed
    }

    /// We want to close. Does nothing when the end is already under way.
    public mutating func close(_ payload: ClosePayload) -> Action {
        guard state == .open else { return .none }
        state = .closing
        return .send(payload)
    }

    /// The peer's Close frame came. If it is the first of the two it is answered with its own code (§5.5.1).
    public mutating func received(code: CloseCode?) -> Action {
        defer { state = .closed }
        switch (state, role) {
        case (.open, .server): return .sendAndDisconnect(ClosePayload(echoing: code))
        case (.open, .client): return .send(ClosePayload(echoing: code))
        case (.closing, .server): return .disconnect
        // A client leaves the end of the TCP connection to the server, whose port then waits in TIME_WAIT (§7.1.1).
        case (.closing, .client), (.closed, _): return .none
        }
    }

    /// The peer broke a rule: the connection fails (§7.1.7).
    public mutating func failed(_ error: WebSocketError) -> Action {
        defer { state = .closed }
        switch state {
        case .open: return .sendAndDisconnect(ClosePayload(code: error.closeCode, reason: error.reason))
        case .closing: return .disconnect
        case .closed: return .none
        }
    }
}

extension ClosePayload {
    fileprivate init(echoing code: CloseCode?) {
        // A reader refuses codes that must not be sent; a caller's own mistake gets the empty answer, not a crash.
        if let code, code.mayBeSent {
            self.init(code: code)
        } else {
            self = .empty
        }
    }
}
