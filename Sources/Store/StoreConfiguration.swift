public import Wire

/// The bounds of the store, each with its default.
public struct StoreConfiguration: Sendable {
    /// Threads that read, each with a connection of its own; 1 at least.
    public var readers = 2
    /// Submissions that may wait for a commit; the outcome of one more is 503 `overloaded`.
    public var submissionQueue = 65_536
    /// Queries that may wait for a reader; the answer to one more is 503 `overloaded`.
    public var queryQueue = 65_536
    /// Queries of one asker that may wait for a reader; the answer to one more is 503 `overloaded`. All clients that use one
    /// token, as those of a load generator do, are one asker.
    public var queriesOfAsker = 16_384
    /// The most submissions of one commit.
    public var commitSubmissions = 1024
    /// The most bytes of texts, data and attachments that the submissions of one commit bring, 4 MiB, unless it is of one; and
    /// of the snapshots that it changes, but for the last one.
    public var commitBytes = 4 * 1024 * 1024
    /// The most queries that a reader answers in one go.
    public var readBatch = 32
    /// The number of bytes of messages a reader gathers before it hands them over, however few queries they answer, 4
    /// MiB.
    public var readBytes = 4 * 1024 * 1024
    /// The number of bytes of messages an answer has at most, 4 MiB, but for its last message: what does not go into it
    /// has to be
    /// asked for again. A message can have 250 KiB, and 1000 of them would be held several times for a client that is slow
    /// to take them.
    public var answerBytes = 4 * 1024 * 1024
    /// The number of rooms that the writer remembers the state of, beside those of one commit; beyond it, it forgets
    /// them all and reads them again.
    public var cachedRooms = 100_000
    /// The most bytes of the filter that spares the writer looking for client message ids that are new, 8 MiB: 4 million ids.
    /// It begins with 64 KiB. When it is full it begins anew, and the ids of each room are looked for until they have been
    /// read again.
    public var clientMessageFilter = 8 * 1024 * 1024
    /// The most messages that a room may have for its client message ids to be read into the filter, which takes some 3 ms.
    /// Those of rooms that grow larger while the server runs stay there.
    public var clientMessageFilterFill = 8192
    /// The bytes of the database that the writer keeps in memory.
    public var writerCache = 64 * 1024 * 1024
    /// The bytes of the database that each reader keeps in memory, 4 MiB; the rest is the system's to keep. Where pages are
    /// read at random places of 1,000,000 messages, nearly none is found here, and with four times as much each comes into
    /// memory that the processor's cache has not: 6 % fewer are read then.
    public var readerCache = 4 * 1024 * 1024
    /// The bytes of a page of a new database, 8 KiB. With 4 KiB, SQLite's default, sends to 1000 rooms cost 7 % more, as a
    /// commit writes almost twice as many pages; with 16 KiB no less, and half as many bytes again.
    public static let pageSize = 8192
    /// The size in pages of 8 KiB at which the write-ahead log is brought into the database, 16 MiB; half of that where a
    /// database of an earlier version has pages of 4 KiB.
    ///
    /// Four times as much spares the writer some 7 % when sends are spread over 1000 rooms, whose pages it gathers more
    /// changes of, and holds the next commit up for four times as long, whatever the rooms.
    public var checkpointPages = 2048
    /// The number of bytes that the write-ahead log's file is given when the database is opened, 16 MiB and a little:
    /// as many as it has when it starts anew; at most half of what is free on the disk. With 0 it grows as it goes.
    public var reservedLog = 2048 * (pageSize + 24) + 64 * 1024
    /// The most messages that are in the journal only, but for those of one commit. The more there are, the more of a room's
    /// messages are put in their place together, and the more memory they take: some 600 bytes each where they are short. With
    /// 0 each message is put in its place by the commit that holds it.
    public var journalMessages = 65_536
    /// The most bytes of snapshots of messages that are in the journal only, 32 MiB, but for those of one commit.
    public var journalBytes = 32 * 1024 * 1024
    /// The number of messages of one room gather in the journal before they are put in their place, however few there
    /// are of
    /// other rooms: of one room a commit, which takes some 6 ms, which the next senders wait for. With a quarter of that, a
    /// room that 64 users send to has four times as many pages of client message ids written.
    public var journalMessagesOfRoom = 1024
    /// The most rows of the journal, each of them the messages of one commit. A room that has messages in an older one, and not
    /// in their place, is put there, some 256 messages a commit, so that there may be a few hundred rows more for a while.
    ///
    /// This is for rooms that are quiet while others are not. Where 1000 rooms are as busy as each other, a room waits until twice
    /// ``journalMessages`` have been sent: for 10,000 rows, and 80 MB, of commits of 13 messages of 500 bytes.
    public var journalRows = 16_384
    /// The most bytes of these rows, 128 MiB, but for the newest and for those of which the next commits delete some, since they
    /// are not needed any more.
    public var journalRowBytes = 128 * 1024 * 1024
    /// The time that a message is in the journal only while others are sent, in milliseconds: 5 minutes. Its row may be
    /// there for some two hundred commits more.
    public var journalAge = 300_000
    /// The time that no message is sent before what is in the journal is put in its place and the journal emptied, in
    /// milliseconds, whenever nothing else waits to be written.
    public var filingDelay = 1000
    /// The most rooms that are set aside because their part of the database is damaged. When messages of one more cannot be
    /// filed, no room takes messages.
    public var asideRooms = 1000
    /// The most bytes of unfiled messages of rooms that are set aside, 32 MiB. When there are more, no room takes messages.
    public var asideBytes = 32 * 1024 * 1024
    /// The time that a thread waits for another program that has locked the database, in milliseconds.
    public var busyTimeout = 5000
    /// The time that the writer waits between tries to write while it cannot, in milliseconds.
    public var probeInterval = 1000
    /// Minimum time between two looks whether the database's files are in their places, in
    /// milliseconds. What is stored in between may be lost with a file that is deleted.
    public var storageLookInterval = 1000
    /// True if rooms are made by admins only, and not by whoever sends to one that is not there.
    public var roomsByAdminsOnly = false
    /// True if only admins may make other users members of rooms.
    public var membersByAdminsOnly = false
    /// For how many days messages are kept, 1 to 36,500; `nil` for ever. Older ones become tombstones.
    public var keepDays: Int?
    /// The most messages that expire in one commit. Senders may have to wait for it, and subscribers hear of each.
    public var expiryMessages = 64
    /// The most rooms that are asked at once whether they have messages that are too old; some 5 µs each.
    public var expiryRooms = 256
    /// The time between two commits in which messages expire, in milliseconds: so 256 of them a second,
    /// 22 million a day, at most.
    public var expiryPause = 250
    /// The pause when all messages that are too old have expired, in milliseconds: 10
    /// minutes.
    public var expiryInterval = 600_000
    /// The pause after a part of a job that has failed, in milliseconds: 10 seconds.
    public var jobRetry = 10_000
    /// The most pages that the database may have; `nil` for no bound but the disk's.
    public var maximumPages: Int?

