import Chat
public import Wire

/// The bounds of the store, each with its default.
public struct StoreConfiguration: Sendable {
    /// Number of writing threads with PostgreSQL, each with its own connection; at least 1. SQLite has one.
    public var writers = 2
    /// Number of reading threads, each with its own connection; at least 1.
    public var readers = 2
    /// Maximum number of submissions waiting for a commit; one more gets 503 `overloaded`.
    public var submissionQueue = 65_536
    /// Maximum number of queries waiting for a reader; one more gets 503 `overloaded`.
    public var queryQueue = 65_536
    /// Maximum number of waiting queries of one client; one more gets 503 `overloaded`. Clients that share a token are
    /// one client.
    public var queriesOfClient = 16_384
    /// The bounds of one commit. Tests choose others.
    var commit = CommitLimits()
    /// The bounds of the journal. Tests choose others.
    var journal = Journal.Limits()
    /// Maximum number of queries that a reader answers in one transaction.
    public var readBatch = 32
    /// Number of bytes of messages after which a reader hands its answers over: 4 MiB.
    public var readBytes = 4 * 1024 * 1024
    /// Number of bytes of large answers that wait for their loops, from which readers wait too. Each reader may exceed
    /// it by ``readBytes`` and one answer.
    public var waitingAnswerBytes = 16 * 1024 * 1024
    /// Maximum number of bytes of messages in one answer: 4 MiB. The last message may exceed it. The client asks again
    /// for the rest.
    public var answerBytes = 4 * 1024 * 1024
    /// Maximum number of rooms whose state the writer caches between commits. Beyond it the cache is emptied.
    public var cachedRooms = 100_000
    /// Size of the writer's page cache in bytes: 64 MiB.
    public var writerCache = 64 * 1024 * 1024
    /// Size of each reader's page cache in bytes: 4 MiB. The system caches the rest.
    public var readerCache = 4 * 1024 * 1024
    /// Size of a page of a new database in bytes: 8 KiB. With smaller pages a commit to many rooms writes more of them.
    public static let pageSize = 8192
    /// Size in pages at which the write-ahead log is copied into the database: 16 MiB. A larger log costs less for each
    /// message, but delays the commit after a checkpoint for longer.
    public var checkpointPages = 2048
    /// Size in bytes to which the file of the write-ahead log is extended when the database is opened, by at most half
    /// of the disk's free space. With 0 it grows as needed.
    public var reservedLog = 2048 * (pageSize + 24) + 64 * 1024
    /// Time in milliseconds that a thread waits for another program that has locked the database.
    public var busyTimeout = 5000
    /// Time that a thread waits for the results of statements of PostgreSQL: 10 seconds. Then it connects again.
    public var databaseAnswerTime = PostgresConnection.Settings.nodeAnswerTime
    /// Time for which a commit in PostgreSQL waits for a room that another transaction has locked: 500 ms. Then the
    /// room's changes wait apart from those of other rooms.
    public var roomLockTime = PostgresConnection.Settings.ChangeBounds.defaultLockTime
    /// Time after a look at revoked access for which a node sends messages without another one: 1 second. So it is the
    /// time after which a removed member receives nothing more.
    public var accessAge = Duration.seconds(1)
    /// Maximum age of a change when it is committed: 5 seconds since the request arrived. An older one gets 503.
    public var changeAge = Duration.seconds(5)
    /// Time in milliseconds between attempts to write after a commit has failed.
    public var probeInterval = 1000
    /// Time in milliseconds without a commit after which a writer asks PostgreSQL if it still takes changes: 2 seconds.
    public var idleProbeInterval = 2000
    /// Time without an answer of PostgreSQL after which a node's ``OpenLog/isCutOff`` is true: 5 seconds. Normally
    /// PostgreSQL answers at least twice a second.
    public var listenerSilence = Duration.seconds(5)
    /// True if messages are stored in PostgreSQL although its crash could lose them: `fsync` or `full_page_writes` is
    /// off.
    public var allowsUnsafeDatabase = false
    /// True if commits are durable whatever `synchronous_commit` is by default. Tests choose false.
    var pinsSynchronousCommit = true
    /// Counts the numbers of rooms.
    public var roomNumbers = RoomNumbers()
    /// Counts the connections to PostgreSQL.
    public var connections = DatabaseConnections()
    /// Minimum time in milliseconds between two checks that the database's files are in their places. Messages that
    /// were acknowledged in between are lost with a deleted file.
    public var storageCheckInterval = 1000
    /// True if only admins may create rooms; otherwise the first send to a room creates it.
    public var roomsByAdminsOnly = false
    /// True if only admins may make other users members of rooms.
    public var membersByAdminsOnly = false
    /// Maximum number of members of a room in which everybody may mention the room; in others its owners may.
    public var roomMentionMembers = Facts.Policy.defaultRoomMentionMembers
    /// Number of days after which messages become tombstones, 1 to 36,500; `nil` for never.
    public var keepDays: Int?
    /// Maximum number of rooms that are searched for expired messages at once.
    public var expiryRooms = 256
    /// Time in milliseconds between two commits in which messages expire: at most 256 messages a second.
    public var expiryPause = 250
    /// Maximum number of rooms that are searched for expired messages at once in PostgreSQL.
    var sharedExpiryRooms = 2048
    /// Time in milliseconds between two commits in which messages expire in PostgreSQL, whose nodes store more than one
    /// server: at most 10,000 messages a second.
    var sharedExpiryPause = 50
    /// Time between two reports of a node on PostgreSQL for how long it keeps messages. A report counts for 5 minutes.
    var retentionInterval = Duration.seconds(60)
    /// Time in milliseconds before the next search after one that has found nothing: 10 minutes.
    public var expiryInterval = 600_000
    /// Time in milliseconds before jobs continue after one has failed: 10 seconds.
    public var jobRetry = 10_000
    /// Time after which a search ends, and the client asks again for the rest: 200 ms.
    var searchTime = Duration.milliseconds(200)
    /// True if new messages are indexed, so that searches find all.
    public var indexes = true
    /// Time after which words of removed texts leave the files of an SQLite database: 30 minutes. The work takes a while.
    var wordPurgeInterval = Duration.seconds(1800)
    /// Number of the newest messages that a search examines before it asks the index: 512. So the words that it
    /// would list for long, because they are frequent, fill a page at once.
    var scannedFirst = 512
    /// Maximum number of matches that a search in SQLite lists for all rooms at once, in 8 bytes each. Of more, it asks for
    /// those of each room.
    var listedMatches = 1_048_576
    /// Maximum number of the newest messages of a room that are searched before they are indexed.
    var scannedMessages = 5000
    /// Number of messages in a block of the index of words in PostgreSQL. Searches look into the newest block first.
    var wordBlock: Int64 = 65_536
    /// Maximum number of pages of the database; `nil` for no limit.
    public var maximumPages: Int?

