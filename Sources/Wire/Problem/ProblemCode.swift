extension Problem {
    /// The stable name of an error. A released code keeps its meaning. This list has all codes that clients can
    /// receive.
    public enum Code: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        // MARK: Malformed requests

        /// The request is not HTTP/1.1 as RFC 9112 defines it.
        case badRequest = "bad_request"
        /// The body or frame is not JSON.
        case invalidJSON = "invalid_json"
        /// A field has the wrong type.
        case invalidField = "invalid_field"
        /// A place in a room, a `since` or an epoch is malformed, or two places are given.
        case invalidCursor = "invalid_cursor"
        /// A `limit` is not a number or is outside its range.
        case invalidLimit = "invalid_limit"
        /// A room id violates its grammar.
        case invalidRoom = "invalid_room"
        /// A user id violates its grammar.
        case invalidUser = "invalid_user"
        /// The key of a reaction violates its grammar.
        case invalidReaction = "invalid_reaction"
        /// A requested test fault does not exist.
        case invalidFault = "invalid_fault"
        /// The server does not know the `type` of a frame on this connection.
        case unknownType = "unknown_type"

        // MARK: Messages that are not allowed

        /// A string or `data` has too many bytes.
        case tooLong = "too_long"
        /// A list has too many elements.
        case tooMany = "too_many"
        /// `data` is nested too deeply.
        case tooDeep = "too_deep"
        /// A message has neither text nor attachments.
        case emptyMessage = "empty_message"
        /// A string that must not be empty is empty.
        case emptyField = "empty_field"
        /// A string contains the character U+0000.
        case nulCharacter = "nul_character"
        /// An attachment lacks its type or `http(s)` URL, or has an invalid value.
        case invalidAttachment = "invalid_attachment"
        /// An image or video is sent without positive `width` and `height`.
        case sizeMissing = "size_missing"
        /// The room has no message with the `seq` in `reply_to`.
        case replyToNotFound = "reply_to_not_found"
        /// The `client_message_id` was first used for another content.
        case clientMessageIDReused = "client_message_id_reused"
        /// A ban would end in the past.
        case banOver = "ban_over"
        /// The room has the maximum number of bans.
        case tooManyBans = "too_many_bans"
        /// The user blocks the maximum number of users.
        case tooManyBlocks = "too_many_blocks"
        /// A direct room does not allow the change, such as another member.
        case directRoom = "direct_room"
        /// A message already has the maximum number of different reaction keys.
        case tooManyReactions = "too_many_reactions"
        /// The room has the maximum number of pinned messages.
        case tooManyPins = "too_many_pins"
        /// The server has the maximum number of webhooks.
        case tooManyWebhooks = "too_many_webhooks"

        /// The query of a search is not one that the server understands.
        case queryInvalid = "query_invalid"

        // MARK: Changes that are not allowed for a message

        /// Only the sender of the message may do this.
        case notTheSender = "not_the_sender"
        /// The message is deleted, which is permanent.
        case messageDeleted = "message_deleted"
        /// The message has changed since the revision that the client has seen.
        case preconditionFailed = "precondition_failed"
        /// The room has another highest `seq` than the one on which the send depends.
        case headMoved = "head_moved"

        // MARK: Missing resources and permissions

        /// The resource does not exist.
        case notFound = "not_found"
        /// The room does not exist, or is hidden from the caller.
        case roomNotFound = "room_not_found"
        /// The room has been deleted permanently. Its id is not reused.
        case roomDeleted = "room_deleted"
        /// The user is not a member of the room.
        case memberNotFound = "member_not_found"
        /// The user is not banned.
        case banNotFound = "ban_not_found"
        /// The message was not reported.
        case reportNotFound = "report_not_found"
        /// The user was never erased.
        case erasureNotFound = "erasure_not_found"
        /// There is no such webhook.
        case webhookNotFound = "webhook_not_found"
        /// The change would leave the room without an owner.
        case lastOwner = "last_owner"
        /// The room has no such message.
        case messageNotFound = "message_not_found"
        /// A cursor belongs to another epoch, or is beyond the room's latest revision.
        case cursorUnknown = "cursor_unknown"
        /// The request names no user, or its credentials are refused.
        case unauthenticated = "unauthenticated"
        /// The server requires a token and the request has none.
        case tokenMissing = "token_missing"
        /// The token is malformed, is not signed by a key of the server, or has a claim that the server does not
        /// accept.
        case tokenInvalid = "token_invalid"
        /// The token has expired.
        case tokenExpired = "token_expired"
        /// The token is not valid yet.
        case tokenNotYetValid = "token_not_yet_valid"
        /// The token is limited to other rooms.
        case roomNotAllowed = "room_not_allowed"
        /// The caller does not have this permission.
        case forbidden = "forbidden"
        /// Only owners of the room may send to it.
        case postingRestricted = "posting_restricted"
        /// The caller is banned from the room, or from the whole server.
        case banned = "banned"
        /// The app that the server asks about messages does not accept this one.
        case rejected = "rejected"
        /// The other user has blocked the caller.
        case blocked = "blocked"
        /// The caller is not a member of the room.
        case notAMember = "not_a_member"
        /// The server shows nobody the read marks of other users.
        case receiptsOff = "receipts_off"
        /// The request comes from a web page whose origin is not allowed.
        case originNotAllowed = "origin_not_allowed"
        /// The request was sent to a host name that a server in open mode does not accept.
        case hostNotAllowed = "host_not_allowed"

        // MARK: Refused frames on a socket for many rooms

        /// The socket is already subscribed to the room.
        case alreadySubscribed = "already_subscribed"
        /// The socket is not subscribed to the room.
        case notSubscribed = "not_subscribed"
        /// The socket has the maximum number of subscriptions.
        case tooManySubscriptions = "too_many_subscriptions"
        /// An admin has ended the connection, or has erased its user.
        case disconnected = "disconnected"
        /// The server does not offer this.
        case notAvailable = "not_available"

        // MARK: Refusals by HTTP, and servers that cannot serve

        /// The resource does not support the method.
        case methodNotAllowed = "method_not_allowed"
        /// The content type is not JSON.
        case unsupportedMediaType = "unsupported_media_type"
        /// The body has too many bytes.
        case bodyTooLarge = "body_too_large"
        /// The request did not arrive in time.
        case requestTimeout = "request_timeout"
        /// The caller exceeded its rate limit.
        case rateLimited = "rate_limited"
        /// The room is in slow mode, and the caller has sent a message to it lately.
        case slowMode = "slow_mode"
        /// The server's queues are full.
        case overloaded = "overloaded"
        /// The server is temporarily unavailable.
        case unavailable = "unavailable"
        /// The index for searches is being built for the first time.
        case indexBuilding = "index_building"
        /// The disk is full.
        case storageFull = "storage_full"
        /// The room is read-only because its part of the database is damaged.
        case roomUnavailable = "room_unavailable"
        /// The database's files were deleted or replaced while the server runs.
        case storageLost = "storage_lost"
        /// The server failed because of a bug or an unexpected condition.
        case internalError = "internal_error"

        // MARK: Malformed HTTP messages (RFC 9112)

        /// The request line is malformed.
        case requestLineInvalid = "request_line_invalid"
        /// A line does not end with CR LF.
        case lineEndInvalid = "line_end_invalid"
        /// There are too many empty lines before the request line.
        case tooManyEmptyLines = "too_many_empty_lines"
        /// The request target does not have a form that its method allows.
        case targetInvalid = "target_invalid"
        /// The path or query has an invalid percent-encoding.
        case targetEncodingInvalid = "target_encoding_invalid"
        /// A header line has no colon.
        case fieldLineInvalid = "field_line_invalid"
        /// A header name is not a token.
        case fieldNameInvalid = "field_name_invalid"
        /// A header value contains a control character.
        case fieldValueInvalid = "field_value_invalid"
        /// A header line begins with white space.
        case lineFolded = "line_folded"
        /// There is no Host.
        case hostMissing = "host_missing"
        /// There is more than one Host.
        case hostRepeated = "host_repeated"
        /// The Host is malformed.
        case hostInvalid = "host_invalid"
        /// There is both a Content-Length and a Transfer-Encoding.
        case framingAmbiguous = "framing_ambiguous"
        /// The Content-Length is not a number.
        case contentLengthInvalid = "content_length_invalid"
        /// There is more than one Content-Length.
        case contentLengthRepeated = "content_length_repeated"
        /// The Transfer-Encoding does not end in chunked.
        case transferEncodingInvalid = "transfer_encoding_invalid"
        /// An HTTP/1.0 request has a Transfer-Encoding.
        case transferEncodingUnexpected = "transfer_encoding_unexpected"
        /// A chunk of the body is malformed.
        case chunkInvalid = "chunk_invalid"
        /// The chunk extensions have too many bytes.
        case chunkExtensionsTooLong = "chunk_extensions_too_long"

        // MARK: HTTP messages that this server does not support

        /// The request target has too many bytes.
        case targetTooLong = "target_too_long"
        /// The request has an expectation other than 100-continue.
        case expectationUnknown = "expectation_unknown"
        /// The resource is a WebSocket, but the request does not ask for an upgrade.
        case upgradeRequired = "upgrade_required"
        /// The head of the request has too many bytes.
        case headTooLarge = "head_too_large"
        /// The head of the request has too many lines.
        case tooManyFields = "too_many_fields"
        /// The trailer section has too many bytes.
        case trailersTooLarge = "trailers_too_large"
        /// The method is longer than any implemented one.
        case methodTooLong = "method_too_long"
        /// The transfer coding is not chunked.
        case transferCodingUnknown = "transfer_coding_unknown"
        /// The version is neither HTTP/1.1 nor HTTP/1.0.
        case versionUnsupported = "version_unsupported"
        /// The server has the maximum number of connections.
        case tooManyConnections = "too_many_connections"

        /// The code as clients read it, in `snake_case`.
        public var string: String { rawValue }

        /// The code as clients read it.
        public var description: String { rawValue }
    }
}
