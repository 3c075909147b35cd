import GRDB
import Server

/// The database of a server, seen by somebody else: what an operator's tools do to it while the server runs.
struct Database {
    private let queue: DatabaseQueue

    /// Opens the database of a configuration.
    init(of configuration: ServerConfiguration) throws {
        var settings = Configuration()
        settings.allowsUnsafeTransactions = true
        settings.busyMode = .timeout(5)
        queue = try DatabaseQueue(path: configuration.database, configuration: settings)
    }

    /// How many pages it has.
    var pageCount: Int {
        get throws { try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 } }
    }

    /// Takes up space.
    func fill(bytes: Int) throws {
        try queue.write { database in
            try database.execute(sql: "CREATE TABLE filling (bytes BLOB)")
            try database.execute(sql: "INSERT INTO filling VALUES (zeroblob(?))", arguments: [bytes])
        }
    }

    /// Gives back what ``fill(bytes:)`` has taken.
    func empty() throws {
        try queue.write { try $0.execute(sql: "DROP TABLE filling") }
    }

    /// Takes away all messages, which only damage brings about.
    func loseMessages() throws {
        try queue.write { try $0.execute(sql: "DELETE FROM messages") }
    }

    /// Keeps everybody from writing, until ``unlock()``. A server waits for its `busyTimeout`.
    func lock() throws {
        try queue.inDatabase { try $0.beginTransaction(.immediate) }
    }

    /// Lets others write again.
    func unlock() throws {
        try queue.inDatabase { try $0.rollback() }
    }
}