    /// True if messages get their times from PostgreSQL's clock instead of ``clock``. Tests choose false.
    var usesDatabaseClock = true

    /// Called on a reader's thread after each wait for PostgreSQL, with its duration. Tests count the waits.
    var onReaderWait: (@Sendable (Duration) -> Void)?

    /// Returns the time for the messages of a commit. A message never gets a time before that of the previous one.
    public var clock: @Sendable () -> Timestamp = { Timestamp.now() }
    /// Called on the writer's thread after each successful commit, with its duration and its number of submissions.
    public var onCommit: (@Sendable (Duration, Int) -> Void)?
    /// Called on the writer's thread with the reason when commits begin to fail, with each other reason that follows,
    /// and with `nil` when they succeed again.
    public var onHealthChange: (@Sendable (String?) -> Void)?
    /// Called once on the writer's thread if a sync of an SQLite file has failed. The log then changes nothing, and must be
    /// closed and opened again. The function must not wait for the log.
    public var onFailedSync: (@Sendable () -> Void)?
    /// Called on the writer's thread after each round trip to PostgreSQL, with its duration. It includes the wait for
    /// the locks of rooms.
    public var onWriterWait: (@Sendable (Duration) -> Void)?
    /// Called on the listener's thread for each room in which a look has found new messages of other nodes, with the
    /// age of the oldest of them by PostgreSQL's clock.
    public var onLookup: (@Sendable (Duration) -> Void)?
    /// Called on the listener's thread with the reason when a node cannot learn of other nodes' commits, and with `nil`
    /// when it can again.
    public var onListeningChange: (@Sendable (String?) -> Void)?
    /// Called on the writer's thread when a room cannot be created for the first time, because no number is left.
    public var onRoomLimit: (@Sendable () -> Void)?
    /// Called while the log is opened, if a crash of PostgreSQL could lose messages and
    /// ``StoreConfiguration/allowsUnsafeDatabase`` is set, with the settings that are off.
    public var onUnsafeDatabase: (@Sendable (String) -> Void)?
    /// Called while the log is opened, if nothing shows that a page has changed on the disk, with the remedy.
    public var onMissingChecksums: (@Sendable (String) -> Void)?
    /// Called on a reader's thread with the reason when a reader cannot connect to PostgreSQL, and with `nil` when all can
    /// again.
    public var onReadingChange: (@Sendable (String?) -> Void)?
    /// Called with the new epoch while the log is opened, if the history has got one because the database was restored,
    /// or because a standby was promoted.
    public var onNewEpoch: (@Sendable (String) -> Void)?
    /// Called once if the database has another history than when the log was opened: it was restored, or a standby was
    /// promoted. The log then changes and reads nothing, and must be opened again. The function runs on a thread of the
    /// log, and must not wait for the log.
    public var onOtherHistory: (@Sendable () -> Void)?
    /// Called on the caretaker's thread if other nodes keep messages for other numbers of days than this one (`nil` for
    /// ever), and with none once they agree.
    public var onOtherRetention: (@Sendable ([Int?]) -> Void)?
    /// Called on the writer's thread when messages have expired.
    public var onExpiry: (@Sendable (ExpiryEvent) -> Void)?
    /// Called on the writer's thread when a job has made progress, ended or failed.
    public var onJob: (@Sendable (JobEvent) -> Void)?
    /// Called on the writer's thread with the reason when a room is quarantined.
    public var onQuarantine: (@Sendable (RoomID, String) -> Void)?
    /// Called on the reader's thread after each batch of reads, with its duration.
    public var onRead: (@Sendable (Duration) -> Void)?

    /// Creates the default configuration.
    public init() {}
}

extension StoreConfiguration {
    /// The rules that the server sets.
    var policy: Facts.Policy {
        Facts.Policy(
            roomsByAdminsOnly: roomsByAdminsOnly, membersByAdminsOnly: membersByAdminsOnly,
            roomMentionMembers: roomMentionMembers)
    }

    /// Counts and reports a room that could not be created.
    ///
    /// - Returns: The problem.
    func refuseRoom() -> Problem {
        if roomNumbers.refuse() { onRoomLimit?() }
        return .unavailable("The database has the maximum number of rooms.")
    }
}

/// An event of a job, such as removing the contents of a deleted room. The first text names the job.
public enum JobEvent: Sendable, Hashable {
    /// The job has made this much progress.
    case progress(String, percent: Int)
    /// The job is done.
    case done(String)
    /// A part of the job failed for this reason. It will be retried; other jobs continue.
    case failed(String, String)
}

/// An event of message expiry.
public enum ExpiryEvent: Sendable, Hashable {
    /// One commit has expired this many messages.
    case expired(Int)
    /// No expired messages are left; this many expired since that was last reported.
    case passOver(Int)
    /// Messages could not be expired for this reason. Other rooms continue.
    case failed(String)
}
