import Transport

/// A broker that speaks in lines, as NATS does: `CONNECT` comes first, then `SUB ROOM`, `PUB ROOM LENGTH` with a body
/// behind it, and `PING`, whose answer says that what came before it is done. It does so on plain connections and in
/// WebSockets, whose messages are pieces of its stream.
final class TinyBroker: Sendable {
    /// Where it listens, on 127.0.0.1.
    let port: Int
    private let group: LoopGroup

    /// A broker on a port of its own.
    ///
    /// - Parameters:
    ///   - pieceBytes: the most bytes of its stream in one message of a WebSocket.
    ///   - hangsUpAt: at which `PUB`, from 1, it ends the publisher's connection, after saying so.
    init(pieceBytes: Int, hangsUpAt: Int? = nil) throws {
        group = try LoopGroup(count: 1)
        let loop = group.loops[0]
        let rooms = LoopBound(TinyRooms(pieceBytes: pieceBytes, hangsUpAt: hangsUpAt), to: loop)
        loop.post { loop.atEndOfTurn { rooms.value.flush() } }
        port = try group.listen(host: "127.0.0.1", port: 0) { _ in TinyTalk(rooms.value) }
    }

    /// What makes the tool speak so.
    var options: [String] {
        [
            "--ws=ws://127.0.0.1:\(port)/", "--hello=CONNECT\r\nSUB {run}-{room}\r\nPING\r\n", "--ready=PONG\r\n",
            "--ws-stream", "--url=tcp://127.0.0.1:\(port)", "--tcp-hello=CONNECT\r\n",
            "--tcp-frame=PUB {run}-{room} {length}\r\n{body}\r\nPING\r\n", "--tcp-answer=PONG\r\n",
        ]
    }

    /// Ends it.
    func stop() {
        group.stop()
    }
}

/// The rooms of a ``TinyBroker``, on its loop.
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
    /// - Returns: false if its publisher is to go.
    func publish(_ body: ArraySlice<UInt8>, to room: String) -> Bool {
        published += 1
        guard published != hangsUpAt else { return false }
        for talk in rooms[room] ?? [] { talk.say("MSG \(room) \(body.count)\r\n", body) }
        return true
    }

    /// Has what is said written at the end of this turn.
    func note(_ talk: TinyTalk) {
        dirty.append(talk)
    }

    func flush() {
        let talks = dirty
        dirty = []
        for talk in talks { talk.flush() }
    }
}
