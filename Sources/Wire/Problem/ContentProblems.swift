/// 400: malformed input.
extension Problem {
    /// 400 `invalid_json`: `detail` tells what is wrong and where.
    public static func invalidJSON(_ detail: String) -> Problem {
        Problem(code: .invalidJSON, detail: detail)
    }

    /// 400 `invalid_field`: the field is not what it `must` be, such as "a string".
    public static func invalidField(_ field: String, must: String) -> Problem {
        Problem(code: .invalidField, detail: "\(field) must be \(must).", field: field)
    }

    /// 400 `invalid_field`: the field is not an integer within a range.
    public static func outOfRange(_ field: String, _ range: ClosedRange<Int>) -> Problem {
        Problem(
            code: .invalidField,
            detail: "\(field) must be an integer from \(range.lowerBound) to \(range.upperBound).", field: field,
            limit: range.upperBound)
    }

    /// 400 `invalid_field`: the field is `.` or `..`, which cannot stand in a URL: clients remove them from paths.
    public static func dotSegment(_ field: String) -> Problem {
        invalidField(field, must: "another id than . and .., which clients remove from URLs")
    }

    /// 400 `invalid_cursor`: `field` is the parameter at fault.
    public static func invalidCursor(_ field: String, detail: String) -> Problem {
        Problem(code: .invalidCursor, detail: detail, field: field)
    }

    /// 400 `invalid_limit`: the `limit` is not a number from 1 to `maximum`.
    public static func invalidLimit(maximum: Int) -> Problem {
        Problem(
            code: .invalidLimit, detail: "limit must be a number from 1 to \(maximum).",
            field: "limit", limit: maximum)
    }

    /// 400 `invalid_room`: the room id violates its grammar.
    public static var invalidRoom: Problem {
        Problem(
            code: .invalidRoom,
            detail:
                "A room id is 1 to 128 letters, digits and . _ ~ - and begins with a letter or digit, or is that of a direct room.",
            field: "room", limit: RoomID.maximumBytes)
    }

    /// 400 `invalid_user`: the user id violates its grammar.
    public static var invalidUser: Problem {
        Problem(
            code: .invalidUser,
            detail: "A user id is 1 to 128 bytes of printable UTF-8 without spaces, and not ., .. or ~deleted.",
            field: "user", limit: UserID.maximumBytes)
    }

    /// 400 `invalid_reaction`: the key of a reaction violates its grammar.
    public static var invalidReaction: Problem {
        Problem(
            code: .invalidReaction,
            detail:
                "The key of a reaction is 1 to \(Limits.reactionKeyBytes) bytes of printable UTF-8 without spaces, and not . or ..",
            field: "key", limit: Limits.reactionKeyBytes)
    }

    /// 400 `invalid_fault`: `detail` tells what is wrong with the faults that `field` requests, and lists the available
    /// ones.
    public static func invalidFault(_ field: String, detail: String, limit: Int? = nil) -> Problem {
        Problem(code: .invalidFault, detail: detail, field: field, limit: limit)
    }

    /// 400 `unknown_type`: the server does not know a frame's `type` on this connection.
    public static func unknownType(_ type: String) -> Problem {
        Problem(code: .unknownType, detail: "Unknown frame type \"\(type)\".", field: "type")
    }
}

/// 422: valid input that is not allowed.
extension Problem {
    /// 422 `too_long`: the field has more than `limit` bytes.
    public static func tooLong(_ field: String, limit: Int) -> Problem {
        Problem(
            code: .tooLong, detail: "\(field) must not have more than \(limit) bytes.", field: field,
            limit: limit)
    }

    /// 422 `too_many`: the field has more than `limit` elements.
    public static func tooMany(_ field: String, limit: Int) -> Problem {
        Problem(
            code: .tooMany, detail: "\(field) must not have more than \(limit) elements.", field: field,
            limit: limit)
    }

