import Transport

/// A broker with a line protocol like that of NATS: first `CONNECT`, then `SUB ROOM`, `PUB ROOM LENGTH` followed by a
/// body, and `PING`, whose answer confirms the earlier commands. Serves plain connections and WebSockets, whose
/// messages are pieces of its stream.
final class TinyBroker: Sendable {
    /// The port on 127.0.0.1.
    let port: Int
    private let group: LoopGroup

    /// Starts a broker on a free port.
    ///
    /// - Parameters:
    ///   - pieceBytes: Maximum number of bytes in one WebSocket message.
    ///   - hangsUpAt: The number of the `PUB`, from 1, at which it closes the publisher's connection after an error.
    init(pieceBytes: Int, hangsUpAt: Int? = nil) throws {
        group = try LoopGroup(count: 1)
        let loop = group.loops[0]
        let rooms = LoopBound(TinyRooms(pieceBytes: pieceBytes, hangsUpAt: hangsUpAt), to: loop)
        loop.post { loop.atEndOfTurn { rooms.value.flush() } }
        port = try group.listen(host: "127.0.0.1", port: 0) { _ in TinyTalk(rooms.value) }
    }

    /// The options that make the tool use this protocol.
    var options: [String] {
        [
            "--ws=ws://127.0.0.1:\(port)/", "--hello=CONNECT\r\nSUB {run}-{room}\r\nPING\r\n", "--ready=PONG\r\n",
            "--ws-stream", "--url=tcp://127.0.0.1:\(port)", "--tcp-hello=CONNECT\r\n",
            "--tcp-frame=PUB {run}-{room} {length}\r\n{body}\r\nPING\r\n", "--tcp-answer=PONG\r\n",
        ]
    }

    /// Stops the broker.
    func stop() {
        group.stop()
    }
}

/// The rooms of a ``TinyBroker``. Confined to its loop.
final class TinyRooms {
    let pieceBytes: Int
    private let hangsUpAt: Int?
    private var rooms: [String: [TinyTalk]] = [:]
    private var dirty: [TinyTalk] = []
    private var published = 0

    init(pieceBytes: Int, hangsUpAt: Int?) {
        self.pieceBytes = pieceBytes
        self.hangsUpAt = hangsUpAt
    }

    func join(_ talk: TinyTalk, room: String) {
        rooms[room, default: []].append(talk)
    }

    func leave(_ talk: TinyTalk) {
        rooms = rooms.mapValues { talks in talks.filter { $0 !== talk } }
    }

    /// Delivers a message.
    ///
    /// - Returns: False if the publisher is to be disconnected.
    func publish(_ body: ArraySlice<UInt8>, to room: String) -> Bool {
        published += 1
        guard published != hangsUpAt else { return false }
        for talk in rooms[room] ?? [] { talk.say("MSG \(room) \(body.count)\r\n", body) }
        return true
    }

    /// Writes a connection's output at the end of this turn.
    func note(_ talk: TinyTalk) {
        dirty.append(talk)
    }

    func flush() {
        let talks = dirty
        dirty = []
        for talk in talks { talk.flush() }
    }
}
