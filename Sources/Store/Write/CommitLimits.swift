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
    /// Maximum number of rows that a part of a job changes or deletes.
    static let jobRows = 256
    /// Number of bytes of messages after which a part of a job removes no further message: 1 MiB.
    static let jobBytes = 1024 * 1024
    /// Maximum number of rows that a part of an erasure searches for messages of the user.
    static let scannedRows = 2048
    /// Maximum number of messages that a part of an erasure turns into tombstones or removes reactions from.
    static let erasedMessages = 64
}
