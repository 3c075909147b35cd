import Chat
import Wire

/// A statement that selects the progress of erasures, for readers and the writer.
///
/// Confined to its connection.
final class ErasureStatusStatement {
    private let select: PreparedStatement
    private let selectIsFormer: PreparedStatement

    init(_ db: Connection) throws {
        select = try PreparedStatement("SELECT erased, messages FROM erasures WHERE user = ?", db)
        selectIsFormer = try PreparedStatement(
            """
            SELECT 1 FROM erasures WHERE user = ?1 AND erased = 0
                AND NOT EXISTS (SELECT 1 FROM returns WHERE returns.user = ?1 AND room = ?2 AND seq < ?3)
            """, db)
    }

    /// Returns true if a message was sent before the erasure that its sender waits for. Whoever has the name since then
    /// is another user, to whom the message does not belong.
    func isFormer(_ seq: Int64, in room: Int64, of sender: UserID) throws -> Bool {
        try selectIsFormer.bind(sender.string, at: 1)
        try selectIsFormer.bind(room, at: 2)
        try selectIsFormer.bind(seq, at: 3)
        return try selectIsFormer.firstRow { _ in true } ?? false
    }

    /// Returns the progress of a user's erasure; `nil` if the user was never erased.
    func status(of user: UserID) throws -> ErasureStatus? {
        try select.bind(user.string, at: 1)
        return try select.firstRow { row in
            ErasureStatus(user: user, state: row.integer(0) == 1 ? .erased : .erasing, messages: row.integer(1))
        }
    }
}

/// The writer's statements that erase users.
///
/// Confined to its connection.
final class ErasureStatements {
    let status: ErasureStatusStatement
    private let selectUnfinished: PreparedStatement
    private let begin: PreparedStatement
    private let finish: PreparedStatement
    private let count: PreparedStatement
    private let selectBoundary: PreparedStatement
    private let insertBoundary: PreparedStatement
    private let deleteBoundaries: PreparedStatement
    private let selectMemberships: PreparedStatement
    private let deleteMark: PreparedStatement
    private let deleteMarks: PreparedStatement
    private let selectMessages: PreparedStatement
    private let clearSender: PreparedStatement
    private let deleteFirstContent: PreparedStatement
    private let selectReacted: PreparedStatement
    private let selectKey: PreparedStatement
    private let selectReaction: PreparedStatement

    init(_ db: Connection) throws {
        status = try ErasureStatusStatement(db)
        selectUnfinished = try PreparedStatement("SELECT user FROM erasures WHERE erased = 0", db)
        begin = try PreparedStatement(
            """
            INSERT INTO erasures (user, erased, messages) VALUES (?, 0, 0)
            ON CONFLICT (user) DO UPDATE
                SET messages = CASE erasures.erased WHEN 1 THEN 0 ELSE erasures.messages END, erased = 0
            """, db)
        finish = try PreparedStatement("UPDATE erasures SET erased = 1 WHERE user = ?", db)
        count = try PreparedStatement("UPDATE erasures SET messages = messages + ? WHERE user = ?", db)
        selectBoundary = try PreparedStatement("SELECT seq, rev FROM returns WHERE user = ? AND room = ?", db)
        insertBoundary = try PreparedStatement("INSERT INTO returns (user, room, seq, rev) VALUES (?, ?, ?, ?)", db)
        deleteBoundaries = try PreparedStatement("DELETE FROM returns WHERE user = ?", db)
        selectMemberships = try PreparedStatement(
            """
            SELECT room FROM members WHERE user = ?1
                AND NOT EXISTS (SELECT 1 FROM returns WHERE returns.user = ?1 AND returns.room = members.room)
            LIMIT ?2
            """, db)
        deleteMark = try PreparedStatement("DELETE FROM read_marks WHERE user = ? AND room = ?", db)
        deleteMarks = try PreparedStatement(
            """
            DELETE FROM read_marks WHERE user = ?1 AND room IN (SELECT room FROM read_marks AS marks WHERE user = ?1
                AND NOT EXISTS (SELECT 1 FROM returns WHERE returns.user = ?1 AND returns.room = marks.room) LIMIT ?2)
            """, db)
        selectMessages = try PreparedStatement(
            "SELECT id, sender = ? FROM messages WHERE id > ? ORDER BY id LIMIT ?", db)
        clearSender = try PreparedStatement(
            "UPDATE messages SET sender = '\(UserID.deleted)', client_message_id = NULL WHERE id = ?", db)
        deleteFirstContent = try PreparedStatement("DELETE FROM first_contents WHERE message = ?", db)
        selectReacted = try PreparedStatement(
            "SELECT message FROM reactions WHERE message > ? ORDER BY message LIMIT 1", db)
        selectKey = try PreparedStatement(
            "SELECT key FROM reactions WHERE message = ? AND key > ? ORDER BY key LIMIT 1", db)
        selectReaction = try PreparedStatement(
            "SELECT rev FROM reactions WHERE message = ? AND key = ? AND user = ?", db)
    }

    // MARK: Progress

    /// Returns a condition on a row of a user in a room, such as a membership: true unless the row is that of an erased
    /// user and waits for its removal. Once somebody comes back to a room under the name, the rows there are theirs.
    ///
    /// For one user it costs one search. Every read of memberships and read marks has it, so that they count as removed
    /// as soon as the erasure has begun.
    ///
    /// - Parameters:
    ///   - user: The column or parameter with the user.
    ///   - room: The column or parameter with the room's number.
    static func isPresent(_ user: String, in room: String) -> String {
        """
        (NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.user = \(user) AND erasures.erased = 0)
            OR EXISTS (SELECT 1 FROM returns WHERE returns.user = \(user) AND returns.room = \(room)))
        """
    }

