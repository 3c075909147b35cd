import Chat
import Wire

/// The waiting queries, and the order in which readers serve them.
///
/// Clients are served in turn, one query each, so that one with many queries does not delay the others. Quick queries
/// come before long ones, but do not keep them out: long ones get a turn after every ``Limits/quickTurns`` turns of
/// quick queries. Long queries never occupy all readers, unless there is only one reader, and a client has one of them
/// served at a time.
///
/// A plain value.
struct ReadQueue {
    /// The bounds of the queue.
    struct Limits {
        /// Maximum number of waiting queries.
        var queries: Int
        /// Maximum number of waiting queries of one client.
        var queriesOfClient: Int
        /// Maximum number of readers that serve long queries at the same time, at least 1.
        var longReaders: Int
        /// Maximum number of long queries in one turn, each of another client.
        var longQueries = 8
        /// The number of turns that quick queries get in a row while a long one waits.
        var quickTurns = 4
    }

    /// The queries that one reader serves together.
    struct Turn {
        /// The queries in the order in which they are served.
        var queries: [Query]
        /// True for long queries. ``done(_:)`` must be called once they have been served.
        var isLong: Bool
    }

    /// The waiting queries of one client, oldest first.
    private struct Line {
        // Most clients have one query, which needs no array.
        private var first: Query?
        private var rest = FIFO<Query>()

        init(_ query: Query) {
            first = query
        }

        var isEmpty: Bool { first == nil }

        var count: Int { isEmpty ? 0 : 1 + rest.count }

        /// All queries, oldest first.
        var all: [Query] { first.map { [$0] + rest.all } ?? [] }

        mutating func append(_ query: Query) {
            if isEmpty { first = query } else { rest.append(query) }
        }

        mutating func takeFirst() -> Query? {
            defer { first = rest.popFirst() }
            return first
        }

        mutating func remove(_ reply: any PendingReply) -> Bool {
            if first?.reply === reply {
                first = rest.popFirst()
                return true
            }
            return rest.removeFirst { $0.reply === reply }
        }
    }

    /// The queries of one kind.
    private struct Lane {
        /// The clients that wait for a turn or are being served. A client whose queries were all cancelled stays until
        /// its turn.
        private var lines: [QueryClient: Line] = [:]
        /// The clients in the order of their turns, each once.
        private(set) var turns = FIFO<QueryClient>()
        /// The number of waiting queries.
        private(set) var count = 0

        /// Returns the number of a client's waiting queries.
        func count(of client: QueryClient) -> Int { lines[client]?.count ?? 0 }

        /// Adds a query, unless its client already has `most`.
        mutating func append(_ query: Query, of client: QueryClient, atMost most: Int) -> Bool {
            if let index = lines.index(forKey: client) {
                guard lines.values[index].count < most else { return false }
                lines.values[index].append(query)
            } else {
                guard most > 0 else { return false }
                lines[client] = Line(query)
                turns.append(client)
            }
            count += 1
            return true
        }

        /// Takes the oldest query of the client whose turn it is.
        ///
        /// - Parameter keepsPlace: true if the client gets no other turn until ``giveUpPlace(of:)``.
        mutating func next(keepsPlace: Bool) -> Query? {
            while let client = turns.popFirst() {
                guard let index = lines.index(forKey: client) else { continue }
                let query = lines.values[index].takeFirst()
                if query == nil || !keepsPlace { giveUpPlace(at: index) }
                if let query {
                    count -= 1
                    return query
                }
            }
            return nil
        }

        /// Ends a client's turn. Its next turn comes after those of all others.
        mutating func giveUpPlace(of client: QueryClient) {
            if let index = lines.index(forKey: client) { giveUpPlace(at: index) }
        }

        private mutating func giveUpPlace(at index: Dictionary<QueryClient, Line>.Index) {
            if lines.values[index].isEmpty { lines.remove(at: index) } else { turns.append(lines.keys[index]) }
        }

        /// Removes all queries, and the places of their clients.
        mutating func removeAll() -> [Query] {
            let all = lines.values.flatMap(\.all)
            self = Lane()
            return all
        }

        mutating func cancel(_ reply: any PendingReply) -> Bool {
            guard let index = lines.index(forKey: reply.client), lines.values[index].remove(reply) else { return false }
            count -= 1
            return true
        }
    }

    private let limits: Limits
    private var quick = Lane()
    private var long = Lane()
    /// The number of readers that are serving long queries.
    private var longReaders = 0
    /// The number of turns of quick queries since the last one of long queries.
    private var quickTurns = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// The number of waiting queries.
    var count: Int { quick.count + long.count }

    /// True if a client has a turn, even if its queries were all cancelled.
    var hasTurn: Bool { !quick.turns.isEmpty || mayServeLong }

    private var mayServeLong: Bool { !long.turns.isEmpty && longReaders < limits.longReaders }

    /// Adds a query.
    ///
    /// - Returns: false if the queue is full or the client has too many queries.
    mutating func append(_ query: Query) -> Bool {
        // Turns whose queries were all cancelled count, so that memory is bounded while no reader gets to them.
        guard count < limits.queries, quick.turns.count < limits.queries, long.turns.count < limits.queries else {
            return false
        }
        let client = query.reply.client
        if query.kind.isLong {
            return long.append(query, of: client, atMost: limits.queriesOfClient - quick.count(of: client))
        } else {
            return quick.append(query, of: client, atMost: limits.queriesOfClient - long.count(of: client))
        }
    }

    /// Removes a query whose answer is no longer wanted. Does nothing if it is being served or is done.
    mutating func cancel(_ reply: any PendingReply) {
        if !long.cancel(reply) { _ = quick.cancel(reply) }
    }

    /// Takes the next turn.
    ///
    /// - Parameter most: maximum number of quick queries, at least 1.
    /// - Returns: `nil` if there is nothing to serve at present.
    mutating func next(_ most: Int) -> Turn? {
        if mayServeLong, quickTurns >= limits.quickTurns, let turn = nextLong() { return turn }
        var queries: [Query] = []
        while queries.count < max(1, most), let query = quick.next(keepsPlace: false) { queries.append(query) }
        if queries.isEmpty { return mayServeLong ? nextLong() : nil }
        quickTurns += 1
        return Turn(queries: queries, isLong: false)
    }

    private mutating func nextLong() -> Turn? {
        var queries: [Query] = []
        while queries.count < limits.longQueries, let query = long.next(keepsPlace: true) { queries.append(query) }
        if queries.isEmpty { return nil }
        quickTurns = 0
        longReaders += 1
        return Turn(queries: queries, isLong: true)
    }

    /// Records that a reader has served a turn.
    mutating func done(_ turn: Turn) {
        guard turn.isLong else { return }
        longReaders -= 1
        for query in turn.queries { long.giveUpPlace(of: query.reply.client) }
    }

    mutating func removeAll() -> [Query] {
        quick.removeAll() + long.removeAll()
    }
}

extension Query.Kind {
    /// True if the size of the answer does not bound the cost: a list reads rooms, and counting unread messages reads
    /// messages.
    var isLong: Bool {
        switch self {
        case .ownRooms, .search, .room(_, .summary), .server(.rooms), .server(.user): true
        case .room(_, .page(let request, _)): request.anchor.place?.isPersonal == true
        case .room, .own, .server, .profiles: false
        }
    }
}
