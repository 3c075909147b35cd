/// Which rows the journal has, how many of them may be needed, and which of them a commit deletes.
///
/// Rows go from the oldest on, as the first one that is needed keeps those behind it. So what is in that one must not wait for
/// ever: rows that are not within the bounds are to be filed, see ``oldest``. What is not needed goes a little at a time,
/// since all that is deleted is overwritten with zeros, which senders wait for.
///
/// A plain value.
struct JournalRows {
    /// How much may be needed, but for the newest row.
    struct Limits {
        var rows: Int
        var bytes: Int
    }

    /// The most rows that one commit deletes.
    static let mostDeleted = 256
    /// The number of bytes that one commit deletes, 1 MiB, and what the last row has more, but two rows in any case;
    /// where many are added, twice as many.
    static let bytesDeleted = 1024 * 1024
    /// The number of rows that a commit deletes when it adds one, before it does. The one that it adds takes their
    /// pages; those of more rows would be overwritten with zeros, and written once more when they are taken.
    static let rowsReplaced = 2
    /// Of how many rows that are not needed a commit that adds one deletes one, where that is more than ``rowsReplaced``. So
    /// 16,384 rows go within some two hundred commits, and those of a busy room two at a time.
    static let rowsOfDeletion = 32

    private let limits: Limits
    private var rows: [(number: Int64, bytes: Int)] = []
    /// Where in `rows` the first one is that has not been deleted.
    private var head = 0
    /// Where in `rows` the first one is that is within the bounds.
    private var firstWithin = 0
    private var bytes = 0
    private var bytesWithin = 0
    /// The number of the next row.
    private(set) var next: Int64 = 1

    init(_ limits: Limits) {
        self.limits = limits
    }

    /// How many there are.
    var count: Int { rows.count - head }

    /// The first one; ``next`` when there is none.
    var first: Int64 { number(at: head) }

    /// The first row within the bounds: rooms whose messages begin in one before it are to be filed.
    var oldest: Int64 { number(at: firstWithin) }

    /// A commit has added this row, the newest.
    mutating func append(_ number: Int64, bytes: Int) {
        rows.append((number, bytes))
        next = number + 1
        self.bytes += bytes
        bytesWithin += bytes
        while firstWithin < rows.count - 1, rows.count - firstWithin > limits.rows || bytesWithin > limits.bytes {
            bytesWithin -= rows[firstWithin].bytes
            firstWithin += 1
        }
    }

    /// The first row that a commit leaves there.
    ///
    /// - Parameters:
    ///   - needed: the first that is needed; `nil` when none is.
    ///   - added: the bytes of the row that it adds; 0 when it adds none.
    func firstLeft(needed: Int64?, adding added: Int) -> Int64 {
        let end = needed ?? next
        let isSlow = added > 0 && bytes <= limits.bytes
        let spent = Int(clamping: end - first)
        let most = isSlow ? max(Self.rowsReplaced, spent / Self.rowsOfDeletion) : .max
        let mostBytes = max(Self.bytesDeleted, 2 * added)
        var (index, freed) = (head, 0)
        while index < rows.count, rows[index].number < end, index - head < min(most, Self.mostDeleted),
            index - head < Self.rowsReplaced || freed < mostBytes
        {
            freed += rows[index].bytes
            index += 1
        }
        return number(at: index)
    }

    /// A commit has deleted the rows before this one.
    mutating func removeAll(before number: Int64) {
        while head < rows.count, rows[head].number < number {
            bytes -= rows[head].bytes
            if firstWithin == head {
                bytesWithin -= rows[head].bytes
                firstWithin += 1
            }
            head += 1
        }
        // Moved once at most, each.
        guard head > rows.count / 2 else { return }
        rows.removeFirst(head)
        firstWithin -= head
        head = 0
    }

    private func number(at index: Int) -> Int64 {
        index < rows.count ? rows[index].number : next
    }
}