    /// Returns the users who are being erased.
    func unfinished() throws -> Set<UserID> {
        Set(try selectUnfinished.allRows { UserID(trusted: $0.text(0)) })
    }

    /// Records that a user is to be erased. Starts over if that is already under way.
    func begin(_ user: UserID) throws {
        for statement in [begin, deleteBoundaries] {
            try statement.bind(user.string, at: 1)
            try statement.run()
        }
    }

    /// Adds to the number of messages that have become tombstones.
    func count(_ messages: Int, of user: UserID) throws {
        try count.bind(Int64(messages), at: 1)
        try count.bind(user.string, at: 2)
        try count.run()
    }

    /// Records that nothing of a user is left.
    func finish(_ user: UserID) throws {
        for statement in [finish, deleteBoundaries] {
            try statement.bind(user.string, at: 1)
            try statement.run()
        }
    }

    // MARK: Boundaries

    /// Returns a user's boundary in a room: the last `seq` and revision that count as the erased user's. Returns `nil`
    /// if everything there is the erased user's.
    func boundary(of user: UserID, in room: Int64) throws -> Facts.Boundary? {
        try selectBoundary.bind(user.string, at: 1)
        try selectBoundary.bind(room, at: 2)
        return try selectBoundary.firstRow { Facts.Boundary(seq: $0.integer(0), rev: $0.integer(1)) }
    }

    func setBoundary(_ boundary: Facts.Boundary, of user: UserID, in room: Int64) throws {
        try insertBoundary.bind(user.string, at: 1)
        try insertBoundary.bind(room, at: 2)
        try insertBoundary.bind(boundary.seq, at: 3)
        try insertBoundary.bind(boundary.rev, at: 4)
        try insertBoundary.run()
    }

    // MARK: A user's data

    /// Returns at most `most` rooms that a user is a member of and has no boundary in.
    func memberships(of user: UserID, most: Int) throws -> [Int64] {
        try selectMemberships.bind(user.string, at: 1)
        try selectMemberships.bind(Int64(most), at: 2)
        return try selectMemberships.allRows { $0.integer(0) }
    }

    func deleteMark(of user: UserID, in room: Int64) throws {
        try deleteMark.bind(user.string, at: 1)
        try deleteMark.bind(room, at: 2)
        try deleteMark.run()
    }

    /// Deletes at most `most` read marks of a user in rooms without a boundary.
    ///
    /// - Returns: the number of read marks deleted.
    func deleteMarks(of user: UserID, most: Int) throws -> Int {
        try deleteMarks.bind(user.string, at: 1)
        try deleteMarks.bind(Int64(most), at: 2)
        return try deleteMarks.runCounting()
    }

    /// Searches the next rows for messages of a user.
    ///
    /// - Parameters:
    ///   - place: the row after which the search starts.
    ///   - rows: maximum number of rows to search.
    ///   - most: maximum number of messages to find; the search stops there.
    /// - Returns: the messages found, and the last row searched; `nil` if no rows are left.
    func messages(
        of user: UserID, after place: Int64, rows: Int, most: Int
    ) throws -> (found: [RowKey], last: Int64?) {
        try selectMessages.bind(user.string, at: 1)
        try selectMessages.bind(place, at: 2)
        try selectMessages.bind(Int64(rows), at: 3)
        var found: [RowKey] = []
        var last: Int64?
        try selectMessages.withRows { rows in
            while rows.hasRow, found.count < most {
                last = rows.row.integer(0)
                if rows.row.integer(1) == 1 { found.append(RowKey(rawValue: last!)) }
                try rows.next()
            }
        }
        return (found, last)
    }

    /// Clears the sender in the row of a tombstone, and deletes the hash of its first content.
    func clearSender(of message: RowKey) throws {
        for statement in [clearSender, deleteFirstContent] {
            try statement.bind(message.rawValue, at: 1)
            try statement.run()
        }
    }

    /// Returns the next message after `place` that has reactions, whoever reacted.
    func nextReacted(after place: Int64) throws -> RowKey? {
        try selectReacted.bind(place, at: 1)
        return try selectReacted.firstRow { RowKey(rawValue: $0.integer(0)) }
    }

    /// Returns the keys of all reactions to a message. Costs one search for each key, however many users reacted.
    func keys(of message: RowKey) throws -> [ReactionKey] {
        var keys: [ReactionKey] = []
        var last = ""
        while true {
            try selectKey.bind(message.rawValue, at: 1)
            // Every key sorts after a space, because no key contains one.
            try selectKey.bind(last.isEmpty ? " " : last, at: 2)
            guard let key = try selectKey.firstRow({ $0.text(0) }) else { return keys }
            keys.append(try ReactionKey(key))
            last = key
        }
    }

    /// Returns the room's revision at which a user reacted to a message; `nil` if there is no such reaction.
    func rev(of key: ReactionKey, by user: UserID, to message: RowKey) throws -> Int64? {
        try selectReaction.bind(message.rawValue, at: 1)
        try selectReaction.bind(key.string, at: 2)
        try selectReaction.bind(user.string, at: 3)
        return try selectReaction.firstRow { $0.integer(0) }
    }
}
