import TestSupport

/// A client that reads Server-Sent Events (WHATWG HTML, section 9.2).
final class EventStreamClient: LiveClient {
    /// One event of the stream.
    struct Event: Equatable {
        var type = "message"
        var id: String?
        var retry: Int?
        var data = ""
    }

    /// The lines of the answer's head, without line ends.
    let head: [String]
    private let socket: TestClient
    private var buffer: [UInt8] = []

    /// Opens a stream.
    ///
    /// - Parameters:
    ///   - lines: Further lines of the request's head.
    ///   - minorVersion: The n of the request's HTTP/1.n.
    /// - Throws: ``Unexpected`` if the server refuses.
    init(
        port: Int, _ target: String = "/v1/rooms/lobby/live", lines: [String] = [], minorVersion: Int = 1,
        tls: TLSOptions? = nil, receiveBuffer: Int32? = nil
    ) throws {
        socket = try TestClient(port: port, tls: tls, receiveBuffer: receiveBuffer)
        let lines = ["GET \(target) HTTP/1.\(minorVersion)", "Host: test.example", "Accept: text/event-stream"] + lines
        try socket.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        let end = Array("\r\n\r\n".utf8)
        buffer = try socket.receive { $0.firstRange(of: end) != nil }
        let cut = buffer.firstRange(of: end)!
        head = String(decoding: buffer[..<cut.lowerBound], as: UTF8.self).split(separator: "\r\n").map(String.init)
        buffer.removeSubrange(..<cut.upperBound)
        guard head[0].hasPrefix("HTTP/1.1 200 ") else {
            throw Unexpected(head.joined(separator: "\n") + String(decoding: buffer, as: UTF8.self))
        }
    }

    /// Stops responding without closing, like a machine without a network.
    func fallSilent() throws {
        try socket.fallSilent()
    }

    /// Ends the connection.
    func close() {
        socket.close()
    }

    /// Returns the next block of lines, up to an empty one; `nil` at the end of the stream.
    func block() throws -> [String]? {
        let end = Array("\n\n".utf8)
        while true {
            if let cut = buffer.firstRange(of: end) {
                defer { buffer.removeSubrange(..<cut.upperBound) }
                return String(decoding: buffer[..<cut.lowerBound], as: UTF8.self).split(separator: "\n").map(
                    String.init)
            }
            let bytes = try socket.receiveSome()
            if bytes.isEmpty { return nil }
            buffer += bytes
        }
    }

    /// Returns the next event, skipping comments.
    func event() throws -> Event {
        while let lines = try block() {
            var event = Event()
            for line in lines where !line.hasPrefix(":") {
                let parts = line.split(separator: ": ", maxSplits: 1)
                guard parts.count == 2 else { throw Unexpected("the line \(line)") }
                switch parts[0] {
                case "event": event.type = String(parts[1])
                case "id": event.id = String(parts[1])
                case "retry": event.retry = Int(parts[1])
                case "data": event.data += parts[1]
                default: throw Unexpected("the line \(line)")
                }
            }
            if !event.data.isEmpty { return event }
        }
        throw TestClientError.ended(after: "")
    }

    func next() throws -> [UInt8] {
        Array(try event().data.utf8)
    }
}
