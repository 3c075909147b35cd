import HTTP
import HTTPTypes
import TestSupport

/// A client on one connection: sends requests, or any bytes, and reads answers as strictly as our own codec does.
final class HTTPClient {
    /// The connection underneath.
    let socket: TestClient
    private var parser: ResponseParser

    /// Connects.
    ///
    /// - Parameters:
    ///   - tls: the versions of TLS to speak; plain if there are none.
    ///   - receiveBuffer: what the kernel takes before the client reads, in bytes; the system's default if nil.
    init(port: Int, tls: TLSOptions? = nil, receiveBuffer: Int32? = nil) throws {
        socket = try TestClient(port: port, tls: tls, receiveBuffer: receiveBuffer)
        var limits = HTTPLimits()
        // A page of the largest messages.
        limits.bodyBytes = 16 << 20
        parser = ResponseParser(limits: limits)
    }

    // MARK: Requests

    /// Sends bytes, whatever they are.
    func write(_ bytes: [UInt8]) throws {
        try socket.send(bytes)
    }

    /// Sends text, whatever it is.
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
    /// - Returns: the stored message.
    @discardableResult
    func send(
        _ text: String, id: String? = nil, to room: String = "lobby", as user: String = "alice"
    ) throws -> ReceivedMessage {
        let response = try post(Self.draft(text, id: id), to: room, as: user)
        guard response.status == .created else { throw Unexpected(response) }
        return try decode(response.body)
    }

    /// Changes a message, or a reaction to it, as `user`.
    ///
    /// - Parameter path: what follows the room's messages, without a query.
    func change(
        _ method: HTTPRequest.Method, _ path: String, _ body: String = "", in room: String = "lobby",
        as user: String? = "alice", ifMatch tags: String? = nil
    ) throws -> Response {
        try request(
            method, "/v1/rooms/\(room)/messages/\(path)" + (user.map { "?user=\($0)" } ?? ""),
            fields: tags.map { [HTTPField("If-Match", $0)] } ?? [], body: Array(body.utf8))
    }

    /// Gets what is there and can be decoded.
    func read<T: Decodable>(_ target: String, as type: T.Type = T.self) throws -> T {
        let response = try get(target)
        guard response.status == .ok else { throw Unexpected(response) }
        return try decode(response.body)
    }

    /// Moves a user's read mark.
    ///
    /// - Returns: the room as the user sees it.
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
    /// - Returns: whether nothing came before it.
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

    /// The bytes that came after the answer that changed the protocol.
    func takeRemainder() -> [UInt8] {
        parser.takeRemainder()
    }

    // MARK: What is sent

    /// The bytes of a request.
    static func bytes(
        _ method: HTTPRequest.Method, _ target: String, fields: [HTTPField] = [], body: [UInt8] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        RequestWriter.write(method, target, host: "test.example", fields: fields, body: body.span, into: &bytes)
        return bytes
    }

    /// The bytes of a send.
    static func bytes(sending draft: String, to room: String = "lobby", as user: String = "alice") -> [UInt8] {
        bytes(.post, messages(of: room, as: user), body: Array(draft.utf8))
    }

    /// The body of a send; the text must have nothing to escape.
    static func draft(_ text: String, id: String? = nil) -> String {
        let name = id.map { #""client_message_id":"\#($0)","# } ?? ""
        return #"{\#(name)"text":"\#(text)"}"#
    }

    private static func messages(of room: String, as user: String?) -> String {
        "/v1/rooms/\(room)/messages" + (user.map { "?user=\($0)" } ?? "")
    }
}

/// An answer that the test has no use for.
struct Unexpected: Error, CustomStringConvertible {
    /// Its status.
    let status: Int
    /// What it was.
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
    /// The content as text.
    var text: String { String(decoding: body, as: UTF8.self) }

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
    /// A field as it stands in a request.
    init(_ name: String, _ value: String) {
        self.init(name: HTTPField.Name(name)!, value: value)
    }
}
