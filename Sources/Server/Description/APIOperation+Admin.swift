import Wire

/// Operations on bans from a room.
extension APIOperation {
    static let bans: [APIOperation] = [listBans, ban, setBan, liftBan]

    private static let listBans = APIOperation(
        method: "get", path: "/v1/rooms/{room}/bans", id: "listBans", tag: .members, summary: "The bans from a room",
        description: "For owners and admins. Lists the bans in force, in the byte order of the user ids.",
        access: .named,
        parameters: ["afterUser", "bansLimit"], answers: [Answer(200, "One page of bans.", "Bans")],
        refusals: [.invalidLimit, .forbidden])

    private static let ban = APIOperation(
        method: "get", path: "/v1/rooms/{room}/bans/{user}", id: "getBan", tag: .members,
        summary: "One ban from a room",
        access: .named, answers: [Answer(200, "The ban.", "Ban")], refusals: [.forbidden, .banNotFound])

    private static let setBan = APIOperation(
        method: "put", path: "/v1/rooms/{room}/bans/{user}", id: "setBan", tag: .members,
        summary: "Ban a user from a room",
        description: """
            For owners and admins. Owners cannot ban owners, and nobody can ban themselves. The scope `send` refuses every \
            change with 403 `banned`; `all` also refuses reading and subscribing, and ends subscriptions. A new ban replaces \
            the old one.
            """,
        access: .named, body: banBody,
        answers: [
            Answer(201, "The user is banned.", "Ban", links: ["getBan", "liftBan"]),
            Answer(200, "The ban as it is now.", "Ban"),
        ],
        refusals: banRefusals + [.tooManyBans])

    private static let liftBan = APIOperation(
        method: "delete", path: "/v1/rooms/{room}/bans/{user}", id: "liftBan", tag: .members, summary: "Lift a ban",
        description: "For owners and admins. Repeating it changes nothing.", access: .named,
        answers: [Answer(empty: 204, "The user is not banned from the room.")], refusals: [.forbidden, .storageFull])

    private static let banBody = Content(
        schema: "BanSettings", isRequired: false,
        examples: [
            ("all", ["scope": "all", "until": "2099-01-01T00:00:00Z", "reason": "spam"]), ("send", ["scope": "send"]),
        ])

    private static let banRefusals: [Problem.Code] = [
        .invalidJSON, .invalidField, .unsupportedMediaType, .forbidden, .tooLong, .nulCharacter, .banOver, .storageFull,
    ]
}

/// Operations for admins.
extension APIOperation {
    static let admin: [APIOperation] = [
        allRooms, user, endSockets, eraseUser, erasure, listServerBans, serverBan, setServerBan, liftServerBan,
    ]

    private static let allRooms = APIOperation(
        method: "get", path: "/v1/admin/rooms", id: "listAllRooms", tag: .admin,
        summary: "All rooms, latest activity first",
        description: "Each with the number of its messages and members, and the size of its messages.", access: .admin,
        parameters: ["cursor", "roomsLimit"],
        answers: [Answer(200, "One page of rooms.", "AdminRooms", headers: ["Link"])],
        refusals: [.invalidCursor, .invalidLimit, .cursorUnknown])

    private static let user = APIOperation(
        method: "get", path: "/v1/admin/users/{user}", id: "getUser", tag: .admin,
        summary: "The rooms, the last activity and the open sockets of a user",
        description: "An unknown user has none of these. Rooms are listed in the order in which they were created.",
        access: .admin, parameters: ["afterRoom", "membersLimit"], answers: [Answer(200, "The user.", "AdminUser")],
        refusals: [.invalidLimit, .invalidRoom])

    private static let endSockets = APIOperation(
        method: "delete", path: "/v1/admin/users/{user}/sockets", id: "endSockets", tag: .admin,
        summary: "End a user's sockets and event streams",
        description: "They end with the error `disconnected`, WebSockets with 4401. The user may connect again.",
        access: .admin, answers: [Answer(empty: 204, "The sockets are about to end.")])

    private static let eraseUser = APIOperation(
        method: "delete", path: "/v1/users/{user}", id: "eraseUser", tag: .admin, summary: "Erase a user",
        description: """
            The user's sockets end; memberships, read marks and reactions are removed; messages become tombstones whose `sender` \
            is `~deleted`. Subscribers see each tombstone as a change. The erasure continues after the answer: GET on the same \
            path returns its status. A user who returns meanwhile counts as new. Repeating the request then erases the new user, \
            too. Private rooms cannot be read once this is answered. A room whose last owner is erased stays, and admins can take \
            care of it. Bans stay; those that the user has set no longer say so.
            """,
        access: .admin, answers: [Answer(202, "The erasure has begun.", "Erasure", links: ["getErasure"])],
        refusals: [.storageFull])

    private static let erasure = APIOperation(
        method: "get", path: "/v1/users/{user}", id: "getErasure", tag: .admin,
        summary: "The progress of a user's erasure", access: .admin,
        answers: [Answer(200, "The status.", "Erasure")], refusals: [.erasureNotFound])

    private static let listServerBans = APIOperation(
        method: "get", path: "/v1/admin/bans", id: "listServerBans", tag: .admin,
        summary: "The bans from the whole server", access: .admin, parameters: ["afterUser", "bansLimit"],
        answers: [Answer(200, "One page of bans.", "Bans")], refusals: [.invalidLimit])

    private static let serverBan = APIOperation(
        method: "get", path: "/v1/admin/bans/{user}", id: "getServerBan", tag: .admin,
        summary: "One ban from the server",
        access: .admin, answers: [Answer(200, "The ban.", "Ban")], refusals: [.banNotFound])

    private static let setServerBan = APIOperation(
        method: "put", path: "/v1/admin/bans/{user}", id: "setServerBan", tag: .admin,
        summary: "Ban a user from the whole server",
        description: """
            The scope `send` refuses every change with 403 `banned`; `all` refuses every request and ends the user's sockets. A \
            new ban replaces the old one. Bans from the server apply to admins, too.
            """,
        access: .admin, body: banBody,
        answers: [
            Answer(201, "The user is banned.", "Ban", links: ["getServerBan", "liftServerBan"]),
            Answer(200, "The ban as it is now.", "Ban"),
        ],
        refusals: banRefusals)

    private static let liftServerBan = APIOperation(
        method: "delete", path: "/v1/admin/bans/{user}", id: "liftServerBan", tag: .admin,
        summary: "Lift a ban from the server",
        description: "Repeating it changes nothing.", access: .admin,
        answers: [Answer(empty: 204, "The user is not banned from the server.")], refusals: [.storageFull])
}
