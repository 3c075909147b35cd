import Chat
import Wire

/// Statements about users who are being erased.
enum Erasures {
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
        (NOT EXISTS (SELECT 1 FROM erasures WHERE erasures."user" = \(user) AND erasures.erased = 0)
            OR EXISTS (SELECT 1 FROM returns WHERE returns."user" = \(user) AND returns.room = \(room)))
        """
    }
}

// MARK: - Progress

extension SQLDatabase {
    /// Returns the progress of a user's erasure; `nil` if the user was never erased.
    func erasureStatus(of user: UserID) throws -> ErasureStatus? {
        try first("SELECT erased, messages FROM erasures WHERE \"user\" = $1", user) { row in
            ErasureStatus(user: user, state: row.integer(0) == 1 ? .erased : .erasing, messages: row.integer(1))
        }
    }

    /// Records that a user was erased in the database that an import comes from, unless an erasure is known. It explains
    /// mentions without effect.
    func noteErased(_ user: UserID) throws {
        try runSoon(
            "INSERT INTO erasures (\"user\", erased, messages) VALUES ($1, 1, 0) ON CONFLICT DO NOTHING", user)
    }

    /// Returns true if a user was erased, or is about to be.
    func wasErased(_ user: UserID) throws -> Bool {
        try has("SELECT 1 FROM erasures WHERE \"user\" = $1", user)
    }

    /// Returns the users who are being erased.
    func unfinishedErasures() throws -> Set<UserID> {
        Set(try all("SELECT \"user\" FROM erasures WHERE erased = 0") { UserID(trusted: $0.text(0)) })
    }

    /// Records that a user is to be erased. Starts over if that is already under way.
    func beginErasure(of user: UserID) throws {
        try runSoon(
            """
            INSERT INTO erasures ("user", erased, messages) VALUES ($1, 0, 0)
            ON CONFLICT ("user") DO UPDATE
                SET messages = CASE erasures.erased WHEN 1 THEN 0 ELSE erasures.messages END, erased = 0
            """, user)
        try deleteBoundaries(of: user)
    }

    /// Adds a message that has become a tombstone.
    func countErasedMessage(of user: UserID) throws {
        try runSoon("UPDATE erasures SET messages = messages + 1 WHERE \"user\" = $1", user)
    }

    /// Records that nothing of a user is left.
    func finishErasure(of user: UserID) throws {
        try runSoon("UPDATE erasures SET erased = 1 WHERE \"user\" = $1", user)
        try removePushes(to: user)
        try deleteBoundaries(of: user)
    }

    // MARK: Boundaries

    /// Returns a user's boundary in a room: the last `seq` and revision that count as the erased user's. Returns `nil`
    /// if everything there is the erased user's.
    func boundary(of user: UserID, in room: Int64) throws -> Facts.Boundary? {
        try first("SELECT seq, rev FROM returns WHERE \"user\" = $1 AND room = $2", user, room) {
            Facts.Boundary(seq: $0.integer(0), rev: $0.integer(1))
        }
    }

    func setBoundary(_ boundary: Facts.Boundary, of user: UserID, in room: Int64) throws {
        try runSoon(
            "INSERT INTO returns (\"user\", room, seq, rev) VALUES ($1, $2, $3, $4)", user, room, boundary.seq,
            boundary.rev)
    }

    private func deleteBoundaries(of user: UserID) throws {
        try runSoon("DELETE FROM returns WHERE \"user\" = $1", user)
    }
}

// MARK: - A user's data

extension SQLDatabase {
    /// Returns at most `most` rooms that a user is a member of and has no boundary in.
    func memberships(toErase user: UserID, most: Int) throws -> [Int64] {
        try all(
            """
            SELECT room FROM members WHERE "user" = $1
                AND NOT EXISTS (SELECT 1 FROM returns WHERE returns."user" = $1 AND returns.room = members.room)
            LIMIT $2
            """, user, most
        ) { $0.integer(0) }
    }

    /// Deletes at most `most` rows of a user from each of ``StoredTable/ofUsersInRooms``, in rooms without a boundary.
    ///
    /// - Returns: false once all are gone.
    func deleteMarks(of user: UserID, most: Int) throws -> Bool {
        let counts = try StoredTable.ofUsersInRooms.map { table in
            try runCounting(
                """
                DELETE FROM \(table.name) WHERE "user" = $1 AND room IN (
                    SELECT room FROM \(table.name) AS marks WHERE "user" = $1 AND NOT EXISTS (
                        SELECT 1 FROM returns WHERE returns."user" = $1 AND returns.room = marks.room) LIMIT $2)
                """, user, most)
        }
        return counts.contains(most)
    }

    /// Searches the next rows for messages of a user.
    ///
    /// - Parameters:
    ///   - row: the row after which the search starts.
    ///   - rows: maximum number of rows to search.
    ///   - most: maximum number of messages to find; the search stops there.
    /// - Returns: the messages found, and the last row searched; `nil` if no rows are left.
    func messages(
        of user: UserID, after row: Int64, rows: Int, most: Int
    ) throws -> (found: [RowKey], last: Int64?) {
        let select = try prepare("SELECT id, sender = $1 FROM messages WHERE id > $2 ORDER BY id LIMIT $3")
        try select.bind(user.string, at: 1)
        try select.bind(row, at: 2)
        try select.bind(Int64(rows), at: 3)
        var found: [RowKey] = []
        var last: Int64?
        try select.withRows { row in
            while row.hasRow, found.count < most {
                last = row.integer(0)
                if row.integer(1) == 1 { found.append(RowKey(rawValue: last!)) }
                try row.next()
            }
        }
        return (found, last)
    }

    /// Clears the sender in the row of a tombstone, and deletes the hash of its first content.
    func clearSender(of message: RowKey) throws {
        try runSoon(
            "UPDATE messages SET sender = '\(UserID.deleted)', client_message_id = NULL WHERE id = $1", message)
        try runSoon("DELETE FROM first_contents WHERE message = $1", message)
    }

    /// Returns the next message after `row` that has reactions, whoever reacted.
    func nextReacted(after row: Int64) throws -> RowKey? {
        try first("SELECT message FROM reactions WHERE message > $1 ORDER BY message LIMIT 1", row) {
            RowKey(rawValue: $0.integer(0))
        }
    }

    /// Returns the keys of all reactions to a message. Costs one search for each key, however many users reacted.
    func reactionKeys(of message: RowKey) throws -> [ReactionKey] {
        var keys: [ReactionKey] = []
        // Every key sorts after a space, because no key contains one.
        var last = " "
        while let key = try first(
            "SELECT key FROM reactions WHERE message = $1 AND key > $2 ORDER BY key LIMIT 1", message, last,
            row: { $0.text(0) })
        {
            keys.append(try ReactionKey(key))
            last = key
        }
        return keys
    }
}
