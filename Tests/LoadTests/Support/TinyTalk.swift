import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// A connection of a ``TinyBroker``.
final class TinyTalk: ConnectionHandler {
    private enum Carrier {
        /// Nothing has been received yet.
        case none
        case plain
        case webSocket(MessageReader)
    }

    private let rooms: TinyRooms
    private var carrier = Carrier.none
    private var hasConnected = false
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var connection: Connection?

    init(_ rooms: TinyRooms) {
        self.rooms = rooms
    }

    /// Writes a line, and a body with its own line end if there is one.
    func say(_ line: String, _ body: ArraySlice<UInt8> = []) {
        if output.isEmpty { rooms.note(self) }
        output.append(utf8: line)
        output += body
        if !body.isEmpty { output.append(utf8: "\r\n") }
    }

    func flush() {
        guard let connection, connection.isOpen else { return }
        guard case .webSocket = carrier else {
            connection.write(output)
            return output.removeAll()
        }
        var frames: [UInt8] = []
        for start in stride(from: 0, to: output.count, by: rooms.pieceBytes) {
            let piece = output.span.extracting(start..<min(start + rooms.pieceBytes, output.count))
            Frame.append(.binary, payload: piece, into: &frames)
        }
        connection.write(frames)
        output.removeAll()
    }

    // MARK: ConnectionHandler

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        self.connection = connection
        switch carrier {
        case .none where bytes[0] == UInt8(ascii: "G"): upgrade(bytes, connection)
        case .none:
            carrier = .plain
            say("HELLO\r\n")
            input.append(copying: bytes)
        case .plain: input.append(copying: bytes)
        case .webSocket(var reader):
            reader.append(bytes)
            while let event = try? reader.next(), event != .needMoreBytes {
                if case .text(let text) = event { input += text }
            }
            carrier = .webSocket(reader)
        }
        while obey(connection) {}
    }

    func drained(_ connection: Connection) {}

    func deadlineReached(_ connection: Connection) {}

    func shuttingDown(_ connection: Connection) {}

    func closed(_ connection: Connection) {
        rooms.leave(self)
        self.connection = nil
    }

    /// Carries out the next command.
    ///
    /// - Returns: False if it has not arrived completely.
    private func obey(_ connection: Connection) -> Bool {
        guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else { return false }
        let words = String(decoding: input[..<end], as: UTF8.self).split(whereSeparator: \.isWhitespace).map(
            String.init)
        var used = end + 1
        switch words.first {
        case "CONNECT": hasConnected = true
        case "SUB" where hasConnected: rooms.join(self, room: words[1])
        case "PING" where hasConnected: say("PONG\r\n")
        case "PUB" where hasConnected:
            let length = Int(words[2]) ?? 0
            guard input.count >= used + length + 2 else { return false }
            guard rooms.publish(input[used..<used + length], to: words[1]) else {
                return hangUp("ERROR too much", connection)
            }
            used += length + 2
        default: return hangUp("ERROR what?", connection)
        }
        input.removeFirst(used)
        return true
    }

    private func hangUp(_ reason: String, _ connection: Connection) -> Bool {
        say(reason + "\r\n")
        flush()
        connection.finish()
        return false
    }

    private func upgrade(_ bytes: Span<UInt8>, _ connection: Connection) {
        var parser = RequestParser()
        parser.append(bytes)
        guard case .request(let request)? = try? parser.next() else { return connection.abort() }
        let fields = request.head.headerFields
        let asked = ServerHandshake.Request(
            method: "GET", httpMinorVersion: 1, host: ["tiny"], upgrade: fields[values: .upgrade],
            connection: fields[values: .connection], version: fields[values: .secWebSocketVersion],
            key: fields[values: .secWebSocketKey])
        guard let handshake = try? ServerHandshake(asked, supporting: []) else { return connection.abort() }
        var head = "HTTP/1.1 101 Switching Protocols\r\n"
        for field in handshake.fields { head += "\(field.name): \(field.value)\r\n" }
        connection.write(Array((head + "\r\n").utf8))
        carrier = .webSocket(MessageReader(role: .server, maxMessageBytes: 4096))
        say("HELLO\r\n")
    }
}
