extension Problem {
    /// The stable name of a fault. A code, once released, keeps its meaning. Here are all that clients can meet.
    public enum Code: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
        // MARK: Requests that cannot be read

        /// The request is not HTTP/1.1 as RFC 9112 has it.
        case badRequest = "bad_request"
        /// The body or frame is not JSON.
        case invalidJSON = "invalid_json"
        /// A field has the wrong type.
        case invalidField = "invalid_field"
        /// A place in a room, a `since` or an epoch cannot be read, or two places are given.
        case invalidCursor = "invalid_cursor"
        /// A `limit` is not a number or is outside its range.
        case invalidLimit = "invalid_limit"
        /// A room id breaks its grammar.
        case invalidRoom = "invalid_room"
        /// A user id breaks its grammar.
        case invalidUser = "invalid_user"
        /// The key of a reaction breaks its grammar.
        case invalidReaction = "invalid_reaction"
        /// The faults that a client asks for, for a trial, are none that there are.
        case invalidFault = "invalid_fault"
        /// A frame's `type` is none that the server knows here.
        case unknownType = "unknown_type"

        // MARK: Messages that are understood and not allowed

        /// A string or `data` has too many bytes.
        case tooLong = "too_long"
        /// A list has too many elements.
        case tooMany = "too_many"
        /// `data` is nested too deep.
        case tooDeep = "too_deep"
        /// A message has neither text nor attachments.
        case emptyMessage = "empty_message"
        /// A string that must not be empty is empty.
        case emptyField = "empty_field"
        /// A string has the character U+0000 in it.
        case nulCharacter = "nul_character"
        /// An attachment lacks its type or `http(s)` URL, or has a value that cannot be.
        case invalidAttachment = "invalid_attachment"
        /// An image or video is sent without positive `width` and `height`.
        case sizeMissing = "size_missing"
        /// `reply_to` names no message of the room.
        case replyToNotFound = "reply_to_not_found"
        /// The `client_message_id` was first used for another content.
        case clientMessageIDReused = "client_message_id_reused"
        /// A message has reactions with as many different keys as there may be.
        case tooManyReactions = "too_many_reactions"

        // MARK: Changes that a message does not admit

        /// Only who sent the message may do this.
        case notTheSender = "not_the_sender"
        /// The message is deleted, which is for ever.
        case messageDeleted = "message_deleted"
        /// The message has been changed since the revision that the client has seen.
        case preconditionFailed = "precondition_failed"

        // MARK: Requests for what is not there, or not theirs

        /// No such resource.
        case notFound = "not_found"
        /// No such room, or none that the caller may know of.
        case roomNotFound = "room_not_found"
        /// The room has been deleted, which is for ever: its name is not used again.
        case roomDeleted = "room_deleted"
        /// No such member of the room.
        case memberNotFound = "member_not_found"
        /// The room's last owner would be none any more.
        case lastOwner = "last_owner"
        /// No such message in the room.
        case messageNotFound = "message_not_found"
        /// A cursor is of another epoch, or beyond what the room has seen.
        case cursorUnknown = "cursor_unknown"
        /// Nobody is named as the caller, or the credentials are refused.
        case unauthenticated = "unauthenticated"
        /// There is no token, and the server wants one.
        case tokenMissing = "token_missing"
        /// The token is none, is not signed by a key of the server's, or says what the server cannot take.
        case tokenInvalid = "token_invalid"
        /// The token's time is over.
        case tokenExpired = "token_expired"
        /// The token's time has not come.
        case tokenNotYetValid = "token_not_yet_valid"
        /// The token is limited to other rooms.
        case roomNotAllowed = "room_not_allowed"
        /// The caller may not do this.
        case forbidden = "forbidden"
        /// The caller is no member of the room.
        case notAMember = "not_a_member"
        /// The request comes from a web page of an origin that is not allowed.
        case originNotAllowed = "origin_not_allowed"
        /// The request was sent to a host name that a server in open mode does not answer to.
        case hostNotAllowed = "host_not_allowed"

        // MARK: Frames on a socket for many rooms that cannot be served

