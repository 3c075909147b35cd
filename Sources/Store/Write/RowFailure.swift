import GRDB
import Wire

/// A transaction that failed because a row or a page of the database is damaged or contradicts what is to be written.
///
/// SQLite commits nothing of a transaction in which it has met a damaged page. So the writer finds out what is to blame,
/// keeps it apart, and makes the transaction anew without it:
///
/// - A room whose messages cannot be put in their places, or that a send finds unreadable, is set aside. It takes no changes
///   (503 `room_unavailable`) until the log is opened the next time. What was acknowledged stays in the journal, in a row of
///   its own, where it can be read.
/// - Any other submission that cannot be applied is refused by itself.
///
/// Failures that have neither cause, such as a full disk or a damaged journal, concern all submissions of a commit.
struct RowFailure: Error, CustomStringConvertible {
    /// The room to be set aside; `nil` when no room is known to be damaged.
    var room: RoomID?
    /// The index of the submission that was being applied; `nil` when none was.
    var submission: Int?
    let cause: DatabaseError

    var description: String { "\(cause)" }

    /// Does what `body` does, and throws a failure of the room when its rows are damaged.
    static func of<R>(_ room: RoomID?, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as DatabaseError where error.isOfRows {
            throw RowFailure(room: room, cause: error)
        }
    }
}

extension DatabaseError {
    /// True if a page or a row is to blame, so that a transaction without it may succeed.
    var isOfRows: Bool { resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_CONSTRAINT }

    /// The room is set aside.
    static var setAside: DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a damaged room takes no changes")
    }
}
