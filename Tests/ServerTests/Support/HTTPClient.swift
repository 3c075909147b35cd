import HTTP
import HTTPTypes
import TestSupport

/// A client with one connection. Sends requests, or any bytes, and parses answers as strictly as our own codec.
final class HTTPClient {
    /// The connection underneath.
    let socket: TestClient
    private var parser: ResponseParser

    /// Connects.
    ///
    /// - Parameters:
    ///   - tls: The versions of TLS to offer; `nil` for plain TCP.
    ///   - receiveBuffer: The kernel's receive buffer in bytes; `nil` for the default.
    init(port: Int, tls: TLSOptions? = nil, receiveBuffer: Int32? = nil) throws {
        socket = try TestClient(port: port, tls: tls, receiveBuffer: receiveBuffer)
        var limits = HTTPLimits()
        // The size of a page of the largest messages.
        limits.bodyBytes = 16 << 20
        parser = ResponseParser(limits: limits)
    }

    // MARK: Requests

    /// Sends any bytes.
    func write(_ bytes: [UInt8]) throws {
        try socket.send(bytes)
    }

    /// Sends any text.
    func write(_ text: String) throws {
        try socket.send(text)
    }

    /// Sends a request and reads its answer.
    func request(
        _ method: HTTPRequest.Method, _ target: String, fields: [HTTPField] = [], body: [UInt8] = []
    ) throws -> Response {
        try socket.send(Self.bytes(method, target, fields: fields, body: body))
        return try response(isHead: method == .head)
    }

    /// Gets a resource.
    func get(_ target: String, fields: [HTTPField] = []) throws -> Response {
        try request(.get, target, fields: fields)
    }

    /// Posts a body to a room's messages.
    func post(_ body: String, to room: String = "lobby", as user: String? = "alice") throws -> Response {
        try request(.post, Self.messages(of: room, as: user), body: Array(body.utf8))
    }

    /// Sends a message, which the server must store.
    ///
    /// - Returns: The stored message.
    @discardableResult
    func send(
        _ text: String, id: String? = nil, to room: String = "lobby", as user: String = "alice"
    ) throws -> ReceivedMessage {
        let response = try post(Self.draft(text, id: id), to: room, as: user)
        guard response.status == .created else { throw Unexpected(response) }
        return try decode(response.body)
    }

    /// Changes a message or a reaction as `user`.
    ///
    /// - Parameter path: The path after the room's messages, without a query.
    func change(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", in room: String = "lobby",
        as user: String? = "alice", ifMatch tags: String? = nil
    ) throws -> Response {
        try request(
            method, "/v1/rooms/\(room)/messages/\(path)" + (user.map { "?user=\($0)" } ?? ""),
            fields: tags.map { [HTTPField("If-Match", $0)] } ?? [], body: Array(body.utf8))
    }

    /// Gets a resource and decodes it.
    func read<T: Decodable>(_ target: String, as type: T.Type = T.self) throws -> T {
        let response = try get(target)
        guard response.status == .ok else { throw Unexpected(response) }
        return try decode(response.body)
    }

    /// Moves a user's read mark.
    ///
    /// - Returns: The room as the user sees it.
    func read(to seq: Int64, in room: String = "lobby", as user: String) throws -> ReceivedRoom {
        let response = try request(.put, "/v1/rooms/\(room)/read?user=\(user)", body: Array(#"{"seq":\#(seq)}"#.utf8))
        guard response.status == .ok else { throw Unexpected(response) }
        return try decode(response.body)
    }

    // MARK: Answers

    /// The next answer.
    func response(isHead: Bool = false) throws -> Response {
        while true {
            if case .response(let response) = try parser.next(isHead: isHead) { return response }
            let bytes = try socket.receiveSome()
            if bytes.isEmpty {
                guard let last = try parser.finish() else { throw TestClientError.ended(after: "") }
                return last
            }
            parser.append(bytes.span)
        }
    }

    /// Reads answers to the end of the connection.
    func responsesToEnd() throws -> [Response] {
        var responses: [Response] = []
        while true {
            do {
                responses.append(try response())
            } catch TestClientError.ended {
                return responses
            }
        }
    }

    /// Waits for the end of the connection.
    ///
    /// - Returns: True if nothing arrived before it.
    func endsSilently() throws -> Bool {
        try parser.buffered == 0 && socket.receiveToEnd().isEmpty
    }

    /// Ends the connection.
    func close() {
        socket.close()
    }

    /// Cuts the connection with a reset.
    func reset() {
        socket.reset()
    }

    /// Returns the bytes after the answer that switched protocols.
    func takeRemainder() -> [UInt8] {
        parser.takeRemainder()
    }

    // MARK: What is sent

    /// Returns the bytes of a request.
    static func bytes(
        _ method: HTTPRequest.Method, _ target: String, fields: [HTTPField] = [], body: [UInt8] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        RequestWriter.write(method, target, host: "test.example", fields: fields, body: body.span, into: &bytes)
        return bytes
    }

    /// Returns the bytes of a send.
    static func bytes(sending draft: String, to room: String = "lobby", as user: String = "alice") -> [UInt8] {
        bytes(.post, messages(of: room, as: user), body: Array(draft.utf8))
    }

    /// Returns the body of a send. The text must not need escapes.
    static func draft(_ text: String, id: String? = nil) -> String {
        let name = id.map { #""client_message_id":"\#($0)","# } ?? ""
        return #"{\#(name)"text":"\#(text)"}"#
    }

    private static func messages(of room: String, as user: String?) -> String {
        "/v1/rooms/\(room)/messages" + (user.map { "?user=\($0)" } ?? "")
    }
}

/// An unexpected answer.
struct Unexpected: Error, CustomStringConvertible {
    /// Its status.
    let status: Int
    /// The answer's text.
    let description: String

    init(_ response: Response) {
        status = response.status.code
        description = "\(response.status.code): \(String(decoding: response.body.prefix(1000), as: UTF8.self))"
    }

    init(_ description: String) {
        status = 0
        self.description = description
    }
}

extension Response {
    /// The content as text, without the line feed after JSON.
    var text: String {
        let isLine = self["Content-Type"]?.contains("json") == true && body.last == UInt8(ascii: "\n")
        return String(decoding: isLine ? body.dropLast() : body[...], as: UTF8.self)
    }

    /// The content as a problem.
    var problem: ReceivedProblem {
        get throws { try decode(body) }
    }

    /// The value of a header field.
    subscript(_ name: String) -> String? {
        HTTPField.Name(name).flatMap { fields[$0] }
    }
}

extension HTTPField {
    /// Creates a field from its text.
    init(_ name: String, _ value: String) {
        self.init(name: HTTPField.Name(name)!, value: value)
    }
}
