import Chat
import Nodes
import Wire

/// The connection of one reading thread to PostgreSQL, which is made when it is needed.
struct PostgresReader: ReaderConnection {
    let context: ReadContext
    private let access: AccessState
    private let deflater = PushDeflater()
    private var connector: PostgresConnector.Use
    // The present connection's.
    private var statements: PostgresReaderStatements?
    private(set) var failure: String?

    init(_ connector: PostgresConnector, _ access: AccessState, _ context: ReadContext) {
        self.connector = connector.use()
        self.access = access
        self.context = context
    }

    var probeInterval: Duration? {
        let configuration = context.configuration
        return .milliseconds(failure == nil ? configuration.idleProbeInterval : configuration.probeInterval)
    }

    mutating func probe() {
        _ = try? connected()
    }

    mutating func check() throws {
        if access.term.isValid { return }
        // Only so does the node know all bans.
        try access.catchUp(connected().shared.db)
    }

    func close() {}

    /// Returns the statements of a connection that is alive.
    private mutating func connected() throws -> PostgresReaderStatements {
        let (connection, isNew): (PostgresConnection, Bool)
        do {
            (connection, isNew) = try connector.connection()
            failure = nil
        } catch {
            failure = "\(error)"
            throw error
        }
        if !isNew, let statements { return statements }
        let new = try PostgresReaderStatements(connection)
        statements = new
        return new
    }

    mutating func withDatabase(_ body: (PostgresConnection) throws -> Void) throws {
        try body(connected().shared.db)
    }

    // MARK: Rooms

    mutating func answer(_ queries: ArraySlice<Query>) -> Int {
        var count = 0
        do {
            let statements = try connected()
            let pages = try statements.pages.pages(of: queries, within: context.configuration.answerBytes)
            // If all queries have their pages, nothing is sent to the database, and so no transaction begins.
            try statements.inTransaction {
                try sendAhead(zip(queries, pages).filter { $0.1 == nil }.map(\.0), statements)
                let transaction = ReadTransaction(PostgresView(own: statements), context, deflater)
                context.answer(queries, &count) { index, query in
                    if let page = pages[index] { return try answer(query, page) }
                    return try transaction.answer(query, PostgresRoom(query.room!, statements))
                }
            }
        } catch {
            // The transaction could not begin.
            for query in queries { query.reply.fail(ReadContext.problem(error)) }
            return queries.count
        }
        return count
    }

    /// Answers a query with its page.
    ///
    /// - Returns: The number of bytes of its messages.
    private func answer(_ query: Query, _ page: PageStatement.Page) throws -> Int {
        guard case .room(_, .page(_, let reply)) = query.kind else { return 0 }
        try context.rules.check(query, of: (page.isPrivate, page.isDeleted)) { _ in page.isForMember }
        reply.answer(page.slice)
        return page.slice.messages.count
    }

    /// Sends ahead what reads the rooms of queries: there is one wait for the rows of all rooms, and one for what users
    /// see of them.
    private func sendAhead(_ queries: [Query], _ statements: PostgresReaderStatements) throws {
        let db = statements.shared.db
        try db.sendAhead { for query in queries { _ = try db.row(of: query.room!, locking: false) } }
        for query in queries {
            // A caller without a name needs one statement at most, which is not worth another wait for rows.
            guard case .room(let id, let read) = query.kind, let user = query.user,
                let room = try db.row(of: id, locking: false)
            else { continue }
            try db.sendAhead {
                if room.facts.isPrivate, !query.isAdmin { _ = try db.role(of: user, in: room.number) }
                switch read {
                case .summary: try statements.readSummary(of: room.number, for: user)
                case .page(let request, _) where request.anchor.place?.isPersonal == true:
                    try statements.readMarks(of: user, in: room.number)
                default: break
                }
            }
        }
    }

    // MARK: Many rooms

    mutating func transaction(_ body: (ReadTransaction<PostgresView>) throws -> Void) throws {
        let statements = try connected()
        try statements.inTransaction {
            try body(ReadTransaction(PostgresView(own: statements), context, deflater))
        }
    }

    mutating func transaction(
        showing rooms: (PostgresConnection) throws -> [RoomID], _ body: (ReadTransaction<PostgresView>) throws -> Void
    ) throws {
        try transaction(body)
    }

    mutating func transaction(
        for user: UserID, where isWanted: (RoomID) -> Bool, _ body: (ReadTransaction<PostgresView>) throws -> Void
    ) throws {
        try transaction(body)
    }
}

/// The content of a database in PostgreSQL as one read transaction shows it.
struct PostgresView: StoreView {
    /// PostgreSQL's own statements.
    let own: PostgresReaderStatements

    var statements: ReaderStatements<PostgresConnection> { own.shared }
    private var db: PostgresConnection { own.shared.db }

    func room(_ id: RoomID) throws -> PostgresRoom? { try PostgresRoom(id, own) }

    func rooms(
        of user: UserID, after last: InboxCursor.Activity?, limit: Int, withHidden: Bool,
        where isWanted: (RoomID) -> Bool
    ) throws -> [OwnRoom] {
        try db.rooms(of: user).filter { room in
            (withHidden || !room.isHidden) && (last.map { $0 < room.activity } ?? true) && isWanted(room.activity.room)
        }
    }

    /// Sends ahead what reads the rooms: one round trip for what depends on neither the newest message nor the read mark,
    /// and one for the rest.
    func prepare(_ rooms: [(user: UserID, rooms: ArraySlice<OwnRoom>)]) throws {
        try db.sendAhead {
            for (user, rooms) in rooms {
                for room in rooms {
                    _ = try db.row(of: room.activity.room, locking: false)
                    try own.readSummary(of: room.number, for: user)
                }
            }
        }
        for (user, rooms) in rooms {
            for room in rooms {
                if let view = try self.room(room.activity.room) { try own.sendAhead(newestOf: view, for: user) }
            }
        }
    }

    func bodies(of messages: [(key: RowKey, room: RoomID)]) throws -> [Int64: [UInt8]] {
        try db.sendAhead { for (key, _) in messages { _ = try db.snapshot(of: key) } }
        var bodies: [Int64: [UInt8]] = [:]
        for (key, _) in messages { bodies[key.rawValue] = try db.snapshot(of: key) }
        return bodies
    }

    func forEachCandidate(
        _ search: CandidateSearch, in rooms: [SearchedRoom], _ body: (SearchCandidate) throws -> Bool
    ) throws -> Int64? {
        var words = try WordSearch(search, in: rooms, db)
        return try words.forEachCandidate(body)
    }

    func rooms(after last: InboxCursor.Activity?, limit: Int) throws -> [ServerRoom] {
        var rooms: [ServerRoom] = []
        try db.forEachRoom(after: last, by: Self.activity) { room in
            rooms.append(room)
            return rooms.count < limit
        }
        return rooms
    }

    func lastSend(of user: UserID) throws -> Int64? {
        try db.lastSend(of: user, in: db.activities(of: user, by: Self.activity))
    }

    // As in the index.
    private static let activity = "coalesce(coalesce(active_at, created_at), 0)"
}
