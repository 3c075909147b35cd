/// The client's side of the opening handshake (RFC 6455 §4.1).
public struct ClientHandshake: Sendable {
    /// The status and fields of the server's answer. Each field has the values of its lines, without surrounding
    /// whitespace.
    public struct Response: Sendable {
        /// The HTTP status.
        public var status: Int
        /// The lines of `Upgrade`.
        public var upgrade: [String]
        /// The lines of `Connection`.
        public var connection: [String]
        /// The lines of `Sec-WebSocket-Accept`.
        public var accept: [String]
        /// The lines of `Sec-WebSocket-Protocol`.
        public var subprotocol: [String]
        /// The lines of `Sec-WebSocket-Extensions`.
        public var extensions: [String]

        /// Creates an answer with these values.
        public init(
            status: Int, upgrade: [String], connection: [String], accept: [String], subprotocol: [String] = [],
            extensions: [String] = []
        ) {
            self.status = status
            self.upgrade = upgrade
            self.connection = connection
            self.accept = accept
            self.subprotocol = subprotocol
            self.extensions = extensions
        }
    }

    /// The options that client and server have negotiated.
    public struct Agreement: Equatable, Sendable {
        /// The subprotocol that the server chose; nil if it chose none.
        public let subprotocol: String?
        /// The negotiated compression; nil if messages are not compressed.
        public let deflate: PerMessageDeflate?
    }

    /// The reason why an answer does not open a WebSocket.
    public struct Failure: Error, Equatable, Sendable {
        /// A description of the problem, for people.
        public let reason: String
    }

    /// Number of bytes of a nonce.
    public static let nonceLength = AcceptKey.nonceLength

    /// The value of `Sec-WebSocket-Key`.
    public let key: String
    /// The offered subprotocols, in order of preference.
    public let subprotocols: [String]
    /// True if compression is offered.
    public let offersDeflate: Bool

    /// Creates a handshake for one connection.
    ///
    /// - Parameters:
    ///   - nonce: 16 random bytes, new for each connection.
    ///   - subprotocols: the subprotocols to offer, in order of preference: distinct tokens.
    ///   - offersDeflate: True to offer compression.
    public init(nonce: [UInt8], subprotocols: [String] = [], offersDeflate: Bool = false) {
        precondition(nonce.count == Self.nonceLength)
        key = Base64.encode(nonce)
        self.subprotocols = subprotocols
        self.offersDeflate = offersDeflate
    }

    /// The fields of the request except `Host`, as names and values.
    public var fields: [(name: String, value: String)] {
        var fields = [
            (name: "Upgrade", value: "websocket"), (name: "Connection", value: "Upgrade"),
            (name: "Sec-WebSocket-Version", value: ServerHandshake.version), (name: "Sec-WebSocket-Key", value: key),
        ]
        if !subprotocols.isEmpty {
            fields.append((name: "Sec-WebSocket-Protocol", value: subprotocols.joined(separator: ", ")))
        }
        if offersDeflate {
            fields.append((name: "Sec-WebSocket-Extensions", value: PerMessageDeflate.offer))
        }
        return fields
    }

    /// Checks the server's answer.
    ///
    /// - Returns: the options that the server chose from those offered.
    /// - Throws: the first rule of §4.1 that the answer breaks.
    public func check(_ response: Response) throws(Failure) -> Agreement {
        guard response.status == 101 else { throw Failure(reason: "the server answered \(response.status), not 101") }
        guard TokenList.contains("websocket", in: response.upgrade) else {
            throw Failure(reason: "the answer lacks Upgrade: websocket")
        }
        guard TokenList.contains("upgrade", in: response.connection) else {
            throw Failure(reason: "the answer lacks Connection: Upgrade")
        }
        guard response.accept == [AcceptKey.accept(for: key)] else {
            throw Failure(reason: "Sec-WebSocket-Accept does not match the key")
        }
        return Agreement(
            subprotocol: try subprotocol(in: response.subprotocol), deflate: try deflate(in: response.extensions))
    }

    private func subprotocol(in lines: [String]) throws(Failure) -> String? {
        guard let subprotocol = lines.first else { return nil }
        guard lines.count == 1, subprotocols.contains(subprotocol) else {
            throw Failure(reason: "the server chose a subprotocol that was not offered")
        }
        return subprotocol
    }

    private func deflate(in lines: [String]) throws(Failure) -> PerMessageDeflate? {
        guard let extensions = ExtensionList(lines)?.elements else {
            throw Failure(reason: "Sec-WebSocket-Extensions is not a list of extensions")
        }
        guard let used = extensions.first else { return nil }
        guard offersDeflate, extensions.count == 1, let deflate = PerMessageDeflate(answeredBy: used) else {
            throw Failure(reason: "the server uses an extension or a parameter that was not offered")
        }
        return deflate
    }
}
