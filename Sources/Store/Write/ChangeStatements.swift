import Signatures
import Wire

/// The writer's statements for changing messages.
///
/// Confined to the writer's connection.
final class ChangeStatements {
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

    init(_ db: Connection) throws {
        selectMessage = try PreparedStatement("SELECT body FROM messages WHERE id = ?", db)
        updateMessage = try PreparedStatement("UPDATE messages SET changed = ?, body = ? WHERE id = ?", db)
        insertFingerprint = try PreparedStatement("INSERT INTO first_contents (message, fingerprint) VALUES (?, ?)", db)
        selectFingerprint = try PreparedStatement("SELECT fingerprint FROM first_contents WHERE message = ?", db)
        insertReaction = try PreparedStatement(
            "INSERT INTO reactions (message, key, user, rev) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", db)
        deleteReaction = try PreparedStatement("DELETE FROM reactions WHERE message = ? AND key = ? AND user = ?", db)
        selectUsers = try PreparedStatement(
            "SELECT user FROM reactions WHERE message = ? AND key = ? ORDER BY rev LIMIT \(Limits.reactionUsers + 1)",
            db)
        deleteReactions = try PreparedStatement("DELETE FROM reactions WHERE message = ?", db)
        deleteSomeReactions = try PreparedStatement(
            """
            DELETE FROM reactions WHERE message = ?1
                AND (key, user) IN (SELECT key, user FROM reactions WHERE message = ?1 LIMIT ?2)
            """, db)
        fingerprinter = try Fingerprinter(db)
    }

    // MARK: Messages

    /// Returns the snapshot of a filed message.
    func message(_ id: RowKey) throws -> [UInt8]? {
        try selectMessage.bind(id.rawValue, at: 1)
        return try selectMessage.firstRow { $0.bytes(0) }
    }

    /// Replaces the snapshot of a filed message; `change` has its new revision.
    func update(_ id: RowKey, change: RowKey, _ body: [UInt8]) throws {
        try updateMessage.bind(change.rawValue, at: 1)
        try updateMessage.bind(body, at: 2)
        try updateMessage.bind(id.rawValue, at: 3)
        try updateMessage.runSoon()
    }

    // MARK: First contents

    /// Stores the fingerprint of a message's first content, before that is edited or deleted.
    func remember(_ content: Content, of id: RowKey) throws {
        try insertFingerprint.bind(id.rawValue, at: 1)
        try insertFingerprint.bind(fingerprinter.fingerprint(of: content), at: 2)
        try insertFingerprint.runSoon()
    }

    /// Returns true if an edited or deleted message was first sent with this content.
    func isFirst(_ content: Content, of id: RowKey) throws -> Bool {
        try selectFingerprint.bind(id.rawValue, at: 1)
        return try selectFingerprint.firstRow { $0.bytes(0) } == fingerprinter.fingerprint(of: content)
    }

    // MARK: Reactions

    /// Adds a user's reaction, at the room's revision `rev`.
    func addReaction(_ key: ReactionKey, by user: UserID, rev: Int64, to id: RowKey) throws {
        try insertReaction.bind(id.rawValue, at: 1)
        try insertReaction.bind(key.string, at: 2)
        try insertReaction.bind(user.string, at: 3)
        try insertReaction.bind(rev, at: 4)
        try insertReaction.runSoon()
    }

    func removeReaction(_ key: ReactionKey, by user: UserID, from id: RowKey) throws {
        try deleteReaction.bind(id.rawValue, at: 1)
        try deleteReaction.bind(key.string, at: 2)
        try deleteReaction.bind(user.string, at: 3)
        try deleteReaction.runSoon()
    }

    /// Returns the first users with a reaction, in the order of their reactions: one more than a message lists.
    func users(_ key: ReactionKey, of id: RowKey) throws -> [UserID] {
        try selectUsers.bind(id.rawValue, at: 1)
        try selectUsers.bind(key.string, at: 2)
        return try selectUsers.allRows { UserID(trusted: $0.text(0)) }
    }

    func removeReactions(from id: RowKey) throws {
        try deleteReactions.bind(id.rawValue, at: 1)
        try deleteReactions.run()
    }

    /// Removes at most `most` reactions to a message.
    ///
    /// - Returns: the number removed.
    func removeReactions(from id: RowKey, most: Int) throws -> Int {
        try deleteSomeReactions.bind(id.rawValue, at: 1)
        try deleteSomeReactions.bind(Int64(most), at: 2)
        return try deleteSomeReactions.runCounting()
    }
}

/// Fingerprints of contents, which show equality without storing the content.
///
/// A send with a used client message id is compared with the content that was first sent with it. After an edit or a
/// deletion the database must not hold that content any more, so it holds a hash: HMAC-SHA256 (RFC 2104) with a random
/// secret of the database. A plain hash of a short text could be found in a table of hashes, and would show equal texts
/// in two databases. An attacker with the database can still test a guess.
struct Fingerprinter {
    private let secret: [UInt8]

    /// Reads the secret of a database.
    ///
    /// - Throws: `SQLiteError`; `SQLITE_CORRUPT` if the secret is missing.
    init(_ db: Connection) throws {
        let select = try PreparedStatement("SELECT value FROM meta WHERE key = 'fingerprint_secret'", db)
        guard let secret = try select.firstRow({ $0.text(0) }) else {
            throw SQLiteError.damage("the secret of its fingerprints is missing")
        }
        self.secret = Array(secret.utf8)
    }

    /// Returns 32 bytes, the same for equal contents only.
    func fingerprint(of content: Content) -> [UInt8] {
        HMACSHA256.code(of: content.canonicalBytes[...], secret: secret)
    }

    /// Returns a random secret: 64 hexadecimal digits, 256 bits.
    static func makeSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in
            let byte = UInt8.random(in: 0...255, using: &generator)
            return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}
