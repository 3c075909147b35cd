/// The epoch of a database in PostgreSQL, for operators.
public enum DatabaseEpoch {
    /// Returns the epoch.
    ///
    /// - Parameter renewing: True to replace it first. Servers take the new one when they are started.
    /// - Throws: ``StoreError``.
    public static func read(_ location: DatabaseLocation, renewing: Bool) throws(StoreError) -> String {
        guard case .postgres(let url) = location else {
            throw .postgres("it is a file; only PostgreSQL's epoch can be renewed")
        }
        do {
            let connection = try PostgresConnection(
                PostgresConnection.Settings(
                    url: url, purpose: "backscroll epoch", answerTime: PostgresConnection.Settings.commandAnswerTime))
            try PostgresSchema.migrate(connection)
            if renewing { try PostgresSchema.renewEpoch(connection) }
            return try PostgresSchema.epoch(connection)
        } catch let error as StoreError {
            throw error
        } catch {
            throw .postgres("\(error)")
        }
    }
}
