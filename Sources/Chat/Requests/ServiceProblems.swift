public import Wire

/// 401, 403, 404, 410: missing resources and permissions.
extension Problem {
    /// 404 `not_found`: the resource does not exist.
    public static var notFound: Problem {
        Problem(code: .notFound, detail: "There is no such resource.")
    }

    /// 404 `room_not_found`: the room does not exist, or is private and the caller is not a member.
    public static var roomNotFound: Problem {
        Problem(code: .roomNotFound, detail: "There is no such room.")
    }

    /// 410 `room_deleted`: the room was deleted; its id is not reused.
    public static var roomDeleted: Problem {
        Problem(code: .roomDeleted, detail: "The room was deleted. Its id cannot be used again.")
    }

    /// 404 `member_not_found`: the user is not a member of the room.
    public static var memberNotFound: Problem {
        Problem(code: .memberNotFound, detail: "The room has no such member.")
    }

    /// 409 `last_owner`: the change would leave the room without an owner.
    public static var lastOwner: Problem {
        Problem(code: .lastOwner, detail: "The room needs an owner. Make another member an owner first.")
    }

    /// 403 `forbidden`: the caller is not an owner of the room.
    public static var notAnOwner: Problem {
        .forbidden("Only owners of the room may do this.")
    }

    /// 403 `forbidden`: in a room with more than `limit` members only its owners mention the room.
    public static func roomMention(limit: Int) -> Problem {
        var problem = Problem.forbidden("Only owners may mention a room with more than \(limit) members.")
        (problem.field, problem.limit) = ("mentions_room", limit)
        return problem
    }

    /// 403 `posting_restricted`: only owners of the room may send to it.
    public static var postingRestricted: Problem {
        Problem(code: .postingRestricted, detail: "Only owners of the room may send to it.")
    }

    /// 429 `slow_mode`: the caller may send to the room again after `seconds`.
    public static func slowMode(retryAfter seconds: Int) -> Problem {
        Problem(
            code: .slowMode, detail: "The room is in slow mode. Send again after \(seconds) s.", retryAfter: seconds)
    }

    /// 403 `forbidden`: the caller has no token that carries `admin`, or one that is limited to some rooms.
    public static var notAnAdmin: Problem {
        .forbidden("Only admins may do this: a token with \"admin\": true that is not limited to rooms.")
    }

    /// 403 `banned`: the caller is banned from the room, or from the whole server.
    public static func banned(_ ban: Ban, isFromRoom: Bool) -> Problem {
        var detail = isFromRoom ? "You are banned from this room" : "You are banned from this server"
        if let until = ban.until { detail += " until \(until)" }
        detail += ban.reason.map { ": \($0)" } ?? "."
        return Problem(code: .banned, detail: detail)
    }

    /// 403 `rejected`: the app does not accept the message, because of `detail`.
    public static func rejected(_ detail: String) -> Problem {
        Problem(code: .rejected, detail: detail)
    }

    /// 403 `blocked`: the other user has blocked the caller.
    public static var blocked: Problem {
        Problem(code: .blocked, detail: "This user has blocked you.")
    }

    /// 422 `too_many_blocks`: the user blocks the maximum number of users.
    public static var tooManyBlocks: Problem {
        Problem(
            code: .tooManyBlocks, detail: "A user must not block more than \(Limits.userBlocks) users.",
            limit: Limits.userBlocks)
    }

    /// 403 `forbidden`: a user cannot block themselves.
    public static var blockOfOneself: Problem {
        .forbidden("You cannot block yourself.")
    }

    /// 422 `direct_room`: a direct room keeps its two members, and stays private.
    public static var directRoom: Problem {
        Problem(
            code: .directRoom,
            detail: "A direct room is private, and belongs to its two members: that cannot be changed.")
    }

    /// 422 `direct_room`: a user has no direct room with themselves.
    public static var directRoomWithOneself: Problem {
        Problem(code: .directRoom, detail: "A direct room is between two users.", field: "user")
    }

