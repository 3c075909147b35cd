/// The steps from one list to a later one, by id.
///
/// A list with a diffable data source builds its next snapshot from the ids of the later list and reconfigures the
/// rows in ``updated``. `performBatchUpdates` takes ``removed``, ``moved`` and ``inserted``. A `LazyVStack` needs only
/// the list, because its rows are `Identifiable` and `Hashable`.
public struct ListDifference<Row: Identifiable & Hashable>: Hashable {
    /// A row that is new in the list, or has other content.
    public struct Placed: Hashable {
        /// The row.
        public let row: Row
        /// The index in the later list.
        public let index: Int
    }

    /// A row that has moved among the others.
    public struct Move: Hashable {
        /// The row's id.
        public let id: Row.ID
        /// The index in the earlier list.
        public let from: Int
        /// The index in the later list.
        public let to: Int
    }

    /// A row that was removed.
    public struct Removal: Hashable {
        /// The row's id.
        public let id: Row.ID
        /// The index in the earlier list.
        public let index: Int
    }

    /// The removed rows, by ascending index. In a difference of two views, a row can be both removed and inserted.
    public private(set) var removed: [Removal] = []
    /// The moved rows, by ascending later index.
    public private(set) var moved: [Move] = []
    /// The new rows, by ascending index.
    public private(set) var inserted: [Placed] = []
    /// The rows with changed content, by ascending index. A row can be both moved and updated.
    public private(set) var updated: [Placed] = []

    /// True if both lists are equal.
    public var isEmpty: Bool {
        removed.isEmpty && moved.isEmpty && inserted.isEmpty && updated.isEmpty
    }

    /// Finds the steps between two lists.
    ///
    /// Rows are matched by `id`, and are updated if they are not equal. The cost is one comparison for each unchanged
    /// row at either end of the list, and a table of the rows in between.
    ///
    /// - Parameter mayMove: Returns false for rows that keep their relative order. As few of the others as possible are
    ///   moved.
    public init(from old: [Row], to new: [Row], mayMove: (Row) -> Bool = { _ in true }) {
        self.init(from: old, to: new, order: { mayMove($0) ? .moves : .stays })
    }

    /// The treatment of a row that is not in order with the others.
    enum Order {
        /// It is always in order with the rows of its kind.
        case stays
        /// It moves.
        case moves
        /// It is removed, and inserted at its later place.
        case isReplaced
    }

    init(from old: [Row], to new: [Row], order: (Row) -> Order) {
        // Most changes are in one place, so the equal rows before and after it are skipped.
        var start = 0
        while start < old.count, start < new.count {
            let row = new[start]
            if old[start] != row {
                guard old[start].id == row.id else { break }
                updated.append(Placed(row: row, index: start))
            }
            start += 1
        }
        var oldEnd = old.count
        var newEnd = new.count
        var updatedAtEnd: [Placed] = []
        while oldEnd > start, newEnd > start {
            let row = new[newEnd - 1]
            if old[oldEnd - 1] != row {
                guard old[oldEnd - 1].id == row.id else { break }
                updatedAtEnd.append(Placed(row: row, index: newEnd - 1))
            }
            oldEnd -= 1
            newEnd -= 1
        }

        var places: [Row.ID: Int] = [:]
        for index in start..<oldEnd {
            // No two rows should have one id. If they have, the steps still lead to the later list.
            if let twin = places.updateValue(index, forKey: old[index].id) {
                removed.append(Removal(id: old[twin].id, index: twin))
            }
        }
        var kept: [KeptRow] = []
        for index in start..<newEnd {
            let row = new[index]
            guard let from = places.removeValue(forKey: row.id) else {
                inserted.append(Placed(row: row, index: index))
                continue
            }
            kept.append(KeptRow(from: from, to: index, mayMove: order(old[from]) != .stays))
            if old[from] != row { updated.append(Placed(row: row, index: index)) }
        }
        removed += places.map { Removal(id: $0.key, index: $0.value) }
        for row in KeptRow.outOfOrder(kept) {
            let id = new[row.to].id
            if order(old[row.from]) == .moves {
                moved.append(Move(id: id, from: row.from, to: row.to))
            } else {
                removed.append(Removal(id: id, index: row.from))
                inserted.append(Placed(row: new[row.to], index: row.to))
            }
        }
        removed.sort { $0.index < $1.index }
        inserted.sort { $0.index < $1.index }
        updated += updatedAtEnd.reversed()
    }

    /// Returns the later list, given the earlier one.
    ///
    /// A list does the same with its own rows: it takes out the removed and moved ones, puts in the moved and inserted
    /// ones by ascending index, and replaces the updated ones.
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

extension ListDifference: Sendable where Row: Sendable, Row.ID: Sendable {}
extension ListDifference.Placed: Sendable where Row: Sendable {}
extension ListDifference.Move: Sendable where Row.ID: Sendable {}
extension ListDifference.Removal: Sendable where Row.ID: Sendable {}

/// A row that both lists have, with its indices.
private struct KeptRow {
    let from: Int
    let to: Int
    let mayMove: Bool

    /// Returns the smallest set of rows that must move.
    static func outOfOrder(_ kept: [KeptRow]) -> [KeptRow] {
        if zip(kept, kept.dropFirst()).allSatisfy({ $0.from < $1.from }) { return [] }
        let places = standingRight(kept)
        let staying = Set(longestAscent(places.map { kept[$0].from }).map { places[$0] })
        return kept.indices.filter { !staying.contains($0) }.map { kept[$0] }
    }

    /// Returns the indices of the rows that may stay: those that may not move, and those that are between the same two
    /// of them as before.
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

extension Timeline {
    /// The steps from the rows of one view to those of a later one.
    public typealias Difference = ListDifference<Row>
}

extension Timeline.View {
    /// Returns the steps from an earlier view's rows to this view's rows.
    ///
    /// Only a row of the outbox moves: to its place when it is stored, or to the end when the user sends it again. A day
    /// line or the unread line that has moved is in ``ListDifference/removed`` and ``ListDifference/inserted``. The cost is one pointer comparison for each unchanged row at either end of the list, and a table of the rows in
    /// between.
    public func difference(from earlier: Timeline.View) -> Timeline.Difference {
        Timeline.Difference(
            from: earlier.rows, to: rows,
            order: { row in
                switch row.content {
                case .message: .stays
                case .send: .moves
                case .dayLine, .unreadLine: .isReplaced
                }
            })
    }
}