    /// What time it is. Messages bear the time of their commit, or the time of the message before when that is later.
    public var clock: @Sendable () -> Timestamp = { Timestamp.now() }
    /// Called for each commit that has lasted, on the writer's thread: how long it took, and its submissions.
    public var onCommit: (@Sendable (Duration, Int) -> Void)?
    /// Called when commits begin to fail, with the reason, and when they succeed again, with `nil`; on the writer's
    /// thread.
    public var onHealthChange: (@Sendable (String?) -> Void)?
    /// Called when messages have expired, on the writer's thread.
    public var onExpiry: (@Sendable (ExpiryEvent) -> Void)?
    /// Called when a job has come to its end or fails, on the writer's thread.
    public var onJob: (@Sendable (JobEvent) -> Void)?
    /// Called when a room is set aside, with the reason, on the writer's thread.
    public var onSetAside: (@Sendable (RoomID, String) -> Void)?
    /// Called for each round of reads, on the reader's thread: how long it took.
    public var onRead: (@Sendable (Duration) -> Void)?

    /// The defaults.
    public init() {}
}

/// News of work that is done in parts, such as removing what a deleted room has held. The first text
/// names the work.
public enum JobEvent: Sendable, Hashable {
    /// So much is done.
    case progress(String, percent: Int)
    /// It is done.
    case done(String)
    /// A part could not be done, for this reason. It is tried again, and others are gone on with.
    case failed(String, String)
}

/// What there is to be told of messages that expire.
public enum ExpiryEvent: Sendable, Hashable {
    /// One commit has left tombstones of so many messages.
    case expired(Int)
    /// There are no more that are too old; so many there were.
    case passOver(Int)
    /// Messages could not be changed, for this reason. The others are gone on with.
    case failed(String)
}
