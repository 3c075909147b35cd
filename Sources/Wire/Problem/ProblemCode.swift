extension Problem {
    /// The stable name of a fault. A code, once released, keeps its meaning.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code as clients read it, in `snake_case`.
        public let string: String

        /// A code with this name.
        public init(_ string: String) {
            self.string = string
        }

        /// The code as clients read it.
        public var description: String { string }
    }
}

/// Requests that cannot be read.
extension Problem.Code {
    /// The request is not HTTP/1.1 as RFC 9112 has it.
    public static let badRequest = Self("bad_request")
    /// The body or frame is not JSON.
    public static let invalidJSON = Self("invalid_json")
    /// A field has the wrong type.
    public static let invalidField = Self("invalid_field")
    /// A place in a room, a `since` or an epoch cannot be read, or two places are given.
    public static let invalidCursor = Self("invalid_cursor")
    /// A `limit` is not a number or is outside its range.
    public static let invalidLimit = Self("invalid_limit")
    /// A room id breaks its grammar.
    public static let invalidRoom = Self("invalid_room")
    /// A user id breaks its grammar.
    public static let invalidUser = Self("invalid_user")
    /// The key of a reaction breaks its grammar.
    public static let invalidReaction = Self("invalid_reaction")
    /// A fault that a request asks for is none that the server has, or cannot be had so.
    public static let invalidFault = Self("invalid_fault")
    /// A frame's `type` is none that the server knows here.
    public static let unknownType = Self("unknown_type")
}

/// Messages that are understood and not allowed.
extension Problem.Code {
    /// A string or `data` has too many bytes.
    public static let tooLong = Self("too_long")
    /// A list has too many elements.
    public static let tooMany = Self("too_many")
    /// `data` is nested too deep.
    public static let tooDeep = Self("too_deep")
    /// A message has neither text nor attachments.
    public static let emptyMessage = Self("empty_message")
    /// A string that must not be empty is empty.
    public static let emptyField = Self("empty_field")
    /// A string has the character U+0000 in it.
    public static let nulCharacter = Self("nul_character")
    /// An attachment lacks its type or `http(s)` URL, or has a value that cannot be.
    public static let invalidAttachment = Self("invalid_attachment")
    /// An image or video is sent without positive `width` and `height`.
    public static let sizeMissing = Self("size_missing")
    /// `reply_to` names no message of the room.
    public static let replyToNotFound = Self("reply_to_not_found")
    /// The `client_message_id` was first used for another content.
    public static let clientMessageIDReused = Self("client_message_id_reused")
    /// A message has reactions with as many different keys as there may be.
    public static let tooManyReactions = Self("too_many_reactions")
}

/// Changes that a message does not admit.
extension Problem.Code {
    /// Only who sent the message may do this.
    public static let notTheSender = Self("not_the_sender")
    /// The message is deleted, which is for ever.
    public static let messageDeleted = Self("message_deleted")
    /// The message has been changed since the revision that the client has seen.
    public static let preconditionFailed = Self("precondition_failed")
}

/// Requests for what is not there, or not theirs.
extension Problem.Code {
    /// No such resource.
    public static let notFound = Self("not_found")
    /// No such room, or none that the caller may know of.
    public static let roomNotFound = Self("room_not_found")
    /// No such member of the room.
    public static let memberNotFound = Self("member_not_found")
    /// The room's last owner would be none any more.
    public static let lastOwner = Self("last_owner")
    /// No such message in the room.
    public static let messageNotFound = Self("message_not_found")
    /// A cursor is of another epoch, or beyond what the room has seen.
    public static let cursorUnknown = Self("cursor_unknown")
    /// Nobody is named as the caller, or the credentials are refused.
    public static let unauthenticated = Self("unauthenticated")
    /// There is no token, and the server wants one.
    public static let tokenMissing = Self("token_missing")
    /// The token is none, is not signed by a key of the server's, or says what the server cannot take.
    public static let tokenInvalid = Self("token_invalid")
    /// The token's time is over.
    public static let tokenExpired = Self("token_expired")
    /// The token's time has not come.
    public static let tokenNotYetValid = Self("token_not_yet_valid")
    /// The token is limited to other rooms.
    public static let roomNotAllowed = Self("room_not_allowed")
    /// The caller may not do this.
    public static let forbidden = Self("forbidden")
    /// The caller is no member of the room.
    public static let notAMember = Self("not_a_member")
    /// The request comes from a web page of an origin that is not allowed.
    public static let originNotAllowed = Self("origin_not_allowed")
}

/// Frames on a socket for many rooms that cannot be served.
extension Problem.Code {
    /// The socket is subscribed to the room already.
    public static let alreadySubscribed = Self("already_subscribed")
    /// The socket is not subscribed to the room.
    public static let notSubscribed = Self("not_subscribed")
    /// The socket has as many subscriptions as it may have.
    public static let tooManySubscriptions = Self("too_many_subscriptions")
    /// The server does not offer this.
    public static let notAvailable = Self("not_available")
}

/// Requests that HTTP itself refuses, and servers that cannot serve.
extension Problem.Code {
    /// The resource does not know the method.
    public static let methodNotAllowed = Self("method_not_allowed")
    /// The content type is not JSON.
    public static let unsupportedMediaType = Self("unsupported_media_type")
    /// The body has too many bytes.
    public static let bodyTooLarge = Self("body_too_large")
    /// The head of the request has too many bytes or fields.
    public static let headerTooLarge = Self("header_too_large")
    /// The request did not arrive in time.
    public static let requestTimeout = Self("request_timeout")
    /// The caller asks too often.
    public static let rateLimited = Self("rate_limited")
    /// More is queued than the server takes.
    public static let overloaded = Self("overloaded")
    /// The server cannot serve at the moment.
    public static let unavailable = Self("unavailable")
    /// The disk is full.
    public static let storageFull = Self("storage_full")
    /// The server has made a mistake.
    public static let internalError = Self("internal_error")
}
