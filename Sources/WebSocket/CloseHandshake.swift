/// The closing handshake (RFC 6455 §1.4, §7.1): each side sends one Close frame, then the server ends the TCP
/// connection.
///
/// Report events to it and perform the actions that it returns. The caller enforces the deadline: if the peer does not
/// answer in time, disconnect.
public struct CloseHandshake: Equatable, Sendable {
    /// The action that the caller must take.
    public enum Action: Equatable, Sendable {
        /// Nothing.
        case none
        /// Send this Close frame and keep reading.
        case send(ClosePayload)
        /// Send this Close frame, then end the TCP connection.
        case sendAndDisconnect(ClosePayload)
        /// End the TCP connection.
        case disconnect
    }

    /// The progress of the handshake.
    public enum State: Equatable, Sendable {
        /// Messages flow in both directions.
        case open
        /// Our Close frame was sent, the peer's has not arrived. The peer may still send messages, which may be read or
        /// dropped.
        case closing
        /// Nothing more is sent, and received bytes are ignored.
        case closed
    }

    /// The local end of the connection.
    public let role: Role
    /// The progress of the handshake.
    public private(set) var state = State.open

    /// Creates the handshake of an open connection.
    public init(role: Role) {
        self.role = role
    }

    /// True until our Close frame is sent. After it, no frame may be sent, not even pongs and fragments (§5.5.1).
    public var maySend: Bool { state == .open }

    /// True until the peer's Close frame or an error. Later frames are ignored.
    public var mayReceive: Bool { state != .closed }

    /// Starts closing the connection. Does nothing if it is already closing.
    public mutating func close(_ payload: ClosePayload) -> Action {
        guard state == .open else { return .none }
        state = .closing
        return .send(payload)
    }

    /// Handles the peer's Close frame. If it is the first of the two, the answer has the same code (§5.5.1).
    public mutating func received(code: CloseCode?) -> Action {
        defer { state = .closed }
        switch (state, role) {
        case (.open, .server): return .sendAndDisconnect(ClosePayload(echoing: code))
        case (.open, .client): return .send(ClosePayload(echoing: code))
        case (.closing, .server): return .disconnect
        // A client leaves closing the TCP connection to the server, whose port then stays in TIME_WAIT (§7.1.1).
        case (.closing, .client), (.closed, _): return .none
        }
    }

    /// Fails the connection after the peer broke a rule (§7.1.7).
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
        // A reader refuses codes that must not be sent. If a caller passes one, the answer is empty.
        if let code, code.mayBeSent {
            self.init(code: code)
        } else {
            self = .empty
        }
    }
}