    /// 422 `direct_room`: an admin has deleted the room, or one of the two has been erased.
    public static var directRoomOver: Problem {
        Problem(
            code: .directRoom,
            detail:
                "One of the two users of this direct room was erased, or the room was deleted. It takes no messages.")
    }

    /// 403 `forbidden`: the server reserves the making of rooms, or the adding of members, for admins.
    public static var directRoomsByAdminsOnly: Problem {
        .forbidden("Only admins may make rooms or add members on this server, so users cannot make direct rooms.")
    }

    /// 403 `forbidden`: a user cannot ban themselves.
    public static var banOfOneself: Problem {
        .forbidden("You cannot ban yourself.")
    }

    /// 403 `forbidden`: an owner cannot ban another owner; an admin can.
    public static var banOfOwner: Problem {
        .forbidden("An owner cannot ban an owner. Make them a member first, or ask an admin.")
    }

    /// 404 `ban_not_found`: the user is not banned.
    public static var banNotFound: Problem {
        Problem(code: .banNotFound, detail: "This user is not banned.")
    }

    /// 404 `report_not_found`: nobody has reported the message.
    public static var reportNotFound: Problem {
        Problem(code: .reportNotFound, detail: "Nobody has reported this message.")
    }

    /// 404 `erasure_not_found`: the user was never erased.
    public static var erasureNotFound: Problem {
        Problem(code: .erasureNotFound, detail: "This user has not been erased.")
    }

    /// 404 `webhook_not_found`: there is no such webhook.
    public static var webhookNotFound: Problem {
        Problem(code: .webhookNotFound, detail: "There is no webhook with this id.")
    }

    /// 422 `too_many_webhooks`: the server has the maximum number of webhooks.
    public static var tooManyWebhooks: Problem {
        Problem(
            code: .tooManyWebhooks, detail: "A server must not have more than \(Limits.webhooks) webhooks.",
            limit: Limits.webhooks)
    }

    /// 401 `disconnected`: an admin has ended the connection.
    public static var disconnected: Problem {
        Problem(code: .disconnected, detail: "An admin has ended this connection. Connect again with a new token.")
    }

    /// 422 `ban_over`: the ban would end in the past.
    public static var banOver: Problem {
        Problem(code: .banOver, detail: "until must be a time in the future.", field: "until")
    }

    /// 422 `too_many_bans`: the room has the maximum number of bans.
    public static var tooManyBans: Problem {
        Problem(
            code: .tooManyBans, detail: "A room must not have more than \(Limits.roomBans) bans.",
            limit: Limits.roomBans)
    }

    /// 403 `forbidden`: an owner cannot add another user, because the server reserves that for admins.
    public static var membersByAdminsOnly: Problem {
        .forbidden("Only an admin may add other users to rooms on this server.")
    }

    /// 404 `message_not_found`: the room has no such message.
    public static var messageNotFound: Problem {
        Problem(code: .messageNotFound, detail: "The room has no such message.")
    }

    /// 410 `cursor_unknown`: the cursor belongs to another epoch, or is beyond the room's latest revision.
    public static var cursorUnknown: Problem {
        Problem(
            code: .cursorUnknown,
            detail: "The cursor belongs to another history of the room. Load the room again.", field: "since")
    }

    /// 410 `cursor_unknown`: the cursor of a list of rooms belongs to another epoch.
    public static var listCursorUnknown: Problem {
        Problem(
            code: .cursorUnknown,
            detail: "The cursor belongs to another history. Load the list from its beginning.", field: "cursor")
    }

    /// 401 `unauthenticated`: `detail` tells what is missing or refused.
    public static func unauthenticated(_ detail: String) -> Problem {
        Problem(code: .unauthenticated, detail: detail)
    }

    /// 401 `token_missing`: the request has no token.
    public static var tokenMissing: Problem {
        Problem(
            code: .tokenMissing,
            detail: "Send a token: Authorization: Bearer TOKEN, or the parameter access_token.")
    }

