/// The bounds of what one commit does, and so of the time that its senders wait for it.
struct CommitLimits {
    /// Maximum number of submissions.
    var submissions = 1024
    /// Maximum number of bytes of its submissions, and of snapshots that it changes: 4 MiB. The last may exceed it.
    var bytes = 4 * 1024 * 1024
    /// Maximum number of messages that expire.
    var expiredMessages = 64
    /// Maximum number of messages that expire, in PostgreSQL.
    var sharedExpiredMessages = 512
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
    /// Maximum number of rows that a part of a job changes or deletes.
    static let jobRows = 256
    /// Number of bytes of messages after which a part of a job removes no further message: 1 MiB.
    static let jobBytes = 1024 * 1024
    /// Maximum number of rows that a part of an erasure searches for messages of the user.
    static let scannedRows = 2048
    /// Maximum number of messages that a part of an erasure turns into tombstones or removes reactions from.
    static let erasedMessages = 64
}
