/// The rows of the journal, and the choice of those that a commit deletes.
///
/// Rows are deleted oldest first: a row with unfiled messages keeps all rows after it. So the messages of rows beyond
/// the limits must be filed, see ``oldest``. Each commit deletes only a few rows, because SQLite overwrites what it
/// deletes with zeros (`secure_delete`), and senders wait for that.
///
/// A plain value.
struct JournalRows {
    private let limits: Journal.Limits
    private var rows: [(number: Int64, bytes: Int)] = []
    /// The index in `rows` of the first one that has not been deleted.
    private var head = 0
    /// The index in `rows` of the first one that is within the limits. The newest row always counts as within them.
    private var firstWithin = 0
    private var bytes = 0
    private var bytesWithin = 0
    /// The number of the next row.
    private(set) var next: Int64 = 1

    init(_ limits: Journal.Limits) {
        self.limits = limits
    }

    /// The number of rows.
    var count: Int { rows.count - head }

    /// The first row; ``next`` if there is none.
    var first: Int64 { number(at: head) }

    /// The first row within the limits. Rooms with messages in earlier rows must be filed.
    var oldest: Int64 { number(at: firstWithin) }

    /// Records that a commit has added this row, the newest.
    mutating func append(_ number: Int64, bytes: Int) {
        rows.append((number, bytes))
        next = number + 1
        self.bytes += bytes
        bytesWithin += bytes
        while firstWithin < rows.count - 1, bytesWithin > limits.rowBytes {
            bytesWithin -= rows[firstWithin].bytes
            firstWithin += 1
        }
    }

    /// Returns the first row that a commit keeps; it deletes those before.
    ///
    /// - Parameters:
    ///   - needed: The first row with unfiled messages; `nil` if none has any.
    ///   - added: The bytes of the row that the commit adds; 0 if it adds none.
    func firstLeft(needed: Int64?, adding added: Int) -> Int64 {
        let end = needed ?? next
        let isSlow = added > 0 && bytes <= limits.rowBytes
        let obsolete = Int(clamping: end - first)
        let most = isSlow ? max(CommitLimits.replacedRows, obsolete / CommitLimits.rowsOfDeletion) : .max
        let mostBytes = max(CommitLimits.deletedBytes, 2 * added)
        var (index, freed) = (head, 0)
        while index < rows.count, rows[index].number < end, index - head < min(most, CommitLimits.deletedRows),
            index - head < CommitLimits.replacedRows || freed < mostBytes
        {
            freed += rows[index].bytes
            index += 1
        }
        return number(at: index)
    }

    /// Records that a commit has deleted the rows before this one.
    mutating func removeAll(before number: Int64) {
        while head < rows.count, rows[head].number < number {
            bytes -= rows[head].bytes
            if firstWithin == head {
                bytesWithin -= rows[head].bytes
                firstWithin += 1
            }
            head += 1
        }
        // Each row is moved at most once.
        guard head > rows.count / 2 else { return }
        rows.removeFirst(head)
        firstWithin -= head
        head = 0
    }

    private func number(at index: Int) -> Int64 {
        index < rows.count ? rows[index].number : next
    }
}

/// The bounds of what one commit does with the journal.
extension CommitLimits {
    /// Number of messages after which it files no further room, counted apart for full rooms and for overdue ones.
    static let filedMessages = 256
    /// Number of bytes after which it files no further overdue room: 1 MiB.
    static let filedBytes = 1024 * 1024
    /// Maximum number of journal rows that it deletes.
    static let deletedRows = 256
    /// Number of bytes after which it deletes no further journal row: 1 MiB, or twice the bytes that it adds.
    static let deletedBytes = 1024 * 1024
    /// Number of journal rows that it deletes whatever their size. The new row takes over their pages.
    static let replacedRows = 2
    /// Divisor for obsolete journal rows: a commit that adds a row deletes one in 32, or ``replacedRows`` if more.
    static let rowsOfDeletion = 32
}
