public import Chat
import Synchronization
import Threads
public import Wire

/// A thread that exchanges typing notices, read notices and presence with the other nodes on a PostgreSQL database, on
/// a connection of its own.
///
/// Notices are merged for up to ``noticeInterval``, sent with `NOTIFY`, and dropped while the database cannot be
/// reached. Changes of presence are written once in ``presenceInterval``. The same statement reads the rows of the
/// other nodes. A node shows that it is alive by its row with an empty room. A node whose row is older than
/// ``Presence/silence`` is not counted.
public final class NodeExchange: Sendable {
    /// Time that notices are collected for: 100 ms.
    public static let noticeInterval = Duration.milliseconds(100)
    /// Time between two statements for presence: 1 second.
    public static let presenceInterval = Duration.seconds(1)
    /// Maximum number of rooms that one statement reports: 10,000.
    static let maximumReports = 10_000
    /// Maximum number of rooms of other nodes that one statement reads: 20,000, twice what one statement writes. The
    /// next statement continues.
    static let maximumRows = 2 * maximumReports
    /// The channel of `LISTEN` and `NOTIFY`.
    static let channel = "backscroll_notices"

    private let settings: PostgresConnection.Settings
    private let presence: Presence?
    private let onNotices: @Sendable (NodeNotices) -> Void
    private let onPresence: @Sendable () -> Void
    private let pending = Mutex(NodeNotices())
    private let isClosed = Atomic(false)
    private let thread = Mutex<NamedThread?>(nil)

    /// Starts the thread. The log must have created the tables.
    ///
    /// - Parameters:
    ///   - url: A connection string of libpq.
    ///   - connections: Counts the thread's connections.
    ///   - presence: This node's subscribers, which get those of other nodes; `nil` if presence is off.
    ///   - onNotices: Takes the notices of other nodes, on the thread.
    ///   - onPresence: Must schedule a flush of `presence`. Called on the thread.
    public init(
        url: String, countedBy connections: DatabaseConnections = DatabaseConnections(), presence: Presence?,
        onNotices: @escaping @Sendable (NodeNotices) -> Void, onPresence: @escaping @Sendable () -> Void
    ) {
        settings =
            PostgresConnector(PostgresConnection.Settings(url: url), purpose: .exchange, countedBy: connections)
            .settings
        self.presence = presence
        self.onNotices = onNotices
        self.onPresence = onPresence
        // The thread keeps the exchange until it is closed.
        let started = NamedThread(name: "exchange") { self.run() }
        thread.withLock { $0 = started }
    }

    /// Tells the other nodes that a user is typing.
    public func addTyping(_ user: UserID, in room: RoomID) {
        pending.withLock { $0.addTyping(user, in: room) }
    }

    /// Tells the other nodes that a user's read mark has moved.
    public func addRead(_ user: UserID, in room: RoomID, to seq: Int64) {
        pending.withLock { $0.addRead(user, in: room, to: seq) }
    }

    /// Sends a frame to a user's own devices on the other nodes.
    public func addOwn(_ notice: OwnNotice) {
        pending.withLock { $0.addOwn(notice) }
    }

    /// Takes this node out of presence, and ends the thread. A second call does nothing.
    public func close() {
        isClosed.store(true, ordering: .releasing)
        thread.withLock { $0.take() }?.join()
    }

    // MARK: The thread

    /// The name under which the node reports.
    ///
    /// If reports or changes may be lost, the node reports everything under a new name, and deletes the rows of the old
    /// name. Rows of rooms that its subscribers have left since are thus no longer counted.
    private struct Name {
        private(set) var current = makeRandomName()
        /// The name whose rows are to be removed; `nil` for none.
        var former: String?
        private var isUsed = false

        /// Takes a new name, unless nothing was reported under the current one.
        mutating func renew() {
            if isUsed { (former, current) = (current, makeRandomName()) }
            isUsed = true
        }
    }

    /// The thread's connection.
    private struct Session {
        let connection: PostgresConnection
        /// The latest time of a row that was read, in milliseconds since 1970 by the database's clock; -1 to read all.
        var since: Int64 = -1
        /// The nodes that were alive at the last read.
        var nodes: Set<String> = []
        /// The time of the last statement for presence; `nil` before the first.
        var last: ContinuousClock.Instant?
        var nextCleaning = ContinuousClock.now

        init(_ settings: PostgresConnection.Settings) throws(PostgresError) {
            connection = try PostgresConnection(settings)
            try connection.execute("LISTEN \(NodeExchange.channel)")
        }
    }

    private func run() {
        var reached = ContinuousClock.now
        var name = Name()
        var waits = ReconnectWaits()
        while !closes {
            do throws(PostgresError) {
                var session = try Session(settings)
                while !closes {
                    try turn(&session, &name)
                    reached = .now
                    waits = ReconnectWaits()
                }
                if presence != nil { try session.connection.run(Self.leaveSQL, Self.parameters(name.current)) }
            } catch {
                pending.withLock { $0 = NodeNotices() }
                // The presence of the other nodes is unknown, so none of them is counted.
                if ContinuousClock.now - reached >= Presence.silence, presence?.keep([]) == true { onPresence() }
                let end = ContinuousClock.now + waits.next()
                while !closes, end > .now { PostgresConnector.wait() }
            }
        }
    }

    private var closes: Bool { isClosed.load(ordering: .acquiring) }

