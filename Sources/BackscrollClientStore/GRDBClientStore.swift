public import BackscrollClient
import Foundation
public import GRDB

/// A store in an SQLite database, on GRDB.
///
/// ```swift
/// let client = BackscrollClient(server: url, user: user, store: .file(path))
/// ```
///
/// The database is opened with the first call. Several clients, users and servers may share one database, and so may
/// several processes of an app group. Use one store for each file in a process. Messages are evicted beyond
/// ``maximumBytes``; sends and read marks never are.
///
/// Errors have the codes ``BackscrollClientError/storeDamaged``, ``BackscrollClientError/storeNewer`` and
/// ``BackscrollClientError/storeUnavailable``.
public final class GRDBClientStore: ClientStore {
    /// Default bound on the stored messages: 64 MiB.
    public static let defaultMaximumBytes = 64 * 1024 * 1024
    /// Number of bytes that a message counts in addition to its JSON.
    static let messageOverhead = 32
    /// Part of the bound that eviction leaves, so that not every write evicts.
    static let evictionTarget = 0.9
    /// Number of messages that are evicted at a time.
    static let evictionStep: Int64 = 256

    /// Maximum number of bytes of the stored messages of all accounts. Beyond it the oldest messages of the rooms that
    /// were opened longest ago are evicted.
    public let maximumBytes: Int
    private let database: DatabaseOpening

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - maximumBytes: Maximum number of bytes of the stored messages.
    ///   - open: Returns the database. It is called with the first use of the store, and again if it failed.
    public init(
        maximumBytes: Int = GRDBClientStore.defaultMaximumBytes,
        opening open: @escaping @Sendable () throws -> any DatabaseWriter
    ) {
        self.maximumBytes = maximumBytes
        database = DatabaseOpening(open)
    }

    /// Returns the stored part of a room; nil if nothing is stored.
    public func load(_ room: StoredRoomKey, limit: Int) async throws(BackscrollClientError) -> StoredRoom? {
        try await read { db in try StoredRows(db, room)?.load(limit: limit) }
    }

    /// Applies changes in their order, in one transaction.
    public func write(_ changes: [StoreChange], to room: StoredRoomKey) async throws(BackscrollClientError) {
        try await access { database in
            try await database.write { [maximumBytes] db in
                var rows = try StoredRows(creating: room, db)
                for change in changes { try rows.apply(change) }
                try rows.save()
                try Eviction(db).evict(beyond: maximumBytes)
            }
        }
    }

    /// Returns neighboring messages of one run; nil if they are not stored.
    public func messages(
        _ query: StoreQuery, of room: StoredRoomKey
    ) async throws(BackscrollClientError) -> StoredMessages? {
        try await read { db in try StoredRows(db, room)?.messages(query) }
    }

    /// Returns the ids of the rooms with sends that the server has not refused, oldest send first.
    public func roomsWithSends(of account: StoreAccount) async throws(BackscrollClientError) -> [String] {
        try await read { db in
            try String.fetchAll(
                db,
                sql: """
                    SELECT room.name FROM backscroll_room AS room
                    JOIN backscroll_account AS account ON account.id = room.account
                    JOIN backscroll_send AS send ON send.room = room.id
                    WHERE account.server = ? AND account.user = ? AND send.refusal IS NULL
                    GROUP BY room.id ORDER BY MIN(send.id)
                    """,
                arguments: [account.server, account.user])
        }
    }

    /// Returns the stored list of the user's rooms, latest activity first; empty if none is stored.
    public func inbox(of account: StoreAccount) async throws(BackscrollClientError) -> [StoredInboxRoom] {
        try await read { db in try StoredInbox(db, of: account).load() }
    }

    /// Applies changes of the list of the user's rooms, in one transaction. The list does not count for
    /// ``maximumBytes``: ``ClientOptions/inboxRooms`` bounds it.
    public func write(
        _ changes: [InboxStoreChange], toInboxOf account: StoreAccount
    ) async throws(BackscrollClientError) {
        try await access { database in
            try await database.write { db in try StoredInbox(db, of: account).apply(changes) }
        }
    }

