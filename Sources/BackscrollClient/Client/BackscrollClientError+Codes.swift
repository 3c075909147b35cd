/// The server's error codes (docs/api.md), to compare with ``BackscrollClientError/code``. A newer server may send others.
extension BackscrollClientError {
    // MARK: Malformed requests

    /// The request is not HTTP/1.1 as RFC 9112 defines it.
    public static let badRequest = "bad_request"
    /// The body or frame is not JSON.
    public static let invalidJSON = "invalid_json"
    /// A field has the wrong type.
    public static let invalidField = "invalid_field"
    /// A place in a room, a `since` or an epoch is malformed, or two places are given.
    public static let invalidCursor = "invalid_cursor"
    /// A `limit` is not a number or is outside its range.
    public static let invalidLimit = "invalid_limit"
    /// A room id violates its grammar.
    public static let invalidRoom = "invalid_room"
    /// A user id violates its grammar.
    public static let invalidUser = "invalid_user"
    /// The key of a reaction violates its grammar.
    public static let invalidReaction = "invalid_reaction"
    /// A requested test fault does not exist.
    public static let invalidFault = "invalid_fault"
    /// The server does not know the `type` of a frame on this connection.
    public static let unknownType = "unknown_type"

    // MARK: Messages that are not allowed

    /// A string or `data` has too many bytes.
    public static let tooLong = "too_long"
    /// A list has too many elements.
    public static let tooMany = "too_many"
    /// `data` is nested too deeply.
    public static let tooDeep = "too_deep"
    /// A message has neither text nor attachments.
    public static let emptyMessage = "empty_message"
    /// A string that must not be empty is empty.
    public static let emptyField = "empty_field"
    /// A string contains the character U+0000.
    public static let nulCharacter = "nul_character"
    /// An attachment lacks its type or `http(s)` URL, or has an invalid value.
    public static let invalidAttachment = "invalid_attachment"
    /// An image or video is sent without positive `width` and `height`.
    public static let sizeMissing = "size_missing"
    /// The room has no message with the `seq` in `reply_to`.
    public static let replyToNotFound = "reply_to_not_found"
    /// The `client_message_id` was first used for another content.
    public static let clientMessageIDReused = "client_message_id_reused"
    /// A ban would end in the past.
    public static let banOver = "ban_over"
    /// The room has the maximum number of bans.
    public static let tooManyBans = "too_many_bans"
    /// The user blocks the maximum number of users.
    public static let tooManyBlocks = "too_many_blocks"
    /// The server has the maximum number of webhooks.
    public static let tooManyWebhooks = "too_many_webhooks"
    /// A direct room does not allow the change, such as another member.
    public static let directRoom = "direct_room"
    /// A message already has the maximum number of different reaction keys.
    public static let tooManyReactions = "too_many_reactions"
    /// The room has the maximum number of pinned messages.
    public static let tooManyPins = "too_many_pins"
    /// The query of a search is not one that the server understands.
    public static let queryInvalid = "query_invalid"

    // MARK: Changes that are not allowed for a message

    /// Only the sender of the message may do this.
    public static let notTheSender = "not_the_sender"
    /// The message is deleted, which is permanent.
    public static let messageDeleted = "message_deleted"
    /// The message has changed since the revision that the client has seen.
    public static let preconditionFailed = "precondition_failed"
    /// The room has another highest `seq` than the one on which the send depends.
    public static let headMoved = "head_moved"

    // MARK: Missing resources and permissions

    /// The resource does not exist.
    public static let notFound = "not_found"
    /// The room does not exist, or is hidden from the caller.
    public static let roomNotFound = "room_not_found"
    /// The room has been deleted permanently. Its id is not reused.
    public static let roomDeleted = "room_deleted"
    /// The user is not a member of the room.
    public static let memberNotFound = "member_not_found"
    /// The user is not banned.
    public static let banNotFound = "ban_not_found"
    /// The message was not reported.
    public static let reportNotFound = "report_not_found"
    /// The user was never erased.
    public static let erasureNotFound = "erasure_not_found"
    /// There is no such webhook.
    public static let webhookNotFound = "webhook_not_found"
    /// The change would leave the room without an owner.
    public static let lastOwner = "last_owner"
    /// The room has no such message.
    public static let messageNotFound = "message_not_found"
    /// A cursor belongs to another epoch, or is beyond the room's latest revision.
    public static let cursorUnknown = "cursor_unknown"
    /// The request names no user, or its credentials are refused.
    public static let unauthenticated = "unauthenticated"
    /// The server requires a token and the request has none.
    public static let tokenMissing = "token_missing"
    /// The token is malformed, is not signed by a key of the server, or has a claim that the server does not
    /// accept.
    public static let tokenInvalid = "token_invalid"
    /// The token has expired.
    public static let tokenExpired = "token_expired"
    /// The token is not valid yet.
    public static let tokenNotYetValid = "token_not_yet_valid"
    /// The token is limited to other rooms.
    public static let roomNotAllowed = "room_not_allowed"
    /// The caller does not have this permission.
    public static let forbidden = "forbidden"
    /// Only owners of the room may send to it.
    public static let postingRestricted = "posting_restricted"
    /// The caller is banned from the room, or from the whole server.
    public static let banned = "banned"
    /// The app that the server asks about messages does not accept this one.
    public static let rejected = "rejected"
    /// The other user has blocked the caller.
    public static let blocked = "blocked"
    /// The caller is not a member of the room.
    public static let notAMember = "not_a_member"
    /// The server shows nobody the read marks of other users.
    public static let receiptsOff = "receipts_off"
    /// The request comes from a web page whose origin is not allowed.
    public static let originNotAllowed = "origin_not_allowed"
    /// The request was sent to a host name that a server in open mode does not accept.
    public static let hostNotAllowed = "host_not_allowed"

