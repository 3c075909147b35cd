import Chat
import Nodes
import Synchronization
import Wire

/// A thread that learns what other nodes have committed, on a connection of its own, and gives it to this node's feeds.
///
/// It hears the hints of other nodes, and looks at the hinted rooms with one statement for all of them. Hints that
/// arrive meanwhile are merged. Every ``ListenerTurns/sweepInterval`` it compares the revisions of all rooms that have subscribers
/// with the database, so a lost hint delays messages by at most that time. It also reads the events of access, in
/// order.
final class HintListener: Sendable {
    private let connector: PostgresConnector
    private let access: AccessState
    private let feeds: NodeFeeds
    private let pipe: WakePipe
    private let configuration: StoreConfiguration
    private let counted = Mutex(NodeCounts())
    private let malformed = Atomic(0)
    private let closed = Atomic(false)
    private let failureText = Mutex<String?>(nil)
    /// The time of the database's last answer.
    private let lastAnswer = Mutex(ContinuousClock.now)

    /// Creates a listener. Run it on a thread.
    ///
    /// - Parameters:
    ///   - access: The node's name, and what it knows of events of access.
    ///   - feeds: Gets hints and answers.
    ///   - pipe: Wakes the thread when a commit of this node makes a room wait for a look.
    init(
        _ connector: PostgresConnector, access: AccessState, feeds: NodeFeeds, pipe: WakePipe,
        configuration: StoreConfiguration
    ) {
        self.connector = connector
        self.access = access
        self.feeds = feeds
        self.pipe = pipe
        self.configuration = configuration
    }

    /// Counts of what the thread did.
    var counts: NodeCounts { counted.withLock { $0 } }

    /// The number of malformed payloads heard. No node sends any.
    var malformedCount: Int { malformed.load(ordering: .relaxed) }

    /// Returns true if the database has not answered for ``StoreConfiguration/listenerSilence``. Then subscribers lack
    /// what other nodes have stored since. A connection that was lost and made again within that time changes nothing:
    /// the first sweep finds what was stored meanwhile.
    ///
    /// The time of the last answer decides, because a connection can be open although the database cannot be reached.
    func isCutOff(at now: ContinuousClock.Instant) -> Bool {
        now - lastAnswer.withLock { $0 } > configuration.listenerSilence
    }

    /// Records the reason why the node hears no hints, and reports a change.
    ///
    /// - Parameter failure: The reason; `nil` if the node hears hints.
    private func note(failure: String?) {
        counted.withLock { $0.isListening = failure == nil }
        let before = failureText.withLock { text in
            defer { text = failure }
            return text
        }
        if (before == nil) != (failure == nil) { configuration.onListeningChange?(failure) }
    }

    /// Ends the thread.
    func close() {
        closed.store(true, ordering: .releasing)
        pipe.wake()
    }

    private var isClosed: Bool { closed.load(ordering: .acquiring) }

    // MARK: The thread

    /// The thread's state.
    private struct Session {
        let connection: PostgresConnection
        let look: LookStatement
        var turns: ListenerTurns

        init(_ connection: PostgresConnection) throws {
            self.connection = connection
            look = LookStatement(connection)
            turns = ListenerTurns(
                ListenerTurns.Limits(looks: LookStatement.maximumRooms, comparisons: LookStatement.roomsOfSweep),
                at: .now)
            try connection.execute("LISTEN \(Hints.channel)")
        }
    }

    /// Runs the thread until it is closed.
    func run() {
        var waits = ReconnectWaits()
        while !isClosed {
            do {
                var session = try Session(connector.connect())
                waits = ReconnectWaits()
                note(failure: nil)
                while !isClosed { try turn(&session) }
            } catch {
                note(failure: "\(error)")
                let end = ContinuousClock.now + waits.next()
                while !isClosed, end > .now { pipe.wait(until: end) }
            }
        }
        counted.withLock { $0.isListening = false }
    }

    /// Waits for hints or for the next deadline. Then it reads events of access, sweeps and looks at rooms, as far as
    /// each is due.
    private func turn(_ session: inout Session) throws {
        let deadline = session.turns.deadline(feeds) ?? .now
        let notifications = try session.connection.notifications(until: deadline, orReadable: pipe.descriptor)
        pipe.drain()
        session.turns.begin(hearing: read(notifications), at: .now)
        do {
            while let next = session.turns.next(feeds) { try read(next, &session) }
        } catch {
            session.turns.failed(feeds)
            throw error
        }
    }

    private func read(_ read: ListenerTurns.Read, _ session: inout Session) throws {
        switch read {
        case .events:
            try access.catchUp(session.connection)
            lastAnswer.withLock { $0 = .now }
        case .horizon: session.turns.found(try session.look.horizon())
        case .revisions(beyond: let positions): found(try session.look.hints(beyond: positions), session.turns)
        case .changedRooms(since: let horizon): found(try session.look.hints(since: horizon), session.turns)
        case .changes(let looks):
            let answers = try session.look.answers(to: looks)
            counted.withLock { counts in
                counts.lookups += 1
                counts.lookupRooms += answers.count { $0.answer != nil }
            }
            if let onLookup = configuration.onLookup {
                for case let delay? in answers.lazy.map({ $0.answer?.delay }) { onLookup(delay) }
            }
            session.turns.found(answers, feeds)
        }
    }

    private func found(_ rooms: Hints, _ turns: ListenerTurns) {
        counted.withLock { $0.sweptRooms += rooms.rooms.count }
        turns.found(rooms, feeds)
    }

    /// Merges the hints of other nodes.
    private func read(_ notifications: [PostgresConnection.Notification]) -> Hints {
        var merged = Hints()
        for notification in notifications where notification.channel == Hints.channel {
            switch Hints.parse(notification.payload) {
            case .hints(_, access.node): break
            case .hints(let hints, _):
                merged.add(hints)
                counted.withLock { $0.hintsReceived += 1 }
            case .other: break
            case .malformed: malformed.add(1, ordering: .relaxed)
            }
        }
        return merged
    }
}
