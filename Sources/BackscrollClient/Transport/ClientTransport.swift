#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The network of a client: HTTP requests and WebSockets.
///
/// A transport follows no redirects, keeps no cookies and no cache, and repeats no requests: the client repeats them
/// where that is needed. Apps use the transport of their platform. Implement the protocol to test without a network, or
/// to send requests in another way.
public protocol ClientTransport: Sendable {
    /// Sends a request and returns its answer, whatever the status is.
    ///
    /// - Throws: a failure if no complete answer came within the request's timeout.
    func send(_ request: TransportRequest) async throws(TransportFailure) -> TransportResponse

    /// Opens a WebSocket (RFC 6455).
    ///
    /// - Throws: a failure if the socket did not open within the request's timeout; with the answer if the server
    ///   refused it with an HTTP status.
    func connect(_ request: TransportRequest) async throws(TransportFailure) -> any ClientSocket
}

/// A WebSocket that is open. Calls may come from any task; ``receive()`` is called by one at a time.
public protocol ClientSocket: Sendable {
    /// Returns the next message, or the end. After the end it returns the end again.
    ///
    /// - Throws: a failure of the kind ``TransportFailure/Kind/cancelled`` if the task is cancelled.
    func receive() async throws(TransportFailure) -> SocketEvent

    /// Sends a text message. Does nothing if the socket has ended, which ``receive()`` reports.
    func send(_ text: String) async

    /// Sends a ping and waits for its pong. Returns when the socket ends, too.
    func ping() async

    /// Closes the socket, without waiting for the server.
    func close(code: Int) async
}

/// A message of a socket, or its end.
public enum SocketEvent: Hashable, Sendable {
    /// A text message, as UTF-8.
    case text([UInt8])
    /// The end, with the code and reason of the server's Close frame; 1006 if there was none.
    case closed(code: Int, reason: String)
}

/// A request of a client.
public struct TransportRequest: Hashable, Sendable {
    /// The method; `GET` for a WebSocket.
    public var method: String
    /// The server.
    public var server: ServerAddress
    /// The path and query, percent-encoded, without the path of the server's URL.
    public var target: String
    /// The header fields, by name.
    public var fields: [String: String]
    /// The content; empty for none.
    public var body: [UInt8]
    /// The subprotocols that a WebSocket offers.
    public var subprotocols: [String]
    /// Maximum time until the answer is complete, or the socket is open.
    public var timeout: Duration
}

/// The answer to a request.
public struct TransportResponse: Hashable, Sendable {
    /// The status.
    public var status: Int
    /// The seconds in `Retry-After`, if it has a number.
    public var retryAfter: Double?
    /// The content.
    public var body: [UInt8]

    /// Creates an answer.
    public init(status: Int, retryAfter: Double? = nil, body: [UInt8]) {
        self.status = status
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// The reason why a request has no answer, or a socket did not open.
public struct TransportFailure: Error, Hashable, Sendable {
    /// The kind of failure.
    public enum Kind: Hashable, Sendable {
        /// There is no connection, or it ended.
        case unreachable
        /// The request's timeout has passed.
        case timedOut
        /// The task was cancelled.
        case cancelled
        /// The answer breaks the protocol or exceeds a bound.
        case invalidAnswer
    }

    /// The kind of failure.
    public var kind: Kind
    /// The reason as a sentence.
    public var detail: String
    /// The answer that refused a WebSocket.
    public var response: TransportResponse?

    /// Creates a failure.
    public init(_ kind: Kind, _ detail: String, response: TransportResponse? = nil) {
        self.kind = kind
        self.detail = detail
        self.response = response
    }
}

/// The address of a server, from its URL.
public struct ServerAddress: Hashable, Sendable {
    /// True for `https`.
    public let isSecure: Bool
    /// The host's name, or an address; an IPv6 address has no brackets.
    public let host: String
    /// The port.
    public let port: Int
    /// The path of the server's URL, which precedes the path of every request. It is empty, or begins with a slash and
    /// does not end with one.
    public let path: String

    /// Reads a URL with the scheme `http` or `https`.
    ///
    /// - Throws: ``BackscrollClientError/invalidServer`` for any other URL, and for one with a user, query or fragment.
    public init(_ url: URL) throws(BackscrollClientError) {
        let scheme = url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https", let host = url.host(percentEncoded: false), !host.isEmpty,
            url.user == nil, url.query == nil, url.fragment == nil
        else {
            throw BackscrollClientError(
                code: BackscrollClientError.invalidServer,
                message: "The server must be a URL such as https://chat.example.com, without user, query or fragment.")
        }
        isSecure = scheme == "https"
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = url.port ?? (isSecure ? 443 : 80)
        var path = url.path(percentEncoded: true)
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path
    }

    /// The value of `Host`: the host, with the port unless it is the scheme's default.
    public var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? host : "\(host):\(port)"
    }

    /// Returns the URL of a target, with the scheme `http` or `https`; for a socket `ws` or `wss`.
    public func url(_ target: String, isSocket: Bool = false) -> String {
        "\(isSocket ? "ws" : "http")\(isSecure ? "s" : "")://\(authority)\(path)\(target)"
    }
}

extension Duration {
    /// The time in seconds.
    var inSeconds: Double { self / .seconds(1) }
}

/// Returns `text` as a part of a path or a value of a query: all but unreserved characters are escaped (RFC 3986).
func percentEncoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF")
    var result = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            result.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
    }
    return result
}

/// Returns the target of a request: a path, and a query of the parameters that have a value.
func target(_ path: String, _ parameters: KeyValuePairs<String, String?>) -> String {
    let query = parameters.compactMap { name, value in value.map { "\(name)=\(percentEncoded($0))" } }
    return query.isEmpty ? path : "\(path)?\(query.joined(separator: "&"))"
}
