/// The client's side of the opening handshake (RFC 6455 §4.1).
public struct ClientHandshake: Sendable {
    /// What the answer's line and fields say; each field as the values of its lines, without surrounding whitespace.
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

        /// An answer with these values.
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

    /// Why an answer does not open a WebSocket.
    public struct Failure: Error, Equatable, Sendable {
        /// What is wrong, for people.
        public let reason: String
    }

    /// The bytes of a nonce.
    public static let nonceLength = AcceptKey.nonceLength

    /// The value of `Sec-WebSocket-Key`.
    public let key: String
    /// The subprotocols that are offered, the best first.
    public let subprotocols: [String]

    /// A handshake for one connection.
    ///
    /// - Parameters:
    ///   - nonce: 16 random bytes, new for each connection.
    ///   - subprotocols: what to offer, the best first: tokens, without repetition.
    public init(nonce: [UInt8], subprotocols: [String] = []) {
        precondition(nonce.count == Self.nonceLength)
        key = Base64.encode(nonce)
        self.subprotocols = subprotocols
    }

    /// The fields of the request, but for `Host`, as name and value.
    public var fields: [(name: String, value: String)] {
        var fields = [
            (name: "Upgrade", value: "websocket"), (name: "Connection", value: "Upgrade"),
            (name: "Sec-WebSocket-Version", value: ServerHandshake.version), (name: "Sec-WebSocket-Key", value: key),
        ]
        if !subprotocols.isEmpty {
            fields.append((name: "Sec-WebSocket-Protocol", value: subprotocols.joined(separator: ", ")))
        }
        return fields
    }

    /// Checks the server's answer.
    ///
    /// - Returns: the subprotocol that the server chose; nil if it chose none.
    /// - Throws: the first rule of §4.1 that the answer breaks.
    public func check(_ response: Response) throws(Failure) -> String? {
        guard response.status == 101 else { throw Failure(reason: "the server answered \(response.status), not 101") }
        guard TokenList.contains("websocket", in: response.upgrade) else {
            throw Failure(reason: "the answer lacks Upgrade: websocket")
        }
        guard TokenList.contains("upgrade", in: response.connection) else {
            throw Failure(reason: "the answer lacks Connection: Upgrade")
        }
        guard response.accept == [AcceptKey.accept(for: key)] else {
            throw Failure(reason: "Sec-WebSocket-Accept does not fit the key")
        }
        guard response.extensions.allSatisfy(\.isEmpty) else {
            throw Failure(reason: "the server uses an extension that was not offered")
        }
        guard let subprotocol = response.subprotocol.first else { return nil }
        guard response.subprotocol.count == 1, subprotocols.contains(subprotocol) else {
            throw Failure(reason: "the server chose a subprotocol that was not offered")
        }
        return subprotocol
    }
}
