public import Chat
public import Wire

/// An open log, with its state for operators.
public protocol OpenLog: MessageLog, AnyObject {
    /// The reason why messages cannot be stored at present; `nil` if they can.
    var failure: String? { get }
    /// The error of sends while the database's files are missing or replaced; `nil` if they are in place.
    var storageLoss: Problem? { get }
    /// True if the log has not reached the database for so long that subscribers may lack what other nodes have stored;
    /// always false with SQLite.
    var isCutOff: Bool { get }
    /// The counters of a node on PostgreSQL since its start; `nil` with SQLite.
    var nodeCounts: NodeCounts? { get }
    /// The space that the log takes, and the time of its last backup, as far as this process can know them now.
    var sizes: StorageSizes { get }
    /// The number of rooms that are read-only because their rows are damaged.
    var quarantinedRooms: Int { get }
    /// The number of submissions waiting for a commit.
    var queuedSubmissions: Int { get }
    /// The number of queries waiting for a reader.
    var queuedQueries: Int { get }

    /// Returns the webhooks, for a thread of its own, which closes them before the log is closed.
    ///
    /// - Throws: ``StoreError`` if a file cannot be opened.
    func webhookStore() throws -> any WebhookStore

    /// Commits the queued submissions, refuses the queued queries, stops the threads, and closes the database.
    ///
    /// Later submissions and queries are refused with 503 `unavailable`. The observer must not call this, because it
    /// waits for the observer to return. A second call does nothing, or waits for the first to end.
    func close()
}
