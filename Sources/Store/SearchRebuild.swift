import Glibc

/// Empties the index for searches, so that a server builds it again: the next one, or with PostgreSQL one that runs.
public struct SearchRebuild: Sendable {
    /// Notes that searches wait for the index, if there are messages.
    static let noteBuilding = """
        INSERT INTO meta SELECT 'search_building', '0' WHERE EXISTS (SELECT 1 FROM messages)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value
        """

    private let database: DatabaseLocation

    /// Prepares to empty the index of a database.
    public init(_ database: DatabaseLocation) {
        self.database = database
    }

    /// Empties the index.
    ///
    /// - Throws: ``StoreError`` if there is no database, or a server has its file open.
    public func run() throws {
        switch database {
        case .file(let path): try Self.run(file: path)
        case .postgres(let url): try Self.run(postgres: url)
        }
    }

    private static func run(postgres url: String) throws {
        do {
            let connection = try PostgresConnection(
                PostgresConnection.Settings(
                    url: url, purpose: "backscroll index", answerTime: PostgresConnection.Settings.commandAnswerTime))
            try PostgresSchema.migrate(connection)
            // The node that indexes begins anew with its next look.
            try connection.requireSearchRebuild()
        } catch let error as PostgresError {
            throw StoreError.postgres("\(error)")
        }
    }

    private static func run(file path: String) throws {
        guard access(path, F_OK) == 0 else { throw StoreError.missing(path) }
        try DatabaseFile.withWriter(of: path) { db in
            try db.transaction(.immediate) { try $0.emptySearchIndex() }
        }
    }
}

extension SQLDatabase {
    /// Lets searches wait, if there are messages, until a server has built the index from the beginning.
    func requireSearchRebuild() throws {
        try run(SearchRebuild.noteBuilding)
        try run("DELETE FROM meta WHERE key = 'search_version'")
    }
}
