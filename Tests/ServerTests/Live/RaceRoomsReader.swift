import TestSupport

/// A reader of a ``Race`` that follows all of its rooms on one socket.
struct RaceRoomsReader {
    private let race: Race
    private let offersDeflate: Bool
    private var generator: SeededGenerator
    /// The position of the client in each room.
    private var revs: [String: Int64]
    /// The number of missing messages.
    private var missing: Int

    init(_ race: Race, offersDeflate: Bool, seed: UInt64) {
        self.race = race
        self.offersDeflate = offersDeflate
        generator = SeededGenerator(seed: seed)
        revs = Dictionary(uniqueKeysWithValues: race.rooms.map { ($0, 0) })
        missing = race.total
    }

    /// Reads until it has the last message of every room. Stalls, leaves and rejoins rooms, or reconnects, at random
    /// moments.
    ///
    /// - Throws: When a message is missing, repeated or out of order.
    mutating func run() throws {
        while missing > 0 {
            let socket = try WebSocketClient.forRooms(
                port: race.port, offersDeflate: offersDeflate, receiveBuffer: 16 * 1024)
            for room in race.rooms { try socket.ask(for: room, since: "\(revs[room]!)") }
            for _ in 1...4 {
                try read(.random(in: 1...120, using: &generator), from: socket)
                let sent = race.acknowledged.events.count
                try race.acknowledged.wait(for: min(sent + .random(in: 0...200, using: &generator), race.total))
                try comeBack(to: race.rooms.randomElement(using: &generator)!, on: socket)
            }
        }
    }

    private mutating func read(_ count: Int, from socket: WebSocketClient) throws {
        for _ in 0..<min(count, missing) {
            while try !take(socket.frame()) {}
        }
    }

    private mutating func comeBack(to room: String, on socket: WebSocketClient) throws {
        try socket.send(#"{"type":"unsubscribe","room":"\#(room)"}"#)
        // The answer to an invalid request marks the end of the earlier frames.
        try socket.send(#"{"type":"unsubscribe","room":"\#(room)"}"#)
        while true {
            let frame = try socket.frame()
            if frame.errorCode == "not_subscribed" { break }
            _ = try take(frame)
        }
        try socket.ask(for: room, since: "\(revs[room]!)")
        while true {
            let frame = try socket.frame()
            if let state = frame.room, state.room == room { return }
            guard frame.message?.room != room else { throw Unexpected("a message of a room that was left") }
            _ = try take(frame)
        }
    }

    /// - Returns: True if the frame is a message.
    private mutating func take(_ frame: ReceivedFrame) throws -> Bool {
        switch frame.content {
        case .message(let message):
            guard message.rev == revs[message.room]! + 1, message.seq == message.rev else {
                throw Unexpected("message \(message.seq) of \(message.room) after \(revs[message.room]!)")
            }
            revs[message.room] = message.rev
            missing -= 1
            return true
        case .live(let room, let rev):
            guard revs[room] == rev else { throw Unexpected("live at \(rev) of \(room) after \(revs[room]!)") }
        case .subscribed(let state):
            guard state.rev >= revs[state.room]! else { throw Unexpected("an older room") }
        default:
            throw Unexpected("a frame of type \(frame.type)")
        }
        return false
    }
}
