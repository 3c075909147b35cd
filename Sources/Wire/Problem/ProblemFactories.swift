/// 400: what cannot be read.
extension Problem {
    /// 400 `invalid_json`: `detail` tells what is wrong and where.
    public static func invalidJSON(_ detail: String) -> Problem {
        Problem(status: 400, code: .invalidJSON, detail: detail)
    }

    /// 400 `invalid_field`: the field is not what it `must` be, such as "a string".
    public static func invalidField(_ field: String, must: String) -> Problem {
        Problem(status: 400, code: .invalidField, detail: "\(field) must be \(must).", field: field)
    }

    /// 400 `invalid_cursor`: `field` is the parameter that was given.
    public static func invalidCursor(_ field: String, detail: String) -> Problem {
        Problem(status: 400, code: .invalidCursor, detail: detail, field: field)
    }

    /// 400 `invalid_limit`: the `limit` is no number from 1 to `maximum`.
    public static func invalidLimit(maximum: Int) -> Problem {
        Problem(
            status: 400, code: .invalidLimit, detail: "limit must be a number from 1 to \(maximum).",
            field: "limit", limit: maximum)
    }

    /// 400 `invalid_room`: the room id breaks its grammar.
    public static var invalidRoom: Problem {
        Problem(
            status: 400, code: .invalidRoom,
            detail: "A room id is 1 to 128 letters, digits and . _ ~ - and begins with a letter or digit.",
            field: "room", limit: RoomID.maximumBytes)
    }

    /// 400 `invalid_user`: the user id breaks its grammar.
    public static var invalidUser: Problem {
        Problem(
            status: 400, code: .invalidUser,
            detail: "A user id is 1 to 128 bytes of printable UTF-8 without spaces.",
            field: "user", limit: UserID.maximumBytes)
    }

    /// 400 `invalid_reaction`: the key of a reaction breaks its grammar.
    public static var invalidReaction: Problem {
        Problem(
            status: 400, code: .invalidReaction,
            detail: "The key of a reaction is 1 to \(Limits.reactionKeyBytes) bytes of printable UTF-8 without spaces.",
            field: "key", limit: Limits.reactionKeyBytes)
    }

    /// 400 `invalid_fault`: `detail` tells what is wrong with the faults that `field` asks for, and which there are.
    public static func invalidFault(_ field: String, detail: String, limit: Int? = nil) -> Problem {
        Problem(status: 400, code: .invalidFault, detail: detail, field: field, limit: limit)
    }

    /// 400 `unknown_type`: a frame's `type` is none that the server knows here.
    public static func unknownType(_ type: String) -> Problem {
        Problem(status: 400, code: .unknownType, detail: "No frame of type \"\(type)\" is known here.", field: "type")
    }
}

/// 422: what is understood and not allowed.
extension Problem {
    /// 422 `too_long`: the field has more than `limit` bytes.
    public static func tooLong(_ field: String, limit: Int) -> Problem {
        Problem(
            status: 422, code: .tooLong, detail: "\(field) must not have more than \(limit) bytes.", field: field,
            limit: limit)
    }

    /// 422 `too_many`: the field has more than `limit` elements.
    public static func tooMany(_ field: String, limit: Int) -> Problem {
        Problem(
            status: 422, code: .tooMany, detail: "\(field) must not have more than \(limit) elements.", field: field,
            limit: limit)
    }

    /// 422 `too_deep`: the field is nested more than `limit` deep.
    public static func tooDeep(_ field: String, limit: Int) -> Problem {
        Problem(
            status: 422, code: .tooDeep, detail: "\(field) must not be nested more than \(limit) deep.", field: field,
            limit: limit)
    }

    /// 422 `empty_message`: neither text nor attachments.
    public static var emptyMessage: Problem {
        Problem(
            status: 422, code: .emptyMessage, detail: "A message needs a text or attachments, or both.", field: "text")
    }

    /// 422 `empty_field`: the field must not be the empty string.
    public static func emptyField(_ field: String) -> Problem {
        Problem(status: 422, code: .emptyField, detail: "\(field) must not be empty.", field: field)
    }

    /// 422 `nul_character`: the field has U+0000 in it, which not every client and database can hold.
    public static func nulCharacter(_ field: String) -> Problem {
        Problem(status: 422, code: .nulCharacter, detail: "\(field) must not contain U+0000.", field: field)
    }

    /// 422 `invalid_attachment`: the field of an attachment is not what it `must` be.
    public static func invalidAttachment(_ field: String, must: String) -> Problem {
        Problem(status: 422, code: .invalidAttachment, detail: "\(field) must be \(must).", field: field)
    }

    /// 422 `size_missing`: the field, the width or height of an image or video, is absent or not positive.
    public static func sizeMissing(_ field: String) -> Problem {
        Problem(
            status: 422, code: .sizeMissing,
            detail: "\(field) must be positive: an image or video is laid out before it has loaded.", field: field)
    }

