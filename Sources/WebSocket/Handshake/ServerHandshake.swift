/// The server's side of the opening handshake (RFC 6455 §4.2), given the fields of an HTTP request.
///
/// Each field has the values of its lines, in order, without surrounding whitespace; it is empty if absent.
public struct ServerHandshake: Sendable {
    /// The method, version and fields of the request.
    public struct Request: Sendable {
        /// The method as sent.
        public var method: String
        /// The y of HTTP/1.y.
        public var httpMinorVersion: Int
        /// The lines of `Host`.
        public var host: [String]
        /// The lines of `Upgrade`.
        public var upgrade: [String]
        /// The lines of `Connection`.
        public var connection: [String]
        /// The lines of `Sec-WebSocket-Version`.
        public var version: [String]
        /// The lines of `Sec-WebSocket-Key`.
        public var key: [String]
        /// The lines of `Sec-WebSocket-Protocol`.
        public var subprotocols: [String]
        /// The lines of `Sec-WebSocket-Extensions`.
        public var extensions: [String]

        /// Creates a request with these values.
        public init(
            method: String, httpMinorVersion: Int, host: [String], upgrade: [String], connection: [String],
            version: [String], key: [String], subprotocols: [String] = [], extensions: [String] = []
        ) {
            self.method = method
            self.httpMinorVersion = httpMinorVersion
            self.host = host
            self.upgrade = upgrade
            self.connection = connection
            self.version = version
            self.key = key
            self.subprotocols = subprotocols
            self.extensions = extensions
        }
    }

    /// The only supported version (§4.1).
    public static let version = "13"

    /// The value of `Sec-WebSocket-Accept` in the answer.
    public let accept: String
    /// The value of `Sec-WebSocket-Protocol` in the answer; nil means no such field. Unsupported subprotocols are never
    /// echoed, so a client may pass a credential as one.
    public let subprotocol: String?
    /// The negotiated compression; nil if messages are not compressed.
    public let deflate: PerMessageDeflate?

    /// The fields of the answer as names and values. Its status is 101.
    public var fields: [(name: String, value: String)] {
        var fields = [
            (name: "Upgrade", value: "websocket"), (name: "Connection", value: "Upgrade"),
            (name: "Sec-WebSocket-Accept", value: accept),
        ]
        if let subprotocol {
            fields.append((name: "Sec-WebSocket-Protocol", value: subprotocol))
        }
        if let deflate {
            fields.append((name: "Sec-WebSocket-Extensions", value: deflate.answer))
        }
        return fields
    }

    /// Accepts a request.
    ///
    /// - Parameters:
    ///   - request: the client's request.
    ///   - supported: the subprotocols that the server supports. The first offered one among them is chosen (§4.2.2).
    ///   - windowBits: the windows that the server can compress messages with, within ``PerMessageDeflate/windowBits``;
    ///     nil to disable compression. The client's first offer that fits is accepted.
    /// - Throws: the refusal to answer with, for the first rule that the request breaks.
    public init(
        _ request: Request, supporting supported: [String], deflatingWithin windowBits: ClosedRange<Int>? = nil
    ) throws(HandshakeRefusal) {
        guard request.method == "GET" else { throw .badRequest("a WebSocket handshake must be a GET") }
        guard request.httpMinorVersion >= 1 else { throw .badRequest("a WebSocket handshake needs HTTP/1.1") }
        guard request.host.count == 1 else { throw .badRequest("a WebSocket handshake must have one Host header") }
        guard TokenList.contains("websocket", in: request.upgrade) else {
            throw .upgradeRequired("this resource is a WebSocket: send Upgrade: websocket")
        }
        guard TokenList.contains("upgrade", in: request.connection) else {
            throw .badRequest("the Connection header must name Upgrade")
        }
        guard !request.version.isEmpty else { throw .badRequest("Sec-WebSocket-Version is missing") }
        guard request.version == [Self.version] else {
            throw .upgradeRequired("Sec-WebSocket-Version must be \(Self.version)")
        }
        guard request.key.count == 1, let key = request.key.first, AcceptKey.isValid(key) else {
            throw .badRequest("Sec-WebSocket-Key must occur once and be 16 bytes in Base64")
        }
        guard let offered = TokenList.parse(request.subprotocols) else {
            throw .badRequest("Sec-WebSocket-Protocol must be a list of tokens")
        }
        // The handshake must fail; declining the extension is not enough (§9.1).
        guard let extensions = ExtensionList(request.extensions) else {
            throw .badRequest("Sec-WebSocket-Extensions must be a list of extensions")
        }
        accept = AcceptKey.accept(for: key)
        subprotocol = offered.first { supported.contains($0) }
        deflate = windowBits.flatMap { PerMessageDeflate(accepting: extensions, within: $0) }
    }
}

/// The answer to a request that is not a valid WebSocket handshake.
public struct HandshakeRefusal: Error, Equatable, Sendable {
    /// The HTTP status: 400, or 426 if another `Upgrade` or version would succeed.
    public let status: Int
    /// A description of the problem, for people.
    public let reason: String

    /// The fields required by the status, as names and values. A 426 names the protocol to upgrade to (RFC 9110
    /// §15.5.22) and the version (RFC 6455 §4.4).
    public var fields: [(name: String, value: String)] {
        guard status == 426 else { return [] }
        return [
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Version", ServerHandshake.version),
        ]
    }

    static func badRequest(_ reason: String) -> HandshakeRefusal {
        HandshakeRefusal(status: 400, reason: reason)
    }

    static func upgradeRequired(_ reason: String) -> HandshakeRefusal {
        HandshakeRefusal(status: 426, reason: reason)
    }
}
