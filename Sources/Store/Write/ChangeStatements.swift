import GRDB
import Wire

/// The writer's statements for messages that are changed.
///
/// Confined to the writer's connection.
final class ChangeStatements {
    private let db: Database
    private let selectMessage: PreparedStatement
    private let updateMessage: PreparedStatement
    private let insertFingerprint: PreparedStatement
    private let selectFingerprint: PreparedStatement
    private let insertReaction: PreparedStatement
    private let deleteReaction: PreparedStatement
    private let selectUsers: PreparedStatement
    private let deleteReactions: PreparedStatement
    private let deleteSomeReactions: PreparedStatement
    private let fingerprinter: Fingerprinter

    init(_ db: Database) throws {
        self.db = db
        selectMessage = try PreparedStatement("SELECT body FROM messages WHERE id = ?", db)
        updateMessage = try PreparedStatement("UPDATE messages SET changed = ?, body = ? WHERE id = ?", db)
        insertFingerprint = try PreparedStatement("INSERT INTO first_contents (message, fingerprint) VALUES (?, ?)", db)
        selectFingerprint = try PreparedStatement("SELECT fingerprint FROM first_contents WHERE message = ?", db)
        insertReaction = try PreparedStatement(
            "INSERT OR IGNORE INTO reactions (message, key, user, rev) VALUES (?, ?, ?, ?)", db)
        deleteReaction = try PreparedStatement("DELETE FROM reactions WHERE message = ? AND key = ? AND user = ?", db)
        selectUsers = try PreparedStatement(
            "SELECT user FROM reactions WHERE message = ? AND key = ? ORDER BY rev LIMIT \(Limits.reactionUsers)", db)
        deleteReactions = try PreparedStatement("DELETE FROM reactions WHERE message = ?", db)
        deleteSomeReactions = try PreparedStatement(
            """
            DELETE FROM reactions WHERE message = ?1
                AND (key, user) IN (SELECT key, user FROM reactions WHERE message = ?1 LIMIT ?2)
            """, db)
        fingerprinter = try Fingerprinter(db)
    }

    // MARK: Messages

    /// The snapshot of a message that is in its place.
    func message(_ id: RowKey) throws -> [UInt8]? {
        try selectMessage.bind(id.rawValue, at: 1)
        return try selectMessage.firstRow { $0.bytes(0) }
    }

    /// Gives a message that is in its place another snapshot, of the revision of `change`.
    func update(_ id: RowKey, change: RowKey, _ body: [UInt8]) throws {
        try updateMessage.bind(change.rawValue, at: 1)
        try updateMessage.bind(body, at: 2)
        try updateMessage.bind(id.rawValue, at: 3)
        try updateMessage.run()
    }

    // MARK: What was first sent

    /// Remembers what was first sent, before that goes for ever.
    func remember(_ content: Content, of id: RowKey) throws {
        try insertFingerprint.bind(id.rawValue, at: 1)
        try insertFingerprint.bind(fingerprinter.fingerprint(of: content), at: 2)
        try insertFingerprint.run()
    }

    /// Returns whether a content is the one that was first sent, of a message that was edited or deleted since.
    func isFirst(_ content: Content, of id: RowKey) throws -> Bool {
        try selectFingerprint.bind(id.rawValue, at: 1)
        return try selectFingerprint.firstRow { $0.bytes(0) } == fingerprinter.fingerprint(of: content)
    }

    // MARK: Reactions

    /// Adds a user's reaction, which the room's revision `rev` is.
    ///
    /// - Returns: `false` when the user has reacted so before.
    func addReaction(_ key: ReactionKey, by user: UserID, rev: Int64, to id: RowKey) throws -> Bool {
        try insertReaction.bind(id.rawValue, at: 1)
        try insertReaction.bind(key.string, at: 2)
        try insertReaction.bind(user.string, at: 3)
        try insertReaction.bind(rev, at: 4)
        try insertReaction.run()
        return db.changesCount > 0
    }

    /// Takes a user's reaction away.
    ///
    /// - Returns: `false` when there is none.
    func removeReaction(_ key: ReactionKey, by user: UserID, from id: RowKey) throws -> Bool {
        try deleteReaction.bind(id.rawValue, at: 1)
        try deleteReaction.bind(key.string, at: 2)
        try deleteReaction.bind(user.string, at: 3)
        try deleteReaction.run()
        return db.changesCount > 0
    }

    /// The first ``Limits/reactionUsers`` users who have reacted so, in the order in which they did.
    func users(_ key: ReactionKey, of id: RowKey) throws -> [UserID] {
        try selectUsers.bind(id.rawValue, at: 1)
        try selectUsers.bind(key.string, at: 2)
        var users: [UserID] = []
        try selectUsers.forEachRow { users.append(UserID(trusted: $0.text(0))) }
        return users
    }

    /// Takes all reactions away.
    func removeReactions(from id: RowKey) throws {
        try deleteReactions.bind(id.rawValue, at: 1)
        try deleteReactions.run()
    }

    /// Takes `most` reactions away, or as many as there are.
    ///
    /// - Returns: how many it was.
    func removeReactions(from id: RowKey, most: Int) throws -> Int {
        try deleteSomeReactions.bind(id.rawValue, at: 1)
        try deleteSomeReactions.bind(Int64(most), at: 2)
        try deleteSomeReactions.run()
        return db.changesCount
    }
}