    /// 422 `reply_to_not_found`: the room has no message of that `seq`.
    public static var replyToNotFound: Problem {
        Problem(
            status: 422, code: .replyToNotFound, detail: "reply_to must be the seq of a message of the room.",
            field: "reply_to")
    }

    /// 422 `client_message_id_reused`: the id was first used for another content.
    public static var clientMessageIDReused: Problem {
        Problem(
            status: 422, code: .clientMessageIDReused,
            detail: "This client_message_id was first sent with another content.", field: "client_message_id")
    }
}

/// 403, 409, 412, 422: changes that a message does not admit.
extension Problem {
    /// 403 `not_the_sender`: the message is somebody else's.
    public static var notTheSender: Problem {
        Problem(status: 403, code: .notTheSender, detail: "Only the sender of a message may do this.")
    }

    /// 409 `message_deleted`: the message is deleted, which is for ever.
    public static var messageDeleted: Problem {
        Problem(status: 409, code: .messageDeleted, detail: "The message has been deleted.")
    }

    /// 412 `precondition_failed`: the message is at another revision, `rev`, than the client has asked for.
    public static func preconditionFailed(rev: Int64) -> Problem {
        Problem(
            status: 412, code: .preconditionFailed, detail: "The message has been changed: its ETag is \"\(rev)\".",
            field: "If-Match")
    }

    /// 422 `too_many_reactions`: the message has reactions with as many different keys as there may be.
    public static var tooManyReactions: Problem {
        Problem(
            status: 422, code: .tooManyReactions,
            detail: "A message has reactions with at most \(Limits.reactionKeys) different keys.", field: "key",
            limit: Limits.reactionKeys)
    }
}

/// 401, 403, 404, 410: what is not there, or not the caller's.
extension Problem {
    /// 404 `not_found`: no such resource.
    public static var notFound: Problem {
        Problem(status: 404, code: .notFound, detail: "There is nothing here.")
    }

    /// 404 `room_not_found`: no such room, or a private one of which the caller is no member.
    public static var roomNotFound: Problem {
        Problem(status: 404, code: .roomNotFound, detail: "There is no such room.")
    }

    /// 404 `member_not_found`: the user is no member of the room.
    public static var memberNotFound: Problem {
        Problem(status: 404, code: .memberNotFound, detail: "The room has no such member.")
    }

    /// 409 `last_owner`: a room has an owner at all times.
    public static var lastOwner: Problem {
        Problem(status: 409, code: .lastOwner, detail: "The room's last owner stays until there is another one.")
    }

    /// 403 `forbidden`: the caller is no owner of the room.
    public static var notAnOwner: Problem {
        .forbidden("Only owners of the room may do this.")
    }

    /// 404 `message_not_found`: no such message in the room.
    public static var messageNotFound: Problem {
        Problem(status: 404, code: .messageNotFound, detail: "The room has no such message.")
    }

    /// 410 `cursor_unknown`: the cursor is of another epoch, or beyond what the room has seen.
    public static var cursorUnknown: Problem {
        Problem(
            status: 410, code: .cursorUnknown,
            detail: "The cursor belongs to another history of the room. Load the room afresh.", field: "since")
    }

    /// 410 `cursor_unknown`: the cursor of a list of rooms is of another epoch.
    public static var listCursorUnknown: Problem {
        Problem(
            status: 410, code: .cursorUnknown,
            detail: "The cursor belongs to another history. Load the list from its beginning.", field: "cursor")
    }

    /// 401 `unauthenticated`: `detail` tells what is missing or refused.
    public static func unauthenticated(_ detail: String) -> Problem {
        Problem(status: 401, code: .unauthenticated, detail: detail)
    }

    /// 401 `token_missing`: the request carries no token.
    public static var tokenMissing: Problem {
        Problem(
            status: 401, code: .tokenMissing,
            detail: "Send a token: Authorization: Bearer TOKEN, or the parameter access_token.")
    }

    /// 401 `token_invalid`: `detail` tells what is wrong with the token, and nothing that is in it.
    public static func tokenInvalid(_ detail: String, limit: Int? = nil) -> Problem {
        Problem(status: 401, code: .tokenInvalid, detail: detail, limit: limit)
    }

    /// 401 `token_expired`: get a new one.
    public static var tokenExpired: Problem {
        Problem(status: 401, code: .tokenExpired, detail: "The token has expired.")
    }

    /// 401 `token_not_yet_valid`: its `nbf` lies ahead.
    public static var tokenNotYetValid: Problem {
        Problem(status: 401, code: .tokenNotYetValid, detail: "The token is not valid yet.")
    }

