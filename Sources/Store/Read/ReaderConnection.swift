import Chat
import Wire

/// One reading thread's connection to its store. Each store has its own.
///
/// Confined to its thread.
protocol ReaderConnection {
    associatedtype View: StoreView

    var context: ReadContext { get }
    /// The reason why the last attempt to connect has failed; `nil` if it has succeeded.
    var failure: String? { get }
    /// The time after which an idle thread probes its connection; `nil` if it never does.
    var probeInterval: Duration? { get }

    /// Connects if there is no connection that is alive. The error is in ``failure``.
    mutating func probe()
    /// Checks that the store may be read at present.
    ///
    /// - Throws: The ``Problem`` that reads are refused with, or an error of the database.
    mutating func check() throws
    /// Answers the first queries, which are about rooms, in one transaction: at least one.
    ///
    /// - Returns: The number of queries that were answered.
    mutating func answer(_ queries: ArraySlice<Query>) -> Int
    /// Runs `body` in a read transaction that shows the rooms of a user for which `isWanted` returns true.
    mutating func transaction(
        for user: UserID, where isWanted: (RoomID) -> Bool, _ body: (ReadTransaction<View>) throws -> Void
    ) throws
    /// Runs `body` in a read transaction that shows the rooms that `rooms` finds.
    mutating func transaction(
        showing rooms: (View.DB) throws -> [RoomID], _ body: (ReadTransaction<View>) throws -> Void
    ) throws
    /// Runs `body` in a read transaction that shows all rooms.
    mutating func transaction(_ body: (ReadTransaction<View>) throws -> Void) throws
    /// Runs `body` with the connection, outside of a transaction.
    mutating func withDatabase(_ body: (View.DB) throws -> Void) throws
    /// Closes the connection.
    mutating func close()
}

extension ReaderConnection {
    /// Answers the first queries, at least one. Queries about rooms share a transaction; any other has its own.
    ///
    /// - Returns: The number of queries that were answered.
    mutating func answerSome(_ queries: ArraySlice<Query>) -> Int {
        let query = queries.first!
        do {
            try check()
            // Queries for a user's own have a user after this.
            try context.rules.check(query)
            switch query.kind {
            case .room:
                return answer(queries.prefix { if case .room = $0.kind { true } else { false } })
            case .ownRooms(let read, let patterns): try answer(read, within: patterns, for: query)
            case .search(let request, let room, let patterns, let reply):
                try answer(request, in: room, within: patterns, reply, for: query)
            case .own(let read): try transaction { try $0.answer(read, of: query.user!) }
            case .profiles(let users, let reply):
                try withDatabase { reply.answer(Profiles(try $0.profiles(of: users))) }
            case .server(let read): try transaction { try $0.answer(read) }
            }
        } catch {
            query.reply.fail(ReadContext.problem(error))
        }
        return 1
    }

    /// Answers a query about the user's own rooms.
    private mutating func answer(
        _ read: Query.OwnRoomsRead, within patterns: [RoomPattern]?, for query: Query
    ) throws {
        let (context, user) = (context, query.user!)
        let isWanted = context.rules.mayList(within: patterns, for: query)
        switch read {
        case .inbox(let request, let reply):
            try transaction(for: user, where: isWanted) { transaction in
                let inbox = try transaction.inbox(request, of: user, where: isWanted)
                if let share = context.backlog.hold(inbox.messageBytes) { reply.hold(share) }
                reply.answer(inbox)
            }
        case .memberships(let limit, let reply):
            try transaction(for: user, where: isWanted) { transaction in
                reply.answer(try transaction.memberships(limit: limit, of: user, where: isWanted))
            }
        case .mentions(let request, let reply):
            // Messages stored after this look are not shown, as if they came after the request.
            let rooms = { (db: View.DB) in
                let position = try db.position(of: request.cursor)
                return try db.mentions(of: user, before: position, limit: request.limit + 1).map(\.room)
            }
            try transaction(showing: rooms) { transaction in
                let mentions = try transaction.mentions(request, of: user) { row in
                    context.rules.mayList(
                        row.room, (row.isPrivate, row.isDeleted), isMember: row.isMember, within: patterns, for: query)
                }
                if let share = context.backlog.hold(mentions.messageBytes) { reply.hold(share) }
                reply.answer(mentions)
            }
        }
    }

    /// Answers a search in a room, or in all rooms of the user.
    private mutating func answer(
        _ request: SearchRequest, in room: RoomID?, within patterns: [RoomPattern]?, _ reply: Reply<SearchSlice>,
        for query: Query
    ) throws {
        let context = context
        func answer(_ slice: SearchSlice) {
            if let share = context.backlog.hold(slice.messageBytes) { reply.hold(share) }
            reply.answer(slice)
        }
        if let room {
            try transaction(showing: { _ in [room] }) { transaction in
                answer(try transaction.search(request, in: room, for: query))
            }
        } else {
            let user = query.user!
            let isWanted = context.rules.mayList(within: patterns, for: query)
            try transaction(for: user, where: isWanted) { transaction in
                answer(try transaction.search(request, of: user, where: isWanted))
            }
        }
    }
}