    /// 401 `token_invalid`: `detail` tells what is wrong with the token, without quoting it.
    public static func tokenInvalid(_ detail: String, limit: Int? = nil) -> Problem {
        Problem(code: .tokenInvalid, detail: detail, limit: limit)
    }

    /// 401 `token_expired`: the token has expired; get a new one.
    public static var tokenExpired: Problem {
        Problem(code: .tokenExpired, detail: "The token has expired.")
    }

    /// 401 `token_not_yet_valid`: the token's `nbf` is in the future.
    public static var tokenNotYetValid: Problem {
        Problem(code: .tokenNotYetValid, detail: "The token is not valid yet.")
    }

    /// 403 `room_not_allowed`: the token is limited to other rooms.
    public static var roomNotAllowed: Problem {
        Problem(code: .roomNotAllowed, detail: "The token does not allow this room.", field: "room")
    }

    /// 403 `forbidden`: `detail` tells who has the permission.
    public static func forbidden(_ detail: String) -> Problem {
        Problem(code: .forbidden, detail: detail)
    }

    /// 403 `not_a_member`: the caller is not, or no longer, a member of the room.
    public static var notAMember: Problem {
        Problem(code: .notAMember, detail: "Only members of the room may do this.")
    }

    /// 403 `forbidden`: a profile is changed by its user, or by an admin.
    public static var profileOfOther: Problem {
        .forbidden("Only an admin may change the profile of another user.")
    }

    /// 403 `receipts_off`: the server keeps read marks to their users.
    public static var receiptsOff: Problem {
        Problem(code: .receiptsOff, detail: "This server does not tell who has read what.")
    }

    /// 403 `origin_not_allowed`: the `Origin` of the request is not one that the server trusts.
    public static var originNotAllowed: Problem {
        Problem(
            code: .originNotAllowed,
            detail:
                "Web pages of this origin may not use this server. To allow them, start it with --allow-origin ORIGIN.",
            field: "Origin")
    }

    /// 421 `host_not_allowed`: a server in open mode does not accept this host; `nil` if the request has none.
    public static func hostNotAllowed(_ host: String?) -> Problem {
        let remedy = host.map { "Use http://localhost, or start the server with --allow-host \($0)." }
        return Problem(
            code: .hostNotAllowed,
            detail: "Without keys this server answers only to localhost, to IP addresses and to names set with "
                + "--allow-host, because a web page could reach it under a name of its own (DNS rebinding). "
                + (remedy ?? "Send a Host header."),
            field: "Host")
    }
}

/// 409, 422, 501: refused frames on a socket for many rooms.
extension Problem {
    /// 409 `already_subscribed`: the existing subscription continues unchanged.
    public static var alreadySubscribed: Problem {
        Problem(code: .alreadySubscribed, detail: "This socket is subscribed to the room already.")
    }

    /// 409 `already_subscribed`: the socket already follows its user's rooms.
    public static var alreadyFollowing: Problem {
        Problem(code: .alreadySubscribed, detail: "This socket is subscribed to its user's rooms already.")
    }

    /// 409 `not_subscribed`: the socket does not follow its user's rooms.
    public static var notFollowing: Problem {
        Problem(code: .notSubscribed, detail: "This socket is not subscribed to its user's rooms.")
    }

    /// 409 `not_subscribed`: the socket has no subscription to the room.
    public static var notSubscribed: Problem {
        Problem(code: .notSubscribed, detail: "This socket is not subscribed to the room.")
    }

    /// 422 `too_many_subscriptions`: the socket has `limit` subscriptions.
    public static func tooManySubscriptions(limit: Int) -> Problem {
        Problem(
            code: .tooManySubscriptions,
            detail: "A socket must not be subscribed to more than \(limit) rooms.", limit: limit)
    }

    /// 422 `query_invalid`: `detail` tells what is wrong with the query of a search.
    public static func queryInvalid(_ detail: String) -> Problem {
        Problem(code: .queryInvalid, detail: detail, field: "q")
    }