    private static func parameters(_ node: String) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(node)
        return parameters
    }

    private func turn(_ session: inout Session, _ name: inout Name) throws(PostgresError) {
        let end = ContinuousClock.now + Self.noticeInterval
        repeat {
            for notification in try session.connection.notifications(until: end) {
                guard let (notices, sender) = NodeNotices.parse(notification.payload), sender != name.current else {
                    continue
                }
                if !notices.isEmpty { onNotices(notices) }
            }
        } while ContinuousClock.now < end && !closes
        let notices = pending.withLock { pending in
            defer { pending = NodeNotices() }
            return pending
        }
        if !notices.isEmpty {
            try session.connection.notify(Self.channel, notices.payloads(from: name.current))
        }
        guard let presence else { return }
        let now = ContinuousClock.now
        if let last = session.last, now - last < Self.presenceInterval { return }
        // After a new connection the table may be empty. After a long stop others have removed this node's rows.
        let isKnown = session.last.map { now - $0 < Presence.silence } ?? false
        session.last = now
        var reports: ArraySlice<PresenceReport>
        if isKnown, let changed = presence.takeReports() {
            reports = changed[...]
        } else {
            name.renew()
            session.since = -1
            reports = presence.takeAllReports()[...]
        }
        repeat {
            try exchange(reports.prefix(Self.maximumReports), presence, &session, &name)
            reports = reports.dropFirst(Self.maximumReports)
        } while !reports.isEmpty
        if now >= session.nextCleaning {
            session.nextCleaning = now + .seconds(60)
            try session.connection.run(Self.cleanSQL)
        }
    }

    /// Writes what has changed here, and reads what has changed elsewhere.
    private func exchange(
        _ reports: ArraySlice<PresenceReport>, _ presence: Presence, _ session: inout Session, _ name: inout Name
    ) throws(PostgresError) {
        // The first row shows that the node is alive.
        var (rooms, online, users): ([String?], [Int64], [String?]) = ([""], [0], [nil])
        for report in reports {
            rooms.append(report.room.string)
            online.append(Int64(report.online))
            users.append(report.users.map { $0.map(\.string).joined(separator: " ") })
        }
        // In the same transaction, so that other nodes never count both names, or none.
        if let former = name.former { try session.connection.send(Self.leaveSQL, Self.parameters(former)) }
        var parameters = Self.parameters(name.current)
        parameters.append(rooms)
        parameters.append(online)
        parameters.append(users)
        parameters.append(session.since)
        let result = try session.connection.run(Self.exchangeSQL, parameters)
        name.former = nil
        var now = session.since
        var nodes: Set<String> = []
        var found: [String: [PresenceReport]] = [:]
        var (count, last) = (0, session.since)
        for row in 0..<result.count {
            let (node, room) = (result.text(row, 0), result.text(row, 1))
            now = max(now, result.integer(row, 5))
            guard !room.isEmpty else {
                let age = Duration.milliseconds(result.integer(row, 5) - result.integer(row, 4))
                if age < Presence.silence { nodes.insert(node) }
                continue
            }
            (count, last) = (count + 1, max(last, result.integer(row, 4)))
            guard let room = try? RoomID(room) else { continue }
            var users: Set<UserID>?
            if !result.isNull(row, 3) {
                users = Set(result.text(row, 3).split(separator: " ").compactMap { try? UserID($0) })
            }
            found[node, default: []].append(
                PresenceReport(room: room, online: Int(result.integer(row, 2)), users: users))
        }
        var hasChanged = presence.keep(nodes)
        for (node, reports) in found where nodes.contains(node) {
            hasChanged = presence.learn(reports, of: node) || hasChanged
        }
        if hasChanged { onPresence() }
        // Rows of a node that has come back may have been read before it was forgotten, so all rows are read again.
        // Otherwise the next read goes back 5 seconds, because a row becomes visible later than the time in it.
        let isNew = session.since >= 0 && !nodes.isSubset(of: session.nodes)
        session.since = isNew ? -1 : max(0, now - 5_000)
        // More rows may have the time of the last one. All rows of one time fit into one read.
        if count == Self.maximumRows, !isNew { session.since = min(session.since, last - 1) }
        session.nodes = nodes
    }

    // MARK: Statements

    private static let milliseconds = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    private static let exchangeSQL = """
        WITH now AS MATERIALIZED (SELECT \(milliseconds) AS now), written AS (
            INSERT INTO presence (node, room, online, users, at)
            SELECT $1::text, room, online, users, now
            FROM unnest($2::text[], $3::bigint[], $4::text[]) AS report (room, online, users), now
            ON CONFLICT (node, room) DO UPDATE SET online = excluded.online, users = excluded.users, at = excluded.at
        )
        SELECT node, room, online, users, at, now FROM presence, now
        WHERE node <> $1::text AND room = '' AND at > now - 60000
        UNION ALL (
            SELECT node, room, online, users, at, now FROM presence, now
            WHERE node <> $1::text AND room <> '' AND at > $5::bigint ORDER BY at LIMIT \(maximumRows)
        )
        """

    // Rows of rooms that everybody has left, and of nodes that are gone.
    private static let cleanSQL = """
        DELETE FROM presence WHERE at < \(milliseconds) - 60000 AND (
            online = 0 OR node NOT IN (SELECT node FROM presence WHERE room = '' AND at >= \(milliseconds) - 60000))
        """

    private static let leaveSQL = "DELETE FROM presence WHERE node = $1::text"
}
