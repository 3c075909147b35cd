import Chat
import Wire

/// The failure of a statement or of the connection to PostgreSQL.
struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure that callers tell apart.
    enum Kind: Sendable, Hashable {
        /// The connection cannot be made, was lost, or the server is starting or stopping. Whether the statements in
        /// flight were executed is unknown.
        case connection
        /// Another transaction was in the way, and this one was rolled back. It will succeed if it is tried again.
        case conflict
        /// A unique index or another constraint refused a row, and the transaction was rolled back.
        case constraint
        /// The server refused the statement for another reason, and the transaction was rolled back.
        case statement
    }

    /// The kind of failure.
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
            // A primary that has become a standby.
            case "25006": .connection
            case _ where state.hasPrefix("23"): .constraint
            default: .statement
            }
    }

    /// True if a value is the cause, which the database cannot hold, or which a constraint refuses: a data exception, an
    /// integrity constraint violation, or an exceeded program limit. The transaction may succeed without it.
    var isOfValue: Bool { ["22", "23", "54"].contains(state.prefix(2)) }

    /// Another node has made a room in the moment in which this one wanted to.
    static let madeElsewhere = PostgresError(
        state: "40001", message: "another node has made the room at the same time")

    /// The database is not the one with which the node has begun, see ``DatabaseHistory``.
    static let otherHistory = PostgresError(
        state: "XX000",
        message: "the database has another history than before: it was restored, or a standby was promoted")
}

extension Problem {
    /// 503: PostgreSQL cannot be reached, or cannot execute statements. The reason is in the server's log only.
    static let databaseUnavailable = Problem.unavailable("The database is not available. Try again.")
}
