import Wire

/// Operations on rooms and their members.
extension APIOperation {
    static let rooms: [APIOperation] = [myRooms, room, setRoom, deleteRoom, read, presence]
    static let members: [APIOperation] = [list, member, setMember, removeMember]

    private static let myRooms = APIOperation(
        method: "get", path: "/v1/rooms", id: "listRooms", tag: .rooms, summary: "Your rooms, latest activity first",
        description: """
            The rooms that the caller is a member of and not banned from reading, each with its newest message, read in one snapshot. While you page \
            through the list, a room with a new message moves to the front, where you do not see it: subscribe to `mine` on \
            `/v1/live` first.
            """,
        access: .named, parameters: ["cursor", "roomsLimit"],
        answers: [Answer(200, "One page of rooms.", "Rooms", headers: ["Link"])],
        refusals: [.invalidCursor, .invalidLimit, .cursorUnknown, .banned])

    private static let room = APIOperation(
        method: "get", path: "/v1/rooms/{room}", id: "getRoom", tag: .rooms, summary: "A room as its caller sees it",
        description: "A room that was never used reads as an empty one.", access: .reader,
        answers: [Answer(200, "The room.", "Room")])

    private static let setRoom = APIOperation(
        method: "put", path: "/v1/rooms/{room}", id: "setRoom", tag: .rooms, summary: "Create a room or change it",
        description:
            "The caller who creates a room becomes its owner; owners can change it. Absent fields stay as they are.",
        access: .named,
        body: Content(
            schema: "RoomSettings",
            examples: [("private", ["visibility": "private", "title": "Plans"]), ("nothing", [:])]),
        answers: [
            Answer(201, "The room was created.", "Room", links: ["setMember", "getRoom"]),
            Answer(200, "The room as it is now.", "Room"),
        ],
        refusals: [
            .invalidJSON, .invalidField, .unsupportedMediaType, .forbidden, .tooLong, .nulCharacter, .storageFull,
        ])

    private static let deleteRoom = APIOperation(
        method: "delete", path: "/v1/rooms/{room}", id: "deleteRoom", tag: .rooms, summary: "Delete a room",
        description: """
            For owners and admins. Removes the room's messages, members and read marks, and ends its subscriptions with \
            `room_deleted`. Every later request for the room gets the same code: its id cannot be used again.
            """,
        access: .named, answers: [Answer(empty: 204, "The room is deleted.")],
        refusals: [.forbidden, .storageFull])

    private static let read = APIOperation(
        method: "put", path: "/v1/rooms/{room}/read", id: "moveReadMark", tag: .rooms, summary: "Move your read mark",
        description: "The mark never moves back, nor past `head`. `around=read` opens a page at the mark.",
        access: .named,
        body: Content(schema: "ReadMark", examples: [("mark", ["seq": 120])]),
        answers: [Answer(200, "The room as it is now.", "Room")],
        refusals: [.invalidJSON, .invalidField, .unsupportedMediaType, .storageFull])

    private static let presence = APIOperation(
        method: "get", path: "/v1/rooms/{room}/presence", id: "getPresence", tag: .rooms,
        summary: "The subscribers of a room",
        description: "The number of subscribers; up to 200 users are named.", access: .reader,
        answers: [Answer(200, "The subscribers.", "Presence")], refusals: [.notAvailable])

    private static let list = APIOperation(
        method: "get", path: "/v1/rooms/{room}/members", id: "listMembers", tag: .members,
        summary: "The members of a room", description: "In the byte order of their ids.", access: .reader,
        parameters: ["afterUser", "membersLimit"], answers: [Answer(200, "One page of members.", "Members")],
        refusals: [.invalidLimit])

    private static let member = APIOperation(
        method: "get", path: "/v1/rooms/{room}/members/{user}", id: "getMember", tag: .members,
        summary: "One member of a room", access: .reader, answers: [Answer(200, "The member.", "Member")],
        refusals: [.memberNotFound])

    private static let setMember = APIOperation(
        method: "put", path: "/v1/rooms/{room}/members/{user}", id: "setMember", tag: .members,
        summary: "Add a member or change its role",
        description: """
            For owners; anybody may add themselves to an open room. Without a role, a member keeps the role it has, and a new \
            one gets `member`.
            """,
        access: .named,
        body: Content(schema: "MemberRole", isRequired: false, examples: [("owner", ["role": "owner"])]),
        answers: [
            Answer(201, "The member was added.", "Member", links: ["getMember", "removeMember"]),
            Answer(200, "The member as it is now.", "Member"),
        ],
        refusals: [.invalidJSON, .invalidField, .unsupportedMediaType, .forbidden, .lastOwner, .storageFull])

