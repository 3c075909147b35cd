extension Timeline {
    /// The steps from the rows of one view to those of a later one.
    ///
    /// A list with a diffable data source builds its next snapshot from ``View/rows`` and reconfigures the items in
    /// ``updated``. `performBatchUpdates` takes ``removed``, ``moved`` and ``inserted``. A `LazyVStack` needs only the
    /// rows, because they are `Identifiable` and `Hashable`.
    public struct Difference: Hashable, Sendable {
        /// A new row in the list.
        public struct Insertion: Hashable, Sendable {
            /// The row.
            public let row: Row
            /// The index in the later rows.
            public let index: Int
        }

        /// A row that has moved among the others.
        public struct Move: Hashable, Sendable {
            /// The row's id.
            public let id: Row.ID
            /// The index in the earlier rows.
            public let from: Int
            /// The index in the later rows.
            public let to: Int
        }

        /// A row with changed content.
        public struct Update: Hashable, Sendable {
            /// The row.
            public let row: Row
            /// The index in the later rows.
            public let index: Int
        }

        /// A row that was removed.
        public struct Removal: Hashable, Sendable {
            /// The row's id.
            public let id: Row.ID
            /// The index in the earlier rows.
            public let index: Int
        }

        /// The removed rows, by ascending index.
        public internal(set) var removed: [Removal] = []
        /// The moved rows, by ascending later index. Only a row of the outbox moves: to its place when it is stored, or
        /// to the end when the user sends it again.
        public internal(set) var moved: [Move] = []
        /// The new rows, by ascending index.
        public internal(set) var inserted: [Insertion] = []
        /// The rows with changed content, by ascending index. A row can be both moved and updated.
        public internal(set) var updated: [Update] = []

        /// True if the views show the same rows.
        public var isEmpty: Bool {
            removed.isEmpty && moved.isEmpty && inserted.isEmpty && updated.isEmpty
        }

        /// Returns the later rows, given the earlier ones.
        ///
        /// A list does the same with its own items: it takes out the removed and moved ones, puts in the moved and
        /// inserted ones by ascending index, and replaces the updated ones.
        public func applied(to rows: [Row]) -> [Row] {
            var isGone = [Bool](repeating: false, count: rows.count)
            for removal in removed { isGone[removal.index] = true }
            for move in moved { isGone[move.from] = true }
            let kept = rows.indices.filter { !isGone[$0] }

            // The rows to put in, by ascending index. Moved rows are not updated yet.
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
    /// Returns the steps from an earlier view's rows to this view's rows.
    ///
    /// Rows are matched by `id`, and are updated if they are not equal. The cost is one pointer comparison for each
    /// unchanged row at either end of the list, and a table of the rows in between.
    public func difference(from earlier: Timeline.View) -> Timeline.Difference {
        typealias Row = Timeline.Row
        let old = earlier.rows
        let new = rows
        var result = Timeline.Difference()

        // Most changes are in one place, so the equal rows before and after it are skipped.
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
            // A server must not store two messages with one id. If it does, the steps still lead to the later rows.
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
    /// True for a row of the outbox. Stored messages and lines keep their relative order.
    fileprivate var isSend: Bool {
        if case .send = content { true } else { false }
    }
}

extension Timeline {
    /// A row that both views have, with its indices.
    fileprivate struct KeptRow {
        let from: Int
        let to: Int
        let mayMove: Bool
    }

    /// Returns the smallest set of outbox rows that must move.
    fileprivate static func outOfOrder(_ kept: [KeptRow]) -> [KeptRow] {
        if zip(kept, kept.dropFirst()).allSatisfy({ $0.from < $1.from }) { return [] }
        let places = standingRight(kept)
        let staying = Set(longestAscent(places.map { kept[$0].from }).map { places[$0] })
        return kept.indices.filter { !staying.contains($0) }.map { kept[$0] }
    }

    /// Returns the indices of the rows that may stay: all rows except those of the outbox, and the outbox rows that are
    /// between the same two rows as before.
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

    /// Returns the indices of a longest ascending subsequence of these numbers, which are all different.
    private static func longestAscent(_ numbers: [Int]) -> [Int] {
        // ends[n] is the index of the smallest number that ends an ascending sequence of n + 1 numbers.
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
