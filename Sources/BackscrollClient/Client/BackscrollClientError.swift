import Wire

/// The reason why a call of this library failed.
///
/// ``code`` is for programs: the server's own codes (docs/api.md), or one of those that are constants of this type.
public struct BackscrollClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The stable word for the error, such as `not_a_member`.
    public var code: String
    /// The error as a sentence for people who develop or operate the app.
    public var message: String
    /// The HTTP status; 0 if no answer came.
    public var status: Int
    /// The part of the request that is at fault, such as `attachments[0].width`.
    public var field: String?
    /// The bound that was exceeded.
    public var limit: Int?
    /// The room's highest `seq`, with ``headMoved``.
    public var head: Int64?
    /// The seconds after which the server asks to try again.
    public var retryAfter: Double?

    /// The server cannot be reached, or the connection ended before the answer.
    public static let unreachable = "unreachable"
    /// The task that waited was cancelled.
    public static let cancelled = "cancelled"
    /// The room or the client was closed.
    public static let closed = "closed"
    /// The answer is not what a Backscroll server sends.
    public static let invalidAnswer = "invalid_answer"
    /// The closure that returns tokens failed, or its token names no user.
    public static let tokenUnavailable = "token_unavailable"
    /// The closure that returns tokens has returned one of another user than before.
    public static let otherUser = "other_user"
    /// The server's URL is not an `http` or `https` URL with a host.
    public static let invalidServer = "invalid_server"
    /// The store's file is damaged, or is no database.
    public static let storeDamaged = "store_damaged"
    /// The store was written by a newer version of the library.
    public static let storeNewer = "store_newer"
    /// The store cannot be read or written, for example because the disk is full.
    public static let storeUnavailable = "store_unavailable"

    /// No failed message of the room has this id.
    public static let notFailed = "not_failed"
    /// No send of the room has this id.
    public static let unknownSend = "unknown_send"

    /// Creates an error.
    public init(
        code: String, message: String, status: Int = 0, field: String? = nil, limit: Int? = nil,
        head: Int64? = nil, retryAfter: Double? = nil
    ) {
        self.code = code
        self.message = message
        self.status = status
        self.field = field
        self.limit = limit
        self.head = head
        self.retryAfter = retryAfter
    }

    init(_ problem: Problem) {
        self.init(
            code: problem.code.string, message: problem.detail, status: problem.status, field: problem.field,
            limit: problem.limit, head: problem.head, retryAfter: problem.retryAfter.map(Double.init))
    }

    init(_ failure: TransportFailure) {
        switch failure.kind {
        case .cancelled: self = .isCancelled
        case .unreachable, .timedOut: self.init(code: Self.unreachable, message: failure.detail)
        case .invalidAnswer: self.init(code: Self.invalidAnswer, message: failure.detail)
        }
    }

    static var isCancelled: BackscrollClientError {
        BackscrollClientError(code: cancelled, message: "The task was cancelled.")
    }

    static var isClosed: BackscrollClientError {
        BackscrollClientError(code: closed, message: "The room was closed.")
    }

    /// True if the same call may succeed later: no answer came, or the status is 401, 408, 429 or 5xx. With 401 the
    /// server has refused the token, or the app has none of this user: the call succeeds once there is one.
    public var isTemporary: Bool {
        switch code {
        case Self.cancelled, Self.closed, Self.invalidServer, Self.storeDamaged, Self.storeNewer: false
        default: status == 0 || status == 401 || status == 408 || status == 429 || (500...599).contains(status)
        }
    }

    /// True if a request may succeed after a pause, without a new token.
    var isWorthRepeating: Bool { isTemporary && status != 401 }

    /// True if the user may no longer read the room.
    var endsAccess: Bool {
        ["not_a_member", "room_not_found", "room_not_allowed", "banned", "room_deleted"].contains(code)
    }

    /// The code and the sentence.
    public var description: String { "\(code): \(message)" }
}