    // MARK: Refused frames on a socket for many rooms

    /// The socket is already subscribed to the room.
    public static let alreadySubscribed = "already_subscribed"
    /// The socket is not subscribed to the room.
    public static let notSubscribed = "not_subscribed"
    /// The socket has the maximum number of subscriptions.
    public static let tooManySubscriptions = "too_many_subscriptions"
    /// An admin has ended the connection, or has erased its user.
    public static let disconnected = "disconnected"
    /// The server does not offer this.
    public static let notAvailable = "not_available"

    // MARK: Refusals by HTTP, and servers that cannot serve

    /// The resource does not support the method.
    public static let methodNotAllowed = "method_not_allowed"
    /// The content type is not JSON.
    public static let unsupportedMediaType = "unsupported_media_type"
    /// The body has too many bytes.
    public static let bodyTooLarge = "body_too_large"
    /// The request did not arrive in time.
    public static let requestTimeout = "request_timeout"
    /// The caller exceeded its rate limit.
    public static let rateLimited = "rate_limited"
    /// The room is in slow mode, and the caller has sent a message to it lately.
    public static let slowMode = "slow_mode"
    /// The server's queues are full.
    public static let overloaded = "overloaded"
    /// The server is temporarily unavailable.
    public static let unavailable = "unavailable"
    /// The disk is full.
    public static let storageFull = "storage_full"
    /// The index for searches is being built for the first time.
    public static let indexBuilding = "index_building"
    /// The room is read-only because its part of the database is damaged.
    public static let roomUnavailable = "room_unavailable"
    /// The database's files were deleted or replaced while the server runs.
    public static let storageLost = "storage_lost"
    /// The server failed because of a bug or an unexpected condition.
    public static let internalError = "internal_error"

    // MARK: Malformed HTTP messages (RFC 9112)

    /// The request line is malformed.
    public static let requestLineInvalid = "request_line_invalid"
    /// A line does not end with CR LF.
    public static let lineEndInvalid = "line_end_invalid"
    /// There are too many empty lines before the request line.
    public static let tooManyEmptyLines = "too_many_empty_lines"
    /// The request target does not have a form that its method allows.
    public static let targetInvalid = "target_invalid"
    /// The path or query has an invalid percent-encoding.
    public static let targetEncodingInvalid = "target_encoding_invalid"
    /// A header line has no colon.
    public static let fieldLineInvalid = "field_line_invalid"
    /// A header name is not a token.
    public static let fieldNameInvalid = "field_name_invalid"
    /// A header value contains a control character.
    public static let fieldValueInvalid = "field_value_invalid"
    /// A header line begins with white space.
    public static let lineFolded = "line_folded"
    /// There is no Host.
    public static let hostMissing = "host_missing"
    /// There is more than one Host.
    public static let hostRepeated = "host_repeated"
    /// The Host is malformed.
    public static let hostInvalid = "host_invalid"
    /// There is both a Content-Length and a Transfer-Encoding.
    public static let framingAmbiguous = "framing_ambiguous"
    /// The Content-Length is not a number.
    public static let contentLengthInvalid = "content_length_invalid"
    /// There is more than one Content-Length.
    public static let contentLengthRepeated = "content_length_repeated"
    /// The Transfer-Encoding does not end in chunked.
    public static let transferEncodingInvalid = "transfer_encoding_invalid"
    /// An HTTP/1.0 request has a Transfer-Encoding.
    public static let transferEncodingUnexpected = "transfer_encoding_unexpected"
    /// A chunk of the body is malformed.
    public static let chunkInvalid = "chunk_invalid"
    /// The chunk extensions have too many bytes.
    public static let chunkExtensionsTooLong = "chunk_extensions_too_long"

    // MARK: HTTP messages that this server does not support

    /// The request target has too many bytes.
    public static let targetTooLong = "target_too_long"
    /// The request has an expectation other than 100-continue.
    public static let expectationUnknown = "expectation_unknown"
    /// The resource is a WebSocket, but the request does not ask for an upgrade.
    public static let upgradeRequired = "upgrade_required"
    /// The head of the request has too many bytes.
    public static let headTooLarge = "head_too_large"
    /// The head of the request has too many lines.
    public static let tooManyFields = "too_many_fields"
    /// The trailer section has too many bytes.
    public static let trailersTooLarge = "trailers_too_large"
    /// The method is longer than any implemented one.
    public static let methodTooLong = "method_too_long"
    /// The transfer coding is not chunked.
    public static let transferCodingUnknown = "transfer_coding_unknown"
    /// The version is neither HTTP/1.1 nor HTTP/1.0.
    public static let versionUnsupported = "version_unsupported"
    /// The server has the maximum number of connections.
    public static let tooManyConnections = "too_many_connections"
}
