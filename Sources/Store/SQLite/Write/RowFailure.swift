import CSQLite
import Wire

/// The failure of a transaction because a row or a page of the database is damaged or contradicts what is to be
/// written.
///
/// SQLite commits nothing of a transaction that has met a damaged page. Operators are promised that a damaged room stops
/// no other (`docs/operations.md`, "A damaged database"). So the writer finds the cause, excludes it, and repeats the
/// transaction:
///
/// - A room whose messages cannot be filed, or that a send cannot read, is quarantined. It is read-only (503
///   `room_unavailable`) until the log is opened again. Its acknowledged messages stay in the journal, in a row of
///   their own, where they can be read.
/// - Any other submission that cannot be applied is refused alone.
///
/// Other failures, such as a full disk or a damaged journal, concern all submissions of a commit.
struct RowFailure: Error, CustomStringConvertible {
    /// The rooms of which at least one may be damaged; empty if no room is known to be.
    var rooms: [RoomID]
    /// The index of the submission that was being applied; `nil` if none was.
    var submission: Int?
    let cause: SQLiteError

    var description: String { "\(cause)" }

    /// Runs `body`, and throws a failure of these rooms if rows are damaged.
    static func of<R>(_ rooms: @autoclosure () -> [RoomID], _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as SQLiteError where error.isOfRows {
            throw RowFailure(rooms: rooms(), cause: error)
        }
    }
}

extension SQLiteError {
    /// True if a page or a row caused the error, so that a transaction without it may succeed.
    var isOfRows: Bool { isDamage || code == SQLITE_CONSTRAINT }

    /// The error of a change to a room that is quarantined.
    static var quarantined: SQLiteError {
        SQLiteError.damage("a damaged room is read-only")
    }
}
