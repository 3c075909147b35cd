import Wire

/// The rooms of a ``TinyServer``. Confined to its loop.
final class TinyHub {
    struct Room {
        /// The frames of the messages. Each one's place, from 1, is its seq and rev.
        var frames: [[UInt8]] = []
        var ids: Set<String> = []
        var listeners: [TinySession] = []
        var joined = 0
    }

    let faults: TinyServer.Faults
    private var rooms: [String: Room] = [:]
    private var sessions: [ObjectIdentifier: TinySession] = [:]
    private var dirty: [TinySession] = []
    private var sends = 0
    private var stored = 0
    private var pages = 0
    private var hasCut = false
    /// True if it no longer serves anybody.
    var isAway: Bool { hasCut && faults.staysAway }

    init(_ faults: TinyServer.Faults) {
        self.faults = faults
    }

    func add(_ session: TinySession) {
        sessions[ObjectIdentifier(session)] = session
    }

    func remove(_ session: TinySession) {
        sessions[ObjectIdentifier(session)] = nil
        if let room = session.room { rooms[room]?.listeners.removeAll { $0 === session } }
    }

    /// Subscribes a session to a room. `since` is the request's value of `since=`.
    func join(_ session: TinySession, room name: String, since: String?) -> Bool {
        var room = rooms[name] ?? Room()
        guard room.joined < faults.refusesUpgradesFrom else { return false }
        let head = room.frames.count
        let rev = since.map { Int($0.split(separator: ":").last ?? "") ?? 0 } ?? head
        guard rev <= head else { return false }
        session.room = name
        session.turn = room.joined
        room.joined += 1
        room.listeners.append(session)
        rooms[name] = room
        session.queue(#"{"type":"subscribed","room":"\#(name)","head":\#(head),"rev":\#(head),"epoch":"tiny"}"#)
        for seq in rev..<head { session.queue(frame: room.frames[seq]) }
        session.queue(#"{"type":"live","room":"\#(name)","rev":\#(head)}"#)
        dirty.append(session)
        return true
    }

    /// Stores a message and delivers it.
    ///
    /// - Returns: The status of the answer; `nil` if all connections were cut.
    func send(_ body: [UInt8], to name: String) -> Int? {
        sends += 1
        faults.hears(body)
        if faults.refuses(sends - 1) { return 503 }
        let text = String(decoding: body, as: UTF8.self)
        let id = String(text.drop { $0 != ":" }.dropFirst(2).prefix { $0 != "\"" })
        guard rooms[name, default: Room()].ids.insert(id).inserted else { return 200 }
        let seq = (rooms[name]?.frames.count ?? 0) + 1
        var frame = Array(
            #"{"type":"message","message":{"room":"\#(name)","seq":\#(seq),"rev":\#(seq),"content":"#.utf8)
        frame += body
        frame.append(literal: "}}")
        rooms[name]?.frames.append(frame)
        stored += 1
        if let limit = faults.cutsEveryoneAt, stored == limit, !hasCut {
            cutEveryone()
            return nil
        }
        for listener in rooms[name]?.listeners ?? [] {
            listener.deliver(frame, faults.delivery(listener.turn, seq))
            dirty.append(listener)
        }
        return 201
    }

    /// Returns true if a page is to be answered.
    func isToAnswerPage() -> Bool {
        pages += 1
        guard pages > faults.answersPages else { return true }
        if faults.staysAway, !hasCut { cutEveryone() }
        return false
    }

    private func cutEveryone() {
        hasCut = true
        rooms = rooms.mapValues { room in
            var room = room
            room.frames.removeLast(min(faults.forgets, room.frames.count))
            return room
        }
        for session in sessions.values { session.cut() }
    }

    /// Writes the output queued in this turn.
    func flush() {
        guard !dirty.isEmpty else { return }
        for session in dirty { session.flush() }
        dirty.removeAll(keepingCapacity: true)
    }
}
