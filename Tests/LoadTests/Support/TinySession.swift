import HTTP
import HTTPTypes
import Transport
import WebSocket
import Wire

/// A connection of a ``TinyServer``: HTTP, and a WebSocket after an upgrade.
final class TinySession: ConnectionHandler {
    var room: String?
    /// The subscriber's number in its room.
    var turn = 0

    private let hub: TinyHub
    private var parser = RequestParser()
    private var isUpgraded = false
    private var output: [UInt8] = []
    private var postponed: [UInt8]?
    private var connection: Connection?

    init(_ hub: TinyHub) {
        self.hub = hub
        hub.add(self)
    }

    // MARK: The subscriber's side

    func queue(_ text: String) {
        queue(frame: Array(text.utf8))
    }

    func queue(frame: [UInt8]) {
        Frame.append(.text, payload: frame.span, into: &output)
    }

    func deliver(_ frame: [UInt8], _ fault: TinyServer.Faults.Delivery) {
        switch fault {
        case .dropped: return
        case .postponed:
            postponed = frame
            return
        case .doubled: queue(frame: frame)
        case .proper: break
        }
        queue(frame: frame)
        if let late = postponed {
            postponed = nil
            queue(frame: late)
        }
    }

    func flush() {
        guard let connection, !connection.isCongested, !output.isEmpty else { return }
        connection.write(output)
        output.removeAll(keepingCapacity: true)
    }

    func cut() {
        connection?.abort()
    }

    // MARK: ConnectionHandler

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        self.connection = connection
        guard !isUpgraded else { return }
        guard !hub.isAway else { return connection.abort() }
        parser.append(bytes)
        while !isUpgraded, case .request(let request)? = try? parser.next() { serve(request, connection) }
        flush()
    }

    func drained(_ connection: Connection) {
        flush()
    }

    func deadlineReached(_ connection: Connection) {}

    func shuttingDown(_ connection: Connection) {}

    func closed(_ connection: Connection) {
        hub.remove(self)
        self.connection = nil
    }

    // MARK: Requests

    private func serve(_ request: Request, _ connection: Connection) {
        let path = request.head.path ?? "/"
        let parts = path.prefix { $0 != "?" }.split(separator: "/")
        guard parts.count == 4, parts[1] == "rooms" else { return answer(404, connection) }
        let room = String(parts[2])
        switch (request.head.method, parts[3]) {
        case (.post, "messages"):
            guard let status = hub.send(request.body, to: room) else { return }
            answer(status, connection)
        case (.get, "messages"): if hub.isToAnswerPage() { answer(200, connection) }
        case (.get, "live"): upgrade(request, room: room, since: path.firstSince, connection)
        default: answer(405, connection)
        }
    }

    private func answer(_ status: Int, _ connection: Connection) {
        let body = status < 300 ? #"{"seq":1}"# : #"{"status":\#(status),"code":"tiny","detail":"As it was asked to."}"#
        let end = hub.faults.closesAfterAnswers ? "Connection: close\r\n" : ""
        output.append(utf8: "HTTP/1.1 \(status) -\r\nContent-Length: \(body.utf8.count)\r\n\(end)\r\n\(body)")
        guard hub.faults.closesAfterAnswers else { return }
        flush()
        connection.finish()
    }

    private func upgrade(_ request: Request, room: String, since: String?, _ connection: Connection) {
        let fields = request.head.headerFields
        let asked = ServerHandshake.Request(
            method: "GET", httpMinorVersion: 1, host: ["tiny"], upgrade: fields[values: .upgrade],
            connection: fields[values: .connection], version: fields[values: .secWebSocketVersion],
            key: fields[values: .secWebSocketKey])
        guard !hub.faults.refusesUpgrades else { return answer(403, connection) }
        guard let handshake = try? ServerHandshake(asked, supporting: []) else { return answer(400, connection) }
        var head = "HTTP/1.1 101 Switching Protocols\r\n"
        for field in handshake.fields { head += "\(field.name): \(field.value)\r\n" }
        let start = output.count
        output.append(utf8: head + "\r\n")
        isUpgraded = true
        guard hub.join(self, room: room, since: since) else {
            isUpgraded = false
            output.removeSubrange(start...)
            return answer(410, connection)
        }
    }
}

extension String {
    /// The value of `since=`.
    fileprivate var firstSince: String? {
        split(whereSeparator: { $0 == "?" || $0 == "&" }).first { $0.hasPrefix("since=") }
            .map { String($0.dropFirst("since=".count)) }
    }
}
