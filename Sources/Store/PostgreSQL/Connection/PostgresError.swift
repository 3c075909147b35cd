import Chat
import Wire

/// The failure of a statement or of the connection to PostgreSQL.
struct PostgresError: SQLError, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers tell apart.
    enum Kind: Sendable, Hashable {
        /// The connection cannot be made, was lost, or the server is starting or stopping. It is unknown if the
        /// statements in flight were executed.
        case connection
        /// Another transaction was in the way, and this one was rolled back. It will succeed if it is tried again.
        case conflict
        /// A unique index or another constraint refused a row, and the transaction was rolled back.
        case constraint
        /// The server refused the statement for another reason, and the transaction was rolled back.
        case statement
    }

    let kind: Kind
    /// The server's code of five characters (PostgreSQL manual, appendix A); empty if the failure is the connection's.
    let state: String
    /// The reason, in PostgreSQL's words. It has no password and no parameters.
    let description: String

    /// Creates the failure of a connection.
    init(connection reason: String) {
        kind = .connection
        state = ""
        description = reason
    }

    /// Creates the failure of a statement from the server's code.
    init(state: String, message: String) {
        self.state = state
        description = message
        kind =
            switch state {
            // serialization_failure, deadlock_detected, lock_not_available
            case "40001", "40P01", "55P03": .conflict
            // connection exceptions, and "operator intervention": the server stops, has crashed, or is starting
            case _ where state.hasPrefix("08") || state.hasPrefix("57P"): .connection
            // The transaction was idle for too long, see idle_in_transaction_session_timeout.
            case "25P03": .connection
            // A standby, or a session whose transactions are read-only: a new connection may lead to the primary.
            case Self.readOnlyState: .connection
            case _ where state.hasPrefix("23"): .constraint
            default: .statement
            }
    }

    /// The decisions of a transaction were made by an earlier state of the database.
    static let outdated = PostgresError(state: "40001", message: "access was taken away while the transaction waited")

    /// The server's code for a change in a read-only transaction.
    private static let readOnlyState = "25006"

    /// The database is read-only.
    ///
    /// - Parameter reason: The reason, as a sentence without a full stop.
    static func readOnly(because reason: String) -> PostgresError {
        PostgresError(state: readOnlyState, message: "the database is read-only: \(reason)")
    }

    /// A crash of PostgreSQL could lose changes that were committed. Like ``readOnly(because:)``, the node stores nothing.
    ///
    /// - Parameter reason: The settings, as a sentence without a full stop.
    static func unsafe(because reason: String) -> PostgresError {
        PostgresError(
            state: readOnlyState,
            message: "\(reason) in PostgreSQL, so its crash could lose acknowledged messages; turn it on, or start the "
                + "server with --unsafe-database to accept that")
    }

    /// True if the database is read-only. What it has refused for this reason is not stored.
    var isReadOnly: Bool { state == Self.readOnlyState }

    /// True if a room got a number beyond ``RowKey/maximumRoom``, which the table's only check of changing values refuses.
    var isRoomLimit: Bool { state == "23514" }

    /// True if another transaction has held a lock for longer than the session waits.
    var isLockTimeout: Bool { state == "55P03" }

    /// True if the cause is a value that the database cannot hold or that a constraint refuses: a data exception, an
    /// integrity constraint violation, or an exceeded program limit. The transaction may succeed without this value.
    var isOfValue: Bool { ["22", "23", "54"].contains(state.prefix(2)) }

    /// False: PostgreSQL does not tell which rooms a damaged page concerns.
    var isDamage: Bool { false }

    // The reason may name hosts and users. It is in the server's log, because sends fail as well.
    var readProblem: Problem { .databaseUnavailable }

    /// Another node created a room while this one was creating it.
    static let madeElsewhere = PostgresError(
        state: "40001", message: "another node has made the room at the same time")

    /// The database has another history than the one that the node began with, see ``DatabaseHistory``.
    static let otherHistory = PostgresError(
        state: "XX000",
        message: "the database has another history than before: it was restored, or a standby was promoted")
}

extension Problem {
    /// 503: PostgreSQL cannot be reached, or cannot execute statements. The reason is in the server's log only.
    static let databaseUnavailable = Problem.unavailable("The database is not available. Try again.")
}
