import GRDB
import Server
import TestSupport

/// A second connection to a server's database, for what other programs do while the server runs.
struct Database {
    private enum Connection {
        case sqlite(DatabaseQueue)
        case postgres(PostgresSession)
    }

    private let connection: Connection

    /// Opens the database of a configuration.
    init(of configuration: ServerConfiguration) throws {
        guard !TestPostgres.isTestedStore else {
            connection = .postgres(PostgresSession(configuration.database))
            return
        }
        var settings = Configuration()
        settings.allowsUnsafeTransactions = true
        settings.busyMode = .timeout(5)
        connection = .sqlite(try DatabaseQueue(path: configuration.database, configuration: settings))
    }

    /// Runs SQL.
    func execute(_ sql: String) throws {
        switch connection {
        case .sqlite(let queue): try queue.inDatabase { try $0.execute(sql: sql) }
        case .postgres(let session): try session.execute(sql)
        }
    }

    /// Deletes all messages, as only damage could.
    func loseMessages() throws {
        try execute("DELETE FROM messages")
    }

    /// Copies SQLite's write-ahead log into the database.
    func checkpoint() throws {
        guard case .sqlite(let queue) = connection else { return }
        try queue.writeWithoutTransaction { _ = try $0.checkpoint(.passive) }
    }

    /// Locks the database against writers until ``unlock()``. A server waits for its `busyTimeout`, or as long as changes
    /// may wait.
    func lock() throws {
        switch connection {
        case .sqlite: try execute("BEGIN IMMEDIATE")
        case .postgres: try execute("BEGIN; LOCK TABLE rooms IN EXCLUSIVE MODE")
        }
    }

    /// Releases the lock.
    func unlock() throws {
        try execute("ROLLBACK")
    }

    /// Makes a database in PostgreSQL read-only.
    func forbidWrites() throws {
        try execute(
            """
            DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$;
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }

    // MARK: A full disk, with SQLite

    /// The number of pages.
    var pageCount: Int {
        get throws {
            guard case .sqlite(let queue) = connection else { return 0 }
            return try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        }
    }

    /// Fills the database with this many bytes.
    func fill(bytes: Int) throws {
        try execute("CREATE TABLE filling (bytes BLOB)")
        try execute("INSERT INTO filling VALUES (zeroblob(\(bytes)))")
    }

    /// Frees the space that ``fill(bytes:)`` took.
    func empty() throws {
        try execute("DROP TABLE filling")
    }
}
