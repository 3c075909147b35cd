import GRDB
import Server

/// A second connection to a server's database, for what an operator's tools do while the server runs.
struct Database {
    private let queue: DatabaseQueue

    /// Opens the database of a configuration.
    init(of configuration: ServerConfiguration) throws {
        var settings = Configuration()
        settings.allowsUnsafeTransactions = true
        settings.busyMode = .timeout(5)
        queue = try DatabaseQueue(path: configuration.database, configuration: settings)
    }

    /// The number of pages.
    var pageCount: Int {
        get throws { try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 } }
    }

    /// Fills the database with this many bytes.
    func fill(bytes: Int) throws {
        try queue.write { database in
            try database.execute(sql: "CREATE TABLE filling (bytes BLOB)")
            try database.execute(sql: "INSERT INTO filling VALUES (zeroblob(?))", arguments: [bytes])
        }
    }

    /// Frees the space that ``fill(bytes:)`` took.
    func empty() throws {
        try queue.write { try $0.execute(sql: "DROP TABLE filling") }
    }

    /// Runs SQL.
    func execute(_ sql: String) throws {
        try queue.write { try $0.execute(sql: sql) }
    }

    /// Deletes all messages, as only damage could.
    func loseMessages() throws {
        try queue.write { try $0.execute(sql: "DELETE FROM messages") }
    }

    /// Copies the write-ahead log into the database.
    func checkpoint() throws {
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    }

    /// Locks the database against writers until ``unlock()``. A server waits for its `busyTimeout`.
    func lock() throws {
        try queue.inDatabase { try $0.beginTransaction(.immediate) }
    }

    /// Releases the lock.
    func unlock() throws {
        try queue.inDatabase { try $0.rollback() }
    }
}