    private static let removeMember = APIOperation(
        method: "delete", path: "/v1/rooms/{room}/members/{user}", id: "removeMember", tag: .members,
        summary: "Remove a member",
        description:
            "For owners; members may remove themselves. The last owner cannot be removed. Repeating it changes nothing.",
        access: .named, answers: [Answer(empty: 204, "The user is not a member.")],
        refusals: [.forbidden, .lastOwner, .storageFull])
}

/// Operations that subscribe to changes.
extension APIOperation {
    static let live: [APIOperation] = [liveRoom, liveRooms]

    private static let liveRoom = APIOperation(
        method: "get", path: "/v1/rooms/{room}/live", id: "subscribe", tag: .live, summary: "Subscribe to a room",
        description: """
            A request with an upgrade gets a WebSocket, one with `Accept: text/event-stream` Server-Sent Events. The messages \
            that changed after `since` come first, then new changes. Browsers, which cannot set headers on a WebSocket, \
            offer the subprotocols `backscroll.v1` and `bearer.TOKEN`. A WebSocket that offers `backscroll.v1` is refused by \
            an `error` frame and a close code from 4400 on, after 101; an EventSource that reconnects by an `error` event, \
            with 200.
            """,
        access: .reader, parameters: ["since", "epoch", "Last-Event-ID"],
        answers: [
            Answer(empty: 101, "A WebSocket.", headers: ["Upgrade", "Sec-WebSocket-Accept"]),
            Answer(
                200, "An endless stream of events, named by the frames' types, with the frames as `data`.",
                mediaType: "text/event-stream", headers: ["X-Accel-Buffering"]),
            Answer(empty: 204, "An EventSource that was refused has reconnected. The answer makes it stop."),
        ],
        refusals: [.invalidCursor, .cursorUnknown, .notAMember, .upgradeRequired])

    private static let liveRooms = APIOperation(
        method: "get", path: "/v1/live", id: "openSocket", tag: .live, summary: "One WebSocket for many rooms",
        description: """
            The client subscribes with frames. A WebSocket that offers `backscroll.v1` is refused by an `error` frame and a \
            close code from 4400 on, after 101.
            """,
        access: .reader,
        answers: [Answer(empty: 101, "A WebSocket.", headers: ["Upgrade", "Sec-WebSocket-Accept"])],
        refusals: [.upgradeRequired, .banned])
}

/// Operations for operators and monitoring.
extension APIOperation {
    static let server: [APIOperation] = [health, readiness, metrics, description, docs, index]

    private static let health = APIOperation(
        method: "get", path: "/healthz", id: "getHealth", tag: .server,
        summary: "Check that the process serves requests",
        access: .anybody, answers: [Answer(200, "The process serves requests.", "Status")])

    private static let readiness = APIOperation(
        method: "get", path: "/readyz", id: "getReadiness", tag: .server,
        summary: "Check that messages can be stored and arrive",
        access: .anybody,
        answers: [
            Answer(200, "The server can store messages, and its subscribers get those of other nodes.", "Status")
        ],
        refusals: [.unavailable, .storageLost])

    private static let metrics = APIOperation(
        method: "get", path: "/metrics", id: "getMetrics", tag: .server,
        summary: "Metrics in Prometheus' text format, version 0.0.4", access: .anybody,
        answers: [Answer(200, "Metrics.", mediaType: "text/plain")])

    private static let description = APIOperation(
        method: "get", path: "/openapi.json", id: "getDescription", tag: .server, summary: "This description",
        access: .anybody, parameters: ["If-None-Match"],
        answers: [
            Answer(200, "An OpenAPI document.", "OpenAPIDocument", headers: ["ETag"]),
            Answer(empty: 304, "The client has the current document.", headers: ["ETag"]),
        ])

    private static let docs = APIOperation(
        method: "get", path: "/docs", id: "getDocs", tag: .server, summary: "The frames of sockets and event streams",
        access: .anybody, parameters: ["If-None-Match"],
        answers: [
            Answer(200, "A page to read.", mediaType: "text/html", headers: ["ETag"]),
            Answer(empty: 304, "The client has the current page.", headers: ["ETag"]),
        ])

    private static let index = APIOperation(
        method: "get", path: "/", id: "getIndex", tag: .server, summary: "The web page",
        description: "With `--no-page`, a few lines of text instead.", access: .anybody, parameters: ["If-None-Match"],
        answers: [
            Answer(200, "A page for chatting.", mediaType: "text/html", headers: ["ETag"]),
            Answer(empty: 304, "The client has the current page.", headers: ["ETag"]),
        ])
}