    /// 403 `room_not_allowed`: the token is limited to other rooms.
    public static var roomNotAllowed: Problem {
        Problem(status: 403, code: .roomNotAllowed, detail: "The token is not for this room.", field: "room")
    }

    /// 403 `forbidden`: `detail` tells who may.
    public static func forbidden(_ detail: String) -> Problem {
        Problem(status: 403, code: .forbidden, detail: detail)
    }

    /// 403 `not_a_member`: the caller is no member of the room, or not any more.
    public static var notAMember: Problem {
        Problem(status: 403, code: .notAMember, detail: "Only members of the room may do this.")
    }

    /// 403 `origin_not_allowed`: the `Origin` of the request is not one that the server trusts.
    public static var originNotAllowed: Problem {
        Problem(
            status: 403, code: .originNotAllowed, detail: "Web pages of this origin may not use this server.",
            field: "Origin")
    }
}

/// 409, 422, 501: what a socket for many rooms does not do.
extension Problem {
    /// 409 `already_subscribed`: the subscription that there is goes on as it is.
    public static var alreadySubscribed: Problem {
        Problem(status: 409, code: .alreadySubscribed, detail: "This socket is subscribed to the room already.")
    }

    /// 409 `already_subscribed`: the socket follows its user's rooms.
    public static var alreadyFollowing: Problem {
        Problem(
            status: 409, code: .alreadySubscribed, detail: "This socket is subscribed to its user's rooms already.")
    }

    /// 409 `not_subscribed`: the socket does not follow its user's rooms.
    public static var notFollowing: Problem {
        Problem(status: 409, code: .notSubscribed, detail: "This socket is not subscribed to its user's rooms.")
    }

    /// 409 `not_subscribed`: the socket has no subscription to the room.
    public static var notSubscribed: Problem {
        Problem(status: 409, code: .notSubscribed, detail: "This socket is not subscribed to the room.")
    }

    /// 422 `too_many_subscriptions`: the socket has `limit` of them.
    public static func tooManySubscriptions(limit: Int) -> Problem {
        Problem(
            status: 422, code: .tooManySubscriptions,
            detail: "A socket must not be subscribed to more than \(limit) rooms.", limit: limit)
    }

    /// 501 `not_available`: `detail` tells what the server does not offer.
    public static func notAvailable(_ detail: String) -> Problem {
        Problem(status: 501, code: .notAvailable, detail: detail)
    }
}

/// What HTTP refuses, and a server that cannot serve.
extension Problem {
    /// 400 `bad_request`: `detail` tells what is no HTTP/1.1.
    public static func badRequest(_ detail: String) -> Problem {
        Problem(status: 400, code: .badRequest, detail: detail)
    }

    /// 405 `method_not_allowed`: the answer's `Allow` header tells which methods are.
    public static var methodNotAllowed: Problem {
        Problem(status: 405, code: .methodNotAllowed, detail: "The resource does not know this method.")
    }

    /// 415 `unsupported_media_type`: the content type contradicts JSON.
    public static var unsupportedMediaType: Problem {
        Problem(
            status: 415, code: .unsupportedMediaType, detail: "The body must be application/json.",
            field: "Content-Type")
    }

    /// 413 `body_too_large`: the body has more than `limit` bytes.
    public static func bodyTooLarge(limit: Int) -> Problem {
        Problem(
            status: 413, code: .bodyTooLarge, detail: "The body must not have more than \(limit) bytes.", limit: limit)
    }

    /// 408 `request_timeout`: `detail` tells what did not arrive in time.
    public static func requestTimeout(_ detail: String) -> Problem {
        Problem(status: 408, code: .requestTimeout, detail: detail)
    }

    /// 429 `rate_limited`: the caller may try again after `seconds`.
    public static func rateLimited(retryAfter seconds: Int) -> Problem {
        Problem(status: 429, code: .rateLimited, detail: "Too many requests.", retryAfter: seconds)
    }

    /// 503 `overloaded`: more is queued than the server takes; try again after a second.
    public static var overloaded: Problem {
        Problem(status: 503, code: .overloaded, detail: "The server has too much to do at the moment.", retryAfter: 1)
    }

    /// 503 `unavailable`: `detail` tells what is; try again after a second.
    public static func unavailable(_ detail: String) -> Problem {
        Problem(status: 503, code: .unavailable, detail: detail, retryAfter: 1)
    }

    /// 503 `storage_full`: the commit failed for want of space; nothing of it was stored.
    public static var storageFull: Problem {
        Problem(
            status: 503, code: .storageFull, detail: "The server has no space left. Nothing was stored.", retryAfter: 5)
    }

    /// 500 `internal_error`: a mistake of the server.
    public static func internalError(_ detail: String) -> Problem {
        Problem(status: 500, code: .internalError, detail: detail)
    }
}
