import Chat
import Wire

/// The queries that wait for a reader, and the order in which readers serve them.
///
/// Askers are served in turn, one query each, so nobody's queue is another's delay. Quick queries come before long ones,
/// but do not keep them out: long ones get a turn after every ``Limits/quickTurns`` turns of quick queries. Long queries
/// never occupy all readers, unless there is one reader only, and an asker has one of them served at a time.
///
/// A plain value: it is told what is asked, cancelled and done, and says what to serve next.
struct ReadQueue {
    /// The bounds of the queue.
    struct Limits {
        /// The most queries that wait in all.
        var queries: Int
        /// The most queries of one asker that wait.
        var queriesOfAsker: Int
        /// The most readers that serve long queries at the same time, 1 at least.
        var longReaders: Int
        /// The most long queries of one turn, each of another asker.
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

    /// The queries of one asker that wait, oldest first.
    private struct Line {
        // Most askers have one query: it takes no memory of its own.
        private var first: Query?
        private var rest: ArraySlice<Query> = []

        init(_ query: Query) {
            first = query
        }

        var isEmpty: Bool { first == nil }

        var count: Int { isEmpty ? 0 : 1 + rest.count }

        /// All of them, oldest first.
        var all: [Query] { first.map { [$0] + rest } ?? [] }

        mutating func append(_ query: Query) {
            if isEmpty { first = query } else { rest.append(query) }
        }

        /// Takes the oldest query.
        mutating func takeFirst() -> Query? {
            defer { first = rest.popFirst() }
            return first
        }

        mutating func remove(_ reply: any PendingReply) -> Bool {
            if first?.reply === reply {
                first = rest.popFirst()
                return true
            }
            guard let index = rest.firstIndex(where: { $0.reply === reply }) else { return false }
            rest.remove(at: index)
            return true
        }
    }

    /// The queries of one kind.
    private struct Lane {
        /// The askers that have a place: in the order of turns, or at a reader that serves them. One whose queries were all
        /// cancelled stays until its turn.
        private var lines: [Asker: Line] = [:]
        /// The askers in the order of their turns, each once.
        private(set) var turns: ArraySlice<Asker> = []
        /// The number of queries that wait.
        private(set) var count = 0

        /// The number of an asker's queries that wait.
        func count(of asker: Asker) -> Int { lines[asker]?.count ?? 0 }

        mutating func append(_ query: Query) {
            count += 1
            if let index = lines.index(forKey: query.reply.asker) {
                lines.values[index].append(query)
            } else {
                lines[query.reply.asker] = Line(query)
                turns.append(query.reply.asker)
            }
        }

        /// Takes the oldest query of the asker whose turn it is.
        ///
        /// - Parameter keepsPlace: whether the asker gets no other turn until ``giveUpPlace(of:)``.
        mutating func next(keepsPlace: Bool) -> Query? {
            while let asker = turns.popFirst() {
                guard let index = lines.index(forKey: asker) else { continue }
                let query = lines.values[index].takeFirst()
                if query == nil || !keepsPlace { giveUpPlace(at: index) }
                if let query {
                    count -= 1
                    return query
                }
            }
            return nil
        }

        /// Ends an asker's turn. The next one comes behind those of all others.
        mutating func giveUpPlace(of asker: Asker) {
            if let index = lines.index(forKey: asker) { giveUpPlace(at: index) }
        }

        private mutating func giveUpPlace(at index: Dictionary<Asker, Line>.Index) {
            if lines.values[index].isEmpty { lines.remove(at: index) } else { turns.append(lines.keys[index]) }
        }

        /// Removes all queries, and the places of their askers.
        mutating func removeAll() -> [Query] {
            let all = lines.values.flatMap(\.all)
            self = Lane()
            return all
        }

        mutating func cancel(_ reply: any PendingReply) -> Bool {
            guard let index = lines.index(forKey: reply.asker), lines.values[index].remove(reply) else { return false }
            count -= 1
            return true
        }
    }

    private let limits: Limits
    private var quick = Lane()
    private var long = Lane()
    /// The number of readers that serve long queries.
    private var longReaders = 0
    /// The number of turns of quick queries since the last one of long queries.
    private var quickTurns = 0

    /// An empty queue.
    init(_ limits: Limits) {
        self.limits = limits
    }

    /// The number of queries that wait.
    var count: Int { quick.count + long.count }

    /// True when a reader would get something to serve, be it only queries that were cancelled.
    var hasTurn: Bool { !quick.turns.isEmpty || mayServeLong }

    private var mayServeLong: Bool { !long.turns.isEmpty && longReaders < limits.longReaders }

    /// Adds a query.
    ///
    /// - Returns: `false` when there is no place for it, or its asker has too many queries.
    mutating func append(_ query: Query) -> Bool {
        let asker = query.reply.asker
        // Turns of which all queries were cancelled are counted, so that memory is bounded while no reader gets to them.
        guard count < limits.queries, quick.turns.count < limits.queries, long.turns.count < limits.queries,
            quick.count(of: asker) + long.count(of: asker) < limits.queriesOfAsker
        else { return false }
        if query.kind.isLong { long.append(query) } else { quick.append(query) }
        return true
    }

    /// Removes a query that nobody waits for any more. One that is being served, or is done, is not there.
    mutating func cancel(_ reply: any PendingReply) {
        if !long.cancel(reply) { _ = quick.cancel(reply) }
    }

    /// Takes what a reader is to serve next.
    ///
    /// - Parameter most: the most quick queries, 1 at least.
    /// - Returns: `nil` when there is nothing for this reader at the moment.
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

    /// A reader has served a turn.
    mutating func done(_ turn: Turn) {
        guard turn.isLong else { return }
        longReaders -= 1
        for query in turn.queries { long.giveUpPlace(of: query.reply.asker) }
    }

    /// Removes all queries.
    mutating func removeAll() -> [Query] {
        quick.removeAll() + long.removeAll()
    }
}

extension Query.Kind {
    /// True for a query whose cost its answer does not bound: a list looks at rooms, and what is unread is counted by looking
    /// at messages.
    var isLong: Bool {
        switch self {
        case .ownRooms, .room(_, .summary), .server(.rooms), .server(.user): true
        case .room(_, .page(let request, _)): request.anchor.place?.isPersonal == true
        case .room, .server: false
        }
    }
}
