extension Timeline {
    /// The rows of the view. An event costs only the rows that it changes.
    ///
    /// The rows are a body and a tail. The body has the rows of the window and its lines; the tail has the rows of the
    /// outbox. A change in more than one place, such as a page before the window, makes the list stale, and
    /// ``setBody(_:first:unreadAt:)`` rebuilds it.
    struct RowList: Sendable {
        private(set) var rows: [Row] = []
        /// The number of rows in the body.
        private var bodyCount = 0
        /// The indices of day lines and of the unread line in the body, ascending.
        private var lines: [Int] = []
        /// The latest day that has a line in the body.
        private var lastDay = Int64.min
        /// The `seq` of the body's first message.
        private var first: Int64 = 0
        /// The `seq` before which the unread line stands, if that message is in the window.
        private(set) var unreadAt: Int64?
        /// True if the body must be rebuilt.
        var isStale = false
        /// True if the tail must be rebuilt.
        var isTailStale = false

        /// Rebuilds the body, and drops the tail. Each row of the body comes with its day.
        mutating func setBody(_ body: [(row: Row, day: Int64)], first: Int64, unreadAt: Int64?) {
            rows.removeAll(keepingCapacity: true)
            lines.removeAll(keepingCapacity: true)
            bodyCount = 0
            lastDay = .min
            self.first = first
            self.unreadAt = unreadAt
            isStale = false
            for (index, (row, day)) in body.enumerated() { append(row, seq: first + Int64(index), day: day) }
            isTailStale = true
        }

        /// Adds the row of a message at the end of the body, with the lines before it.
        mutating func append(_ row: Row, seq: Int64, day: Int64) {
            if day > lastDay {
                lines.append(bodyCount)
                insert(.day(Day(daysSince1970: day)))
                lastDay = day
                isTailStale = true
            }
            if seq == unreadAt {
                lines.append(bodyCount)
                insert(.unreadLine)
            }
            insert(row)
        }

        /// Replaces the row of a message that is in the body.
        mutating func replace(_ row: Row, seq: Int64) {
            rows[index(of: seq)] = row
        }

        /// Returns the row of a message that is in the body.
        func row(seq: Int64) -> Row {
            rows[index(of: seq)]
        }

        private func index(of seq: Int64) -> Int {
            let place = Int(seq - first)
            // The message comes after each line that has at most `place` messages before it.
            var low = 0
            var high = lines.count
            while low < high {
                let middle = (low + high) / 2
                if lines[middle] - middle <= place { low = middle + 1 } else { high = middle }
            }
            return place + low
        }

        /// Rebuilds the tail. Each of its rows comes with its day.
        mutating func setTail(_ tail: [(row: Row, day: Int64)]) {
            isTailStale = false
            rows.removeLast(rows.count - bodyCount)
            var lastDay = lastDay
            for (row, day) in tail {
                if day > lastDay {
                    rows.append(.day(Day(daysSince1970: day)))
                    lastDay = day
                }
                if let seq = row.seq, seq == unreadAt { rows.append(.unreadLine) }
                rows.append(row)
            }
        }

        private mutating func insert(_ row: Row) {
            rows.insert(row, at: bodyCount)
            bodyCount += 1
        }
    }
}