    /// Removes all that is stored of an account, for example when its user signs out. Close its clients before.
    public func removeAll(of account: StoreAccount) async throws(BackscrollClientError) {
        try await access { database in
            try await database.write { db in
                let id = "(SELECT id FROM backscroll_account WHERE server = ? AND user = ?)"
                let arguments: StatementArguments = [account.server, account.user]
                // The app's database may not have foreign keys enabled.
                for table in ["message", "run", "send"] {
                    try db.execute(
                        sql: """
                            DELETE FROM backscroll_\(table)
                            WHERE room IN (SELECT id FROM backscroll_room WHERE account = \(id))
                            """,
                        arguments: arguments)
                }
                for table in ["inbox", "room"] {
                    try db.execute(sql: "DELETE FROM backscroll_\(table) WHERE account = \(id)", arguments: arguments)
                }
                try db.execute(sql: "DELETE FROM backscroll_account WHERE id = \(id)", arguments: arguments)
            }
        }
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(BackscrollClientError) -> Value {
        try await access { database in try await database.read(body) }
    }

    private func access<Value: Sendable>(
        _ body: (any DatabaseWriter) async throws -> Value
    ) async throws(BackscrollClientError) -> Value {
        do {
            return try await body(try await database.opened())
        } catch {
            throw BackscrollClientError(storeFailure: error)
        }
    }
}

extension ClientStore where Self == GRDBClientStore {
    /// Returns a store in a file, which is created with the first use and which only its owner can read. SQLite keeps a
    /// `-wal` and a `-shm` file beside it.
    ///
    /// - Parameters:
    ///   - path: The path of the file, in a directory that exists.
    ///   - configuration: GRDB's configuration, for example to set the passphrase of an encrypted database.
    ///   - maximumBytes: Maximum number of bytes of the stored messages.
    public static func file(
        _ path: String, configuration: Configuration = Configuration(),
        maximumBytes: Int = GRDBClientStore.defaultMaximumBytes
    ) -> GRDBClientStore {
        GRDBClientStore(maximumBytes: maximumBytes) {
            var configuration = configuration
            // Another process of the app, or another store on the file, may be writing.
            if case .immediateError = configuration.busyMode { configuration.busyMode = .timeout(5) }
            return try openingFiles.withLock {
                if !configuration.readonly, !FileManager.default.fileExists(atPath: path) {
                    // The messages are the user's. SQLite gives the files beside it the same permissions. If the file
                    // cannot be created, opening it throws the reason. O_EXCL leaves the file of another process as it is.
                    let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
                    if descriptor >= 0 { close(descriptor) }
                }
                return try DatabasePool(path: path, configuration: configuration)
            }
        }
    }

    /// Returns a store in a database of the app. Its tables have names that begin with `backscroll_`.
    public static func database(
        _ database: any DatabaseWriter, maximumBytes: Int = GRDBClientStore.defaultMaximumBytes
    ) -> GRDBClientStore {
        GRDBClientStore(maximumBytes: maximumBytes) { database }
    }
}

/// Held while a file is created and opened. Closing a descriptor of a file ends all locks that the process has on it
/// (fcntl(2)), so no other store may open the file before the descriptor that created it is closed.
private let openingFiles = NSLock()

/// A database that is opened with its first use. After a failure the next use tries again.
private actor DatabaseOpening {
    private let open: @Sendable () throws -> any DatabaseWriter
    private var database: (any DatabaseWriter)?

    init(_ open: @escaping @Sendable () throws -> any DatabaseWriter) {
        self.open = open
    }

    func opened() throws -> any DatabaseWriter {
        if let database { return database }
        let opened = try open()
        try opened.write { db in try StoreSchema.migrate(db) }
        database = opened
        return opened
    }
}

extension BackscrollClientError {
    /// The error of a store that failed.
    init(storeFailure error: any Error) {
        switch error {
        case let error as BackscrollClientError:
            self = error
        case let error as DatabaseError where [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(error.resultCode):
            self.init(
                code: Self.storeDamaged,
                message: "The store's file is damaged, or is no database. Remove it; the server has all messages "
                    + "but those that were not sent. (\(error.message ?? "\(error.resultCode)"))")
        default:
            let reason = (error as? DatabaseError).map { $0.message ?? "\($0.resultCode)" } ?? "\(error)"
            self.init(code: Self.storeUnavailable, message: "The store cannot be read or written: \(reason)")
        }
    }
}