    /// 501 `not_available`: `detail` tells what the server does not offer.
    public static func notAvailable(_ detail: String) -> Problem {
        Problem(code: .notAvailable, detail: detail)
    }
}

/// Refusals by HTTP, and servers that cannot serve.
extension Problem {
    /// 400 `bad_request`: `detail` tells how the request violates HTTP/1.1.
    public static func badRequest(_ detail: String) -> Problem {
        Problem(code: .badRequest, detail: detail)
    }

    /// 405 `method_not_allowed`: the answer's `Allow` header lists the allowed methods.
    public static var methodNotAllowed: Problem {
        Problem(code: .methodNotAllowed, detail: "The resource does not support this method. See the Allow header.")
    }

    /// 415 `unsupported_media_type`: the content type contradicts JSON.
    public static var unsupportedMediaType: Problem {
        Problem(
            code: .unsupportedMediaType,
            detail: "The body must be JSON. Send it with the header Content-Type: application/json.",
            field: "Content-Type")
    }

    /// 415 `unsupported_media_type`: the body has a content coding, such as gzip.
    public static func unsupportedContentEncoding(_ coding: String) -> Problem {
        Problem(
            code: .unsupportedMediaType,
            detail: "The body has the Content-Encoding \(coding). Send it without one.", field: "Content-Encoding")
    }

    /// 413 `body_too_large`: the body has more than `limit` bytes.
    public static func bodyTooLarge(limit: Int) -> Problem {
        Problem(code: .bodyTooLarge, detail: "The body must not have more than \(limit) bytes.", limit: limit)
    }

    /// 408 `request_timeout`: `detail` tells what did not arrive in time.
    public static func requestTimeout(_ detail: String) -> Problem {
        Problem(code: .requestTimeout, detail: detail)
    }

    /// 429 `rate_limited`: the caller may try again after `seconds`.
    public static func rateLimited(retryAfter seconds: Int) -> Problem {
        Problem(code: .rateLimited, detail: "Too many requests.", retryAfter: seconds)
    }

    /// 503 `overloaded`: the server's queues are full; retry after a second.
    public static var overloaded: Problem {
        Problem(code: .overloaded, detail: "The server is overloaded. Try again later.", retryAfter: 1)
    }

    /// 503 `too_many_connections`: the server has the maximum number of connections; retry after a second.
    public static var tooManyConnections: Problem {
        Problem(
            code: .tooManyConnections,
            detail: "The server has reached its maximum number of connections. Try again later.", retryAfter: 1)
    }

    /// 503 `unavailable`: `detail` tells what is unavailable; retry after a second.
    public static func unavailable(_ detail: String) -> Problem {
        Problem(code: .unavailable, detail: detail, retryAfter: 1)
    }

    /// 503 `index_building`: the index for searches is being built for the first time.
    public static func indexBuilding(percent: Int) -> Problem {
        Problem(
            code: .indexBuilding, detail: "The index for searches is being built: \(percent) % are done.", retryAfter: 5
        )
    }

    /// 503 `storage_full`: the disk is full and the commit failed; nothing of it was stored.
    public static var storageFull: Problem {
        Problem(code: .storageFull, detail: "The server has no space left. Nothing was stored.", retryAfter: 5)
    }

    /// 503 `room_unavailable`: the room is read-only because its part of the database is damaged; nothing was
    /// stored.
    public static var roomUnavailable: Problem {
        Problem(
            code: .roomUnavailable,
            detail:
                "The stored data of this room is damaged. The room is read-only until the server's operator has repaired it.",
            retryAfter: 60)
    }

    /// 503 `storage_lost`: the database's files were deleted or replaced; nothing was stored.
    public static var storageLost: Problem {
        Problem(
            code: .storageLost,
            detail: "The server's database file was deleted or replaced. Nothing was stored or read.", retryAfter: 5)
    }
}
