extension Timeline {
    /// The steps that lead from the rows of one view to those of a later one.
    ///
    /// A list with a diffable data source builds its next snapshot from ``View/rows`` and reconfigures the items in
    /// ``updated``; `performBatchUpdates` takes ``removed``, ``moved`` and ``inserted``; a `LazyVStack` needs the rows
    /// alone, because they are `Identifiable` and `Hashable`.
    public struct Difference: Hashable, Sendable {
        /// A row that has come to stand in the list.
        public struct Insertion: Hashable, Sendable {
            /// The row.
            public let row: Row
            /// The index in the rows after.
            public let index: Int
        }

        /// A row that stands elsewhere among the others.
        public struct Move: Hashable, Sendable {
            /// The row's id.
            public let id: Row.ID
            /// The index in the rows before.
            public let from: Int
            /// The index in the rows after.
            public let to: Int
        }

        /// A row that is drawn anew: the same id with another content.
        public struct Update: Hashable, Sendable {
            /// The row.
            public let row: Row
            /// The index in the rows after.
            public let index: Int
        }

        /// A row that is gone.
        public struct Removal: Hashable, Sendable {
            /// The row's id.
            public let id: Row.ID
            /// The index in the rows before.
            public let index: Int
        }

        /// The rows that are gone, by ascending index.
        public internal(set) var removed: [Removal] = []
        /// The rows that stand elsewhere, by ascending index after. Only a row of the outbox moves: into its place when it
        /// is stored, or to the end when the user sends it again.
        public internal(set) var moved: [Move] = []
        /// The new rows, by ascending index.
        public internal(set) var inserted: [Insertion] = []
        /// The rows that are drawn anew, by ascending index. A row can be moved and updated.
        public internal(set) var updated: [Update] = []

        /// True if the views show the same rows.
        public var isEmpty: Bool {
            removed.isEmpty && moved.isEmpty && inserted.isEmpty && updated.isEmpty
        }

        /// Returns the rows after, given those before.
        ///
        /// Lists do the same with what they draw: take away what is removed or moved, put in what is moved or inserted by
        /// ascending index, and replace what is updated.
        public func applied(to rows: [Row]) -> [Row] {
            var isGone = [Bool](repeating: false, count: rows.count)
            for removal in removed { isGone[removal.index] = true }
            for move in moved { isGone[move.from] = true }
            let kept = rows.indices.filter { !isGone[$0] }

            // The rows to put in, by ascending index; moved rows as they were before they are updated.
            let added = (inserted.map { ($0.index, $0.row) } + moved.map { ($0.to, rows[$0.from]) })
                .sorted { $0.0 < $1.0 }
            var result: [Row] = []
            result.reserveCapacity(kept.count + added.count)
            var nextKept = 0
            for (index, row) in added {
                let missing = index - result.count
                result.append(contentsOf: kept[nextKept..<nextKept + missing].map { rows[$0] })
                nextKept += missing
                result.append(row)
            }
            result.append(contentsOf: kept[nextKept...].map { rows[$0] })
            for update in updated { result[update.index] = update.row }
            return result
        }
    }
}

extension Timeline.View {
    /// Returns the steps that lead from an earlier view's rows to this one's.
    ///
    /// Rows are the same if their `id` is, and drawn anew if they are not equal. It costs a comparison of two pointers for
    /// each row that has stayed as it was at either end of the list, and a table of the rows between.
    public func difference(from earlier: Timeline.View) -> Timeline.Difference {
        typealias Row = Timeline.Row
        let old = earlier.rows
        let new = rows
        var result = Timeline.Difference()

        // Most changes touch one place: what stands before and after it is passed over.
        var start = 0
        while start < old.count, start < new.count, old[start].hasSameID(as: new[start]) {
            if old[start] != new[start] { result.updated.append(.init(row: new[start], index: start)) }
            start += 1
        }
        var oldEnd = old.count
        var newEnd = new.count
        while oldEnd > start, newEnd > start, old[oldEnd - 1].hasSameID(as: new[newEnd - 1]) {
            oldEnd -= 1
            newEnd -= 1
        }

        var places: [Row.ID: Int] = [:]
        for index in start..<oldEnd {
            // A server that stores two messages with one id is at fault; even then the steps lead to the rows after.
            if let twin = places.updateValue(index, forKey: old[index].id) {
                result.removed.append(.init(id: old[twin].id, index: twin))
            }
        }
        var kept: [Timeline.KeptRow] = []
        for index in start..<newEnd {
            let row = new[index]
            guard let from = places.removeValue(forKey: row.id) else {
                result.inserted.append(.init(row: row, index: index))
                continue
            }
            kept.append(.init(from: from, to: index, mayMove: old[from].isSend))
            if old[from] != row { result.updated.append(.init(row: row, index: index)) }
        }
        result.removed += places.map { .init(id: $0.key, index: $0.value) }
        result.removed.sort { $0.index < $1.index }
        result.moved = Timeline.outOfOrder(kept).map { .init(id: new[$0.to].id, from: $0.from, to: $0.to) }

        for index in newEnd..<new.count where old[index - newEnd + oldEnd] != new[index] {
            result.updated.append(.init(row: new[index], index: index))
        }
        return result
    }
}

extension Timeline.Row {
    /// True for a row of the outbox: what is stored, and the lines, keep their order among themselves.
    fileprivate var isSend: Bool {
        if case .send = content { true } else { false }
    }
}

extension Timeline {
    /// A row of both views, with its indices.
    fileprivate struct KeptRow {
        let from: Int
        let to: Int
        let mayMove: Bool
    }

    /// Returns the fewest rows of the outbox that must move.
    fileprivate static func outOfOrder(_ kept: [KeptRow]) -> [KeptRow] {
        if zip(kept, kept.dropFirst()).allSatisfy({ $0.from < $1.from }) { return [] }
        let places = standingRight(kept)
        let staying = Set(longestAscent(places.map { kept[$0].from }).map { places[$0] })
        return kept.indices.filter { !staying.contains($0) }.map { kept[$0] }
    }

    /// Returns the indices of all rows that stay, and of those of the outbox between the same two rows that stay as before.
    private static func standingRight(_ kept: [KeptRow]) -> [Int] {
        var isRight = [Bool](repeating: true, count: kept.count)
        var above = -1
        for (index, row) in kept.enumerated() {
            if !row.mayMove { above = row.from } else if row.from < above { isRight[index] = false }
        }
        var below = Int.max
        for (index, row) in kept.enumerated().reversed() {
            if !row.mayMove { below = row.from } else if row.from > below { isRight[index] = false }
        }
        return kept.indices.filter { isRight[$0] }
    }

    /// Returns the indices of a longest ascending sequence of these numbers, which are all different.
    private static func longestAscent(_ numbers: [Int]) -> [Int] {
        // ends[n] is the index of the number that ends an ascending sequence of n + 1 numbers and is lowest.
        var ends: [Int] = []
        var previous = [Int](repeating: -1, count: numbers.count)
        for index in numbers.indices {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < numbers[index] { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var ascent: [Int] = []
        var next = ends.last ?? -1
        while next >= 0 {
            ascent.append(next)
            next = previous[next]
        }
        return ascent.reversed()
    }
}
