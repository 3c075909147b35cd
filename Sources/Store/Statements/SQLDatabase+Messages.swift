import Chat
import Signatures
import Wire

/// Statements about filed messages.
extension SQLDatabase {
    /// Returns the message that was sent with a client message id.
    func message(room: Int64, sender: UserID, clientMessageID: String) throws -> StoredMessage? {
        try first(
            """
            SELECT id, rev, changed, body FROM messages WHERE id >> 36 = $1 AND sender = $2 AND client_message_id = $3
            """, room, sender, clientMessageID
        ) { StoredMessage($0) }
    }

    /// Returns the snapshot of a message.
    func snapshot(of message: RowKey) throws -> [UInt8]? {
        try first("SELECT body FROM messages WHERE id = $1", message) { $0.bytes(0) }
    }

    /// Replaces the snapshot of a message; `change` has its new revision.
    func replaceSnapshot(of message: RowKey, by body: [UInt8], change: RowKey) throws {
        try runSoon("UPDATE messages SET changed = $1, body = $2 WHERE id = $3", change, body, message)
    }

    // MARK: First contents

    /// Stores the fingerprint of a message's first content, unless there is one.
    func insertFingerprint(_ fingerprint: [UInt8], of message: RowKey) throws {
        try runSoon(
            "INSERT INTO first_contents (message, fingerprint) VALUES ($1, $2) ON CONFLICT DO NOTHING", message,
            fingerprint)
    }

    /// Returns the fingerprint of the first content of a message that was edited, deleted, or stored with another content.
    func fingerprint(of message: RowKey) throws -> [UInt8]? {
        try first("SELECT fingerprint FROM first_contents WHERE message = $1", message) { $0.bytes(0) }
    }

    // MARK: Reactions

    /// Adds a user's reaction, at the room's revision `rev`.
    func addReaction(_ key: ReactionKey, by user: UserID, rev: Int64, to message: RowKey) throws {
        try runSoon(
            "INSERT INTO reactions (message, key, \"user\", rev) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            message, key, user, rev)
    }

    func removeReaction(_ key: ReactionKey, by user: UserID, from message: RowKey) throws {
        try runSoon("DELETE FROM reactions WHERE message = $1 AND key = $2 AND \"user\" = $3", message, key, user)
    }

    /// Returns the first users with a reaction, in the order of their reactions: one more than a message lists.
    func reactingUsers(_ key: ReactionKey, to message: RowKey) throws -> [UserID] {
        try all(
            """
            SELECT "user" FROM reactions WHERE message = $1 AND key = $2
            ORDER BY rev LIMIT \(Limits.reactionUsers + 1)
            """, message, key
        ) { UserID(trusted: $0.text(0)) }
    }

    /// Returns the room's revision at which a message was sent.
    func rev(room: Int64, seq: Int64) throws -> Int64? {
        try first("SELECT rev FROM messages WHERE id = $1", RowKey(room: room, seq)) { $0.integer(0) }
    }

    /// Returns the room's revision at which a user reacted to a message; `nil` if there is no such reaction.
    func rev(of key: ReactionKey, by user: UserID, to message: RowKey) throws -> Int64? {
        try first(
            "SELECT rev FROM reactions WHERE message = $1 AND key = $2 AND \"user\" = $3", message, key, user
        ) { $0.integer(0) }
    }

    func removeReactions(to message: RowKey) throws {
        try runSoon("DELETE FROM reactions WHERE message = $1", message)
    }

    /// Removes at most `most` reactions to a message.
    ///
    /// - Returns: the number removed.
    func removeReactions(to message: RowKey, most: Int) throws -> Int {
        try runCounting(
            """
            DELETE FROM reactions WHERE message = $1
                AND (key, "user") IN (SELECT key, "user" FROM reactions WHERE message = $1 LIMIT $2)
            """, message, most)
    }
}

/// Statements about pinned messages.
extension SQLDatabase {
    /// Returns the number of a room's pinned messages.
    func countPins(of room: Int64) throws -> Int {
        try first(
            "SELECT count(*) FROM pins WHERE message > $1 AND message <= $2", RowKey(room: room, 0),
            RowKey(room: room, RowKey.maximumOrdinal)
        ) { Int($0.integer(0)) } ?? 0
    }

    /// Lists a message as pinned, at the room's revision `rev`.
    func addPin(of message: RowKey, by user: UserID, rev: Int64) throws {
        try runSoon("INSERT INTO pins (message, rev, \"user\") VALUES ($1, $2, $3)", message, rev, user)
    }

    func removePin(of message: RowKey) throws {
        try runSoon("DELETE FROM pins WHERE message = $1", message)
    }

    /// Removes the name of an erased user from a pin.
    func clearPinner(of message: RowKey) throws {
        try runSoon("UPDATE pins SET \"user\" = '\(UserID.deleted)' WHERE message = $1", message)
    }

    /// Passes `body` the revision at which a message was pinned, and its snapshot, latest pin first, until it returns
    /// false.
    ///
    /// - Parameter rev: The revision before which the messages were pinned.
    func forEachPin(of room: Int64, before rev: Int64, _ body: (Int64, Span<UInt8>) -> Bool) throws {
        let select = try prepare(
            """
            SELECT pins.rev, body FROM pins JOIN messages ON messages.id = pins.message
            WHERE pins.message > $1 AND pins.message <= $2 AND pins.rev < $3 ORDER BY pins.rev DESC
            """)
        try select.bind(RowKey(room: room, 0).rawValue, at: 1)
        try select.bind(RowKey(room: room, RowKey.maximumOrdinal).rawValue, at: 2)
        try select.bind(rev, at: 3)
        try select.withRows { row in
            while row.hasRow, row.withBytes(1, { body(row.integer(0), $0) }) { try row.next() }
        }
    }

    /// Returns the first message after `row` that a user has pinned, and the revision at that.
    func nextPin(by user: UserID, after row: Int64) throws -> (message: RowKey, rev: Int64)? {
        try first(
            "SELECT message, rev FROM pins WHERE \"user\" = $1 AND message > $2 ORDER BY message LIMIT 1", user, row
        ) { (RowKey(rawValue: $0.integer(0)), $0.integer(1)) }
    }
}

extension StoredMessage {
    /// Creates the message of a row with the columns `id, rev, changed, body`.
    init(_ row: some SQLStatement) {
        // In an unchanged message this column is NULL, which reads as 0.
        let change = RowKey(rawValue: row.integer(2)).ordinal
        self.init(
            seq: RowKey(rawValue: row.integer(0)).ordinal, rev: max(row.integer(1), change), body: row.bytes(3))
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
    /// - Throws: ``SQLDatabase/damage(_:)`` if the secret is missing.
    init<DB: SQLDatabase>(_ db: DB) throws {
        let secret = try db.first("SELECT value FROM meta WHERE key = 'fingerprint_secret'") { $0.text(0) }
        guard let secret else { throw DB.damage("the secret of its fingerprints is missing") }
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
