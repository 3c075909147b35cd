import Synchronization

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

/// The history that a node began with. Each new connection of the node is checked against it.
///
/// When a database is restored or a standby is promoted, the end of the history may be missing. Its revisions are then
/// used again for other changes, so earlier cursors no longer mean the same. A node does not use such a connection. It
/// must start again with the new epoch, which tells clients to load their rooms again.
final class DatabaseHistory: Sendable {
    /// The epoch that the node began with.
    let epoch: String
    private let onOther: (@Sendable () -> Void)?
    private let hasFoundOther = Atomic(false)

    /// Creates the history of a node.
    ///
    /// - Parameter onOther: Called once, on the thread of the first connection that leads to another history.
    init(epoch: String, onOther: (@Sendable () -> Void)?) {
        self.epoch = epoch
        self.onOther = onOther
    }

    /// True once a connection has led to another history.
    var isOther: Bool { hasFoundOther.load(ordering: .acquiring) }

    /// Checks a connection.
    ///
    /// - Throws: ``PostgresError/otherHistory``; another ``PostgresError`` if the epoch cannot be read.
    func check(_ connection: PostgresConnection) throws(PostgresError) {
        let current: String?
        do {
            current = try PostgresSchema.epoch(connection)
        } catch let error as PostgresError {
            throw error
        } catch {
            // The database has lost its epoch.
            current = nil
        }
        if current == epoch { return }
        if !hasFoundOther.exchange(true, ordering: .acquiringAndReleasing) { onOther?() }
        throw .otherHistory
    }
}
