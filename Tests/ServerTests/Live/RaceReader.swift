import TestSupport

/// A reader of a ``Race``: opens the newest page, subscribes from it, and keeps track of its messages.
struct RaceReader {
    /// The behavior of the reader.
    enum Behavior: CaseIterable, Sendable {
        /// Reads everything as it arrives.
        case steady
        /// Stops from time to time, so that it falls behind the feed.
        case stalling
        /// Disconnects and resumes from its position, at random moments.
        case resuming
        /// Disconnects and loads a new page, at random moments.
        case reloading
    }

    private let race: Race
    private let room: String
    private let behavior: Behavior
    private let format: LiveFormat
    private var generator: SeededGenerator
    /// The position of the client: the revision up to which it has every change.
    private var rev: Int64 = 0
    private var epoch = ""

    init(_ race: Race, room: String, behavior: Behavior, format: LiveFormat, seed: UInt64) {
        self.race = race
        self.room = room
        self.behavior = behavior
        self.format = format
        generator = SeededGenerator(seed: seed)
    }

    /// Reads until it has the room's last message.
    ///
    /// - Throws: When a message is missing, repeated or out of order.
    mutating func run() throws {
        try waitForSends(.random(in: 0...race.total / 2, using: &generator))
        try loadPage()
        while rev < race.perRoom {
            let live = try subscribe()
            switch behavior {
            case .steady:
                try read(live, to: race.perRoom)
            case .stalling:
                while rev < race.perRoom {
                    try read(live, to: min(rev + .random(in: 1...60, using: &generator), race.perRoom))
                    let sent = race.acknowledged.events.count
                    try waitForSends(min(sent + .random(in: 1...race.total / 4, using: &generator), race.total))
                }
            case .resuming:
                try read(live, to: min(rev + .random(in: 0...30, using: &generator), race.perRoom))
            case .reloading:
                try read(live, to: min(rev + .random(in: 1...40, using: &generator), race.perRoom))
                try loadPage()
            }
        }
    }

    private func waitForSends(_ count: Int) throws {
        try race.acknowledged.wait(for: count)
    }

    /// Loads the newest page, which must not be older than the reader's position.
    private mutating func loadPage() throws {
        let client = try HTTPClient(port: race.port)
        let page = try client.read("/v1/rooms/\(room)/messages?limit=5", as: ReceivedPage.self)
        guard page.rev >= rev, page.head == page.rev, page.messages.last?.rev ?? 0 == page.rev else {
            throw Unexpected("a page at \(page.rev) after \(rev)")
        }
        try expectAscending(page.seqs, after: page.head - Int64(page.seqs.count))
        rev = page.rev
        epoch = page.epoch
    }

    private mutating func subscribe() throws -> any LiveClient {
        let since = Bool.random(using: &generator) ? "\(rev)" : "\(epoch):\(rev)"
        let live = try format.subscribe(port: race.port, room: room, query: "since=\(since)", receiveBuffer: 16 * 1024)
        guard let state = try live.frame().room, state.rev >= rev, state.head == state.rev, state.epoch == epoch else {
            throw Unexpected("another first frame")
        }
        return live
    }

    /// Reads messages up to a revision, and ignores the end of the replay.
    private mutating func read(_ live: any LiveClient, to end: Int64) throws {
        while rev < end {
            let frame = try live.frame()
            if let message = frame.message {
                guard message.rev == rev + 1, message.seq == message.rev, message.room == room else {
                    throw Unexpected("message \(message.seq) of \(message.room) after \(rev) of \(room)")
                }
                rev = message.rev
            } else if let liveRev = frame.liveRev {
                guard liveRev == rev else { throw Unexpected("live at \(liveRev) after \(rev)") }
            } else {
                throw Unexpected("a frame of type \(frame.type)")
            }
        }
    }
}