    /// 422 `too_deep`: the field is nested deeper than `limit`.
    public static func tooDeep(_ field: String, limit: Int) -> Problem {
        Problem(
            code: .tooDeep, detail: "\(field) must not be nested more than \(limit) levels deep.", field: field,
            limit: limit)
    }

    /// 422 `empty_message`: the message has neither a text that shows something nor attachments.
    public static var emptyMessage: Problem {
        Problem(
            code: .emptyMessage,
            detail: "A message needs attachments, or a text with more than spaces and invisible characters.",
            field: "text")
    }

    /// 422 `empty_field`: the field must not be the empty string.
    public static func emptyField(_ field: String) -> Problem {
        Problem(code: .emptyField, detail: "\(field) must not be empty.", field: field)
    }

    /// 422 `nul_character`: the field contains U+0000, which some clients and databases cannot store.
    public static func nulCharacter(_ field: String) -> Problem {
        Problem(code: .nulCharacter, detail: "\(field) must not contain U+0000.", field: field)
    }

    /// 422 `invalid_attachment`: the field of an attachment is not what it `must` be.
    public static func invalidAttachment(_ field: String, must: String) -> Problem {
        Problem(code: .invalidAttachment, detail: "\(field) must be \(must).", field: field)
    }

    /// 422 `size_missing`: the field, the width or height of an image or video, is absent or not positive.
    public static func sizeMissing(_ field: String) -> Problem {
        Problem(
            code: .sizeMissing,
            detail: "\(field) must be a positive number of pixels. Clients lay out an image or video before it loads.",
            field: field)
    }

    /// 422 `reply_to_not_found`: the room has no message with that `seq`.
    public static var replyToNotFound: Problem {
        Problem(
            code: .replyToNotFound, detail: "reply_to must be the seq of a message of the room.",
            field: "reply_to")
    }

    /// 422 `client_message_id_reused`: the id was first used for another content.
    public static var clientMessageIDReused: Problem {
        Problem(
            code: .clientMessageIDReused,
            detail: "This client_message_id was already used with other content. Use a new one for a new message.",
            field: "client_message_id")
    }
}

/// 403, 409, 412, 422: changes that are not allowed for a message.
extension Problem {
    /// 403 `not_the_sender`: another user sent the message.
    public static var notTheSender: Problem {
        Problem(code: .notTheSender, detail: "Only the sender of a message may do this.")
    }

    /// 409 `message_deleted`: the message is deleted, which is permanent.
    public static var messageDeleted: Problem {
        Problem(code: .messageDeleted, detail: "The message has been deleted.")
    }

    /// 412 `precondition_failed`: the message's revision is `rev`, not the one that the client requires.
    public static func preconditionFailed(rev: Int64) -> Problem {
        Problem(
            code: .preconditionFailed, detail: "The message has been changed: its ETag is \"\(rev)\".",
            field: "If-Match")
    }

    /// 412 `head_moved`: the room's highest `seq` is `head`, not the one on which the send depends.
    public static func headMoved(_ head: Int64) -> Problem {
        Problem(
            code: .headMoved, detail: "The room's head is \(head). Read what is new, then decide.",
            field: "expect_head", head: head)
    }

    /// 422 `too_many_reactions`: the message already has the maximum number of different reaction keys.
    public static var tooManyReactions: Problem {
        Problem(
            code: .tooManyReactions,
            detail: "A message has reactions with at most \(Limits.reactionKeys) different keys.", field: "key",
            limit: Limits.reactionKeys)
    }
}

extension Problem {
    /// 422 `too_many_pins`: the room has the maximum number of pinned messages.
    public static var tooManyPins: Problem {
        Problem(
            code: .tooManyPins, detail: "A room must not have more than \(Limits.pins) pinned messages.",
            limit: Limits.pins)
    }
}

/// 500: failures.
extension Problem {
    /// 500 `internal_error`: the server failed because of a bug or an unexpected condition.
    public static func internalError(_ detail: String) -> Problem {
        Problem(code: .internalError, detail: detail)
    }
}
