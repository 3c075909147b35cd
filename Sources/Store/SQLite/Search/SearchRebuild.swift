import Glibc

/// Empties the index for searches, so that the next server builds it again.
public struct SearchRebuild: Sendable {
    private let database: DatabaseLocation

    /// Prepares to empty the index of a database.
    public init(_ database: DatabaseLocation) {
        self.database = database
    }

    /// Empties the index.
    ///
    /// - Throws: ``StoreError`` if there is no database, or a server has it open.
    public func run() throws {
        guard case .file(let path) = database else {
            throw StoreError.postgres("the index of a PostgreSQL database is not built by this command")
        }
        guard access(path, F_OK) == 0 else { throw StoreError.missing(path) }
        var configuration = StoreConfiguration()
        configuration.reservedLog = 0
        // Takes the same lock as a server.
        let file = try DatabaseFile(path)
        let connection = try file.connectForWriting(configuration)
        defer {
            connection.close()
            // Keeps the lock until the connection is closed.
            _ = file.path
        }
        try connection.transaction(.immediate) { try $0.emptySearchIndex() }
    }
}