        /// The socket is subscribed to the room already.
        case alreadySubscribed = "already_subscribed"
        /// The socket is not subscribed to the room.
        case notSubscribed = "not_subscribed"
        /// The socket has as many subscriptions as it may have.
        case tooManySubscriptions = "too_many_subscriptions"
        /// The server does not offer this.
        case notAvailable = "not_available"

        // MARK: Requests that HTTP itself refuses, and servers that cannot serve

        /// The resource does not know the method.
        case methodNotAllowed = "method_not_allowed"
        /// The content type is not JSON.
        case unsupportedMediaType = "unsupported_media_type"
        /// The body has too many bytes.
        case bodyTooLarge = "body_too_large"
        /// The request did not arrive in time.
        case requestTimeout = "request_timeout"
        /// The caller asks too often.
        case rateLimited = "rate_limited"
        /// More is queued than the server takes.
        case overloaded = "overloaded"
        /// The server cannot serve at the moment.
        case unavailable = "unavailable"
        /// The disk is full.
        case storageFull = "storage_full"
        /// The server has made a mistake.
        case internalError = "internal_error"

        // MARK: Messages that are no HTTP (RFC 9112)

        /// The request line is none.
        case requestLineInvalid = "request_line_invalid"
        /// A line ends with something else than CR LF.
        case lineEndInvalid = "line_end_invalid"
        /// There are too many empty lines before the request line.
        case tooManyEmptyLines = "too_many_empty_lines"
        /// The request target has none of the forms of its method.
        case targetInvalid = "target_invalid"
        /// The path or query is encoded wrongly.
        case targetEncodingInvalid = "target_encoding_invalid"
        /// A header line has no colon.
        case fieldLineInvalid = "field_line_invalid"
        /// A header name is no token.
        case fieldNameInvalid = "field_name_invalid"
        /// A header value has a control character.
        case fieldValueInvalid = "field_value_invalid"
        /// A header line begins with white space.
        case lineFolded = "line_folded"
        /// There is no Host.
        case hostMissing = "host_missing"
        /// There is more than one Host.
        case hostRepeated = "host_repeated"
        /// The Host is none.
        case hostInvalid = "host_invalid"
        /// There is both a Content-Length and a Transfer-Encoding.
        case framingAmbiguous = "framing_ambiguous"
        /// The Content-Length is no number.
        case contentLengthInvalid = "content_length_invalid"
        /// There is more than one Content-Length.
        case contentLengthRepeated = "content_length_repeated"
        /// The Transfer-Encoding does not end in chunked.
        case transferEncodingInvalid = "transfer_encoding_invalid"
        /// There is a Transfer-Encoding in HTTP/1.0.
        case transferEncodingUnexpected = "transfer_encoding_unexpected"
        /// A chunk of the body is none.
        case chunkInvalid = "chunk_invalid"
        /// The chunk extensions have too many bytes.
        case chunkExtensionsTooLong = "chunk_extensions_too_long"

        // MARK: Messages that HTTP allows and this server does not serve

        /// The request target has too many bytes.
        case targetTooLong = "target_too_long"
        /// The request expects something else than 100-continue.
        case expectationUnknown = "expectation_unknown"
        /// The resource is a WebSocket, which the request does not ask for.
        case upgradeRequired = "upgrade_required"
        /// The head of the request has too many bytes.
        case headTooLarge = "head_too_large"
        /// The head of the request has too many lines.
        case tooManyFields = "too_many_fields"
        /// The trailer section has too many bytes.
        case trailersTooLarge = "trailers_too_large"
        /// The method is longer than any that there is.
        case methodTooLong = "method_too_long"
        /// The transfer coding is another than chunked.
        case transferCodingUnknown = "transfer_coding_unknown"
        /// The version is another than HTTP/1.1 and HTTP/1.0.
        case versionUnsupported = "version_unsupported"
        /// There are as many connections as there may be.
        case tooManyConnections = "too_many_connections"

        /// The code as clients read it, in `snake_case`.
        public var string: String { rawValue }

        /// The code as clients read it.
        public var description: String { rawValue }
    }
}
