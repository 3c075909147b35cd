import Wire

/// The banned user.
extension APIOperation {
    static let bans: [APIOperation] = [listBans, ban, setBan, liftBan]

    private static let listBans = APIOperation(
        method: "get", path: "/v1/rooms/{room}/bans", id: "listBans", tag: .members, summary: "The bans from a room",
        description: "For owners and admins. Those in force, in the order of their users' bytes.", access: .named,
        parameters: ["afterUser", "bansLimit"], answers: [Answer(200, "Some of them.", "Bans")],
        refusals: [.invalidLimit, .forbidden])

    private static let ban = APIOperation(
        method: "get", path: "/v1/rooms/{room}/bans/{user}", id: "getBan", tag: .members, summary: "One of them",
        access: .named, answers: [Answer(200, "The ban.", "Ban")], refusals: [.forbidden, .banNotFound])

    private static let setBan = APIOperation(
        method: "put", path: "/v1/rooms/{room}/bans/{user}", id: "setBan", tag: .members,
        summary: "Ban a user from a room",
        description: """
            Owners and admins do; owners do not ban owners, and nobody themselves. With the scope `send` every change is \
            refused with 403 `banned`, with `all` reading and subscribing, too, and subscriptions end. It replaces a ban \
            that there is.
            """,
        access: .named, body: banBody,
        answers: [
            Answer(201, "The user is banned.", "Ban", links: ["getBan", "liftBan"]),
            Answer(200, "The ban as it is now.", "Ban"),
        ],
        refusals: banRefusals + [.tooManyBans])

    private static let liftBan = APIOperation(
        method: "delete", path: "/v1/rooms/{room}/bans/{user}", id: "liftBan", tag: .members, summary: "Lift a ban",
        description: "Owners and admins do. To repeat it changes nothing.", access: .named,
        answers: [Answer(empty: 204, "There is no such ban any more.")], refusals: [.forbidden, .storageFull])

    private static let banBody = Content(
        schema: "BanSettings", isRequired: false,
        examples: [
            ("all", ["scope": "all", "until": "2099-01-01T00:00:00Z", "reason": "spam"]), ("send", ["scope": "send"]),
        ])

    private static let banRefusals: [Problem.Code] = [
        .invalidJSON, .invalidField, .unsupportedMediaType, .forbidden, .tooLong, .nulCharacter, .banOver, .storageFull,
    ]
}

/// The operations of admins.
extension APIOperation {
    static let admin: [APIOperation] = [
        allRooms, user, endSockets, eraseUser, erasure, listServerBans, serverBan, setServerBan, liftServerBan,
    ]

    private static let allRooms = APIOperation(
        method: "get", path: "/v1/admin/rooms", id: "listAllRooms", tag: .admin,
        summary: "All rooms, latest activity first",
        description: "How many messages and members each has, and how many bytes its messages are.", access: .admin,
        parameters: ["cursor", "roomsLimit"], answers: [Answer(200, "Some of them.", "AdminRooms", headers: ["Link"])],
        refusals: [.invalidCursor, .invalidLimit, .cursorUnknown])

    private static let user = APIOperation(
        method: "get", path: "/v1/admin/users/{user}", id: "getUser", tag: .admin,
        summary: "The rooms, the last activity and the open sockets of a user",
        description: "A user whom nobody has heard of has none. The rooms that were made first come first.",
        access: .admin, parameters: ["afterRoom", "membersLimit"], answers: [Answer(200, "The user.", "AdminUser")],
        refusals: [.invalidLimit, .invalidRoom])

    private static let endSockets = APIOperation(
        method: "delete", path: "/v1/admin/users/{user}/sockets", id: "endSockets", tag: .admin,
        summary: "End a user's sockets and event streams",
        description: "They end with the error `disconnected`, WebSockets with 4401. The user may connect again.",
        access: .admin, answers: [Answer(empty: 204, "They are about to end.")])

    private static let eraseUser = APIOperation(
        method: "delete", path: "/v1/users/{user}", id: "eraseUser", tag: .admin, summary: "Erase a user",
        description: """
            The user's sockets end, memberships, read marks and reactions go, and messages become tombstones, each of them a \
            change that subscribers see, whose `sender` is `~deleted`. It goes on after the answer: ask for the status \
            under the same path. The user may come back meanwhile, as a new one; to repeat it erases that one, too. A room \
            whose last owner is erased stays, for admins to care for. Bans stay.
            """,
        access: .admin, answers: [Answer(202, "It has begun.", "Erasure", links: ["getErasure"])],
        refusals: [.storageFull])

    private static let erasure = APIOperation(
        method: "get", path: "/v1/users/{user}", id: "getErasure", tag: .admin,
        summary: "How far the erasure of a user has come", access: .admin,
        answers: [Answer(200, "The status.", "Erasure")], refusals: [.erasureNotFound])

    private static let listServerBans = APIOperation(
        method: "get", path: "/v1/admin/bans", id: "listServerBans", tag: .admin,
        summary: "The bans from the whole server", access: .admin, parameters: ["afterUser", "bansLimit"],
        answers: [Answer(200, "Some of them.", "Bans")], refusals: [.invalidLimit])

    private static let serverBan = APIOperation(
        method: "get", path: "/v1/admin/bans/{user}", id: "getServerBan", tag: .admin, summary: "One of them",
        access: .admin, answers: [Answer(200, "The ban.", "Ban")], refusals: [.banNotFound])

    private static let setServerBan = APIOperation(
        method: "put", path: "/v1/admin/bans/{user}", id: "setServerBan", tag: .admin,
        summary: "Ban a user from the whole server",
        description: """
            With the scope `send` every change is refused with 403 `banned`, with `all` everything, and the user's \
            sockets end. It replaces a ban that there is, and holds for admins, too.
            """,
        access: .admin, body: banBody,
        answers: [
            Answer(201, "The user is banned.", "Ban", links: ["getServerBan", "liftServerBan"]),
            Answer(200, "The ban as it is now.", "Ban"),
        ],
        refusals: banRefusals)

    private static let liftServerBan = APIOperation(
        method: "delete", path: "/v1/admin/bans/{user}", id: "liftServerBan", tag: .admin, summary: "Lift it",
        description: "To repeat it changes nothing.", access: .admin,
        answers: [Answer(empty: 204, "There is no such ban any more.")], refusals: [.storageFull])
}
