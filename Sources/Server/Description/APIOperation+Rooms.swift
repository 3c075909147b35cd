import Wire

/// Rooms and who belongs to them.
extension APIOperation {
    static let rooms: [APIOperation] = [myRooms, room, setRoom, deleteRoom, read, presence]
    static let members: [APIOperation] = [list, member, setMember, removeMember]

    private static let myRooms = APIOperation(
        method: "get", path: "/v1/rooms", id: "listRooms", tag: .rooms, summary: "My rooms, latest activity first",
        description: """
            The rooms that the caller is a member of, each with its newest message, read in one snapshot. A room that \
            something is sent to meanwhile moves to the front, behind who is walking: subscribe to `mine` on `/v1/live` \
            first.
            """,
        access: .named, parameters: ["cursor", "roomsLimit"],
        answers: [Answer(200, "Some of them.", "Rooms", headers: ["Link"])],
        refusals: [.invalidCursor, .invalidLimit, .cursorUnknown, .banned])

    private static let room = APIOperation(
        method: "get", path: "/v1/rooms/{room}", id: "getRoom", tag: .rooms, summary: "A room as its caller sees it",
        description: "A room that nobody has used reads as an empty one.", access: .reader,
        answers: [Answer(200, "The room.", "Room")])

    private static let setRoom = APIOperation(
        method: "put", path: "/v1/rooms/{room}", id: "setRoom", tag: .rooms, summary: "Make a room or change it",
        description: "Who makes it is its owner; owners change it. What is absent stays as it is.", access: .named,
        body: Content(
            schema: "RoomSettings",
            examples: [("private", ["visibility": "private", "title": "Plans"]), ("nothing", [:])]),
        answers: [
            Answer(201, "The room is made.", "Room", links: ["setMember", "getRoom"]),
            Answer(200, "The room as it is now.", "Room"),
        ],
        refusals: [
            .invalidJSON, .invalidField, .unsupportedMediaType, .forbidden, .tooLong, .nulCharacter, .storageFull,
        ])

    private static let deleteRoom = APIOperation(
        method: "delete", path: "/v1/rooms/{room}", id: "deleteRoom", tag: .rooms, summary: "Delete a room",
        description: """
            Owners and admins do. Its messages, members and read marks are removed, its subscriptions end with \
            `room_deleted`, and so does every later request for it: its name is not used again.
            """,
        access: .named, answers: [Answer(empty: 204, "The room is deleted.")],
        refusals: [.forbidden, .storageFull])

    private static let read = APIOperation(
        method: "put", path: "/v1/rooms/{room}/read", id: "moveReadMark", tag: .rooms, summary: "Move my read mark",
        description: "It never moves back, nor beyond `head`. Then `around=read` opens a page there.", access: .named,
        body: Content(schema: "ReadMark", examples: [("mark", ["seq": 120])]),
        answers: [Answer(200, "The room as it is now.", "Room")],
        refusals: [.invalidJSON, .invalidField, .unsupportedMediaType, .storageFull])

    private static let presence = APIOperation(
        method: "get", path: "/v1/rooms/{room}/presence", id: "getPresence", tag: .rooms, summary: "Who is there",
        description: "How many are subscribed, and who, if they are 200 at most.", access: .reader,
        answers: [Answer(200, "Who is there.", "Presence")], refusals: [.notAvailable])

    private static let list = APIOperation(
        method: "get", path: "/v1/rooms/{room}/members", id: "listMembers", tag: .members,
        summary: "The members of a room", description: "In the order of their ids' bytes.", access: .reader,
        parameters: ["afterUser", "membersLimit"], answers: [Answer(200, "Some of them.", "Members")],
        refusals: [.invalidLimit])

    private static let member = APIOperation(
        method: "get", path: "/v1/rooms/{room}/members/{user}", id: "getMember", tag: .members,
        summary: "One of them", access: .reader, answers: [Answer(200, "The member.", "Member")],
        refusals: [.memberNotFound])

    private static let setMember = APIOperation(
        method: "put", path: "/v1/rooms/{room}/members/{user}", id: "setMember", tag: .members,
        summary: "Add a member or change its role",
        description: """
            Owners do; into an open room anybody may put themselves. Without a role it stays as it is, that of who is \
            new is `member`.
            """,
        access: .named,
        body: Content(schema: "MemberRole", isRequired: false, examples: [("owner", ["role": "owner"])]),
        answers: [
            Answer(201, "The member is new.", "Member", links: ["getMember", "removeMember"]),
            Answer(200, "The member as it is now.", "Member"),
        ],
        refusals: [.invalidJSON, .invalidField, .unsupportedMediaType, .forbidden, .lastOwner, .storageFull])

    private static let removeMember = APIOperation(
        method: "delete", path: "/v1/rooms/{room}/members/{user}", id: "removeMember", tag: .members,
        summary: "Remove a member",
        description: "Owners do; a member may remove itself. The last owner stays. To repeat it changes nothing.",
        access: .named, answers: [Answer(empty: 204, "There is no such member any more.")],
        refusals: [.forbidden, .lastOwner, .storageFull])
}

/// What changes, as it changes.
extension APIOperation {
    static let live: [APIOperation] = [liveRoom, liveRooms]

    private static let liveRoom = APIOperation(
        method: "get", path: "/v1/rooms/{room}/live", id: "subscribe", tag: .live, summary: "Subscribe to a room",
        description: """
            A WebSocket for who asks for an upgrade, Server-Sent Events for who sends `Accept: text/event-stream`. What \
            changed after `since` comes first, then what changes. Browsers, which cannot set headers on a WebSocket, \
            offer the subprotocols `backscroll.v1` and `bearer.TOKEN`. A WebSocket that offers `backscroll.v1` is refused by \
            an `error` frame and a close code from 4400 on, with 101; an EventSource that connects again by an `error` event, \
            with 200.
            """,
        access: .reader, parameters: ["since", "epoch", "Last-Event-ID"],
        answers: [
            Answer(empty: 101, "A WebSocket.", headers: ["Upgrade", "Sec-WebSocket-Accept"]),
            Answer(
                200, "Events without end, named as the frames' types, with the frames as `data`.",
                mediaType: "text/event-stream", headers: ["X-Accel-Buffering"]),
            Answer(empty: 204, "An EventSource that was refused has connected again: it stops."),
        ],
        refusals: [.invalidCursor, .cursorUnknown, .notAMember, .upgradeRequired])

    private static let liveRooms = APIOperation(
        method: "get", path: "/v1/live", id: "openSocket", tag: .live, summary: "One WebSocket for many rooms",
        description: """
            The client subscribes by frames. A WebSocket that offers `backscroll.v1` is refused by an `error` frame and a \
            close code from 4400 on, with 101.
            """,
        access: .reader,
        answers: [Answer(empty: 101, "A WebSocket.", headers: ["Upgrade", "Sec-WebSocket-Accept"])],
        refusals: [.upgradeRequired, .banned])
}

/// What operators ask.
extension APIOperation {
    static let server: [APIOperation] = [health, readiness, metrics, description, docs, index]

    private static let health = APIOperation(
        method: "get", path: "/healthz", id: "getHealth", tag: .server, summary: "Does the process serve requests?",
        access: .anybody, answers: [Answer(200, "It does.", "Status")])

    private static let readiness = APIOperation(
        method: "get", path: "/readyz", id: "getReadiness", tag: .server, summary: "Can it store messages, too?",
        access: .anybody, answers: [Answer(200, "It can.", "Status")], refusals: [.unavailable, .storageLost])

    private static let metrics = APIOperation(
        method: "get", path: "/metrics", id: "getMetrics", tag: .server,
        summary: "Metrics in Prometheus' text format, version 0.0.4", access: .anybody,
        answers: [Answer(200, "Metrics.", mediaType: "text/plain")])

    private static let description = APIOperation(
        method: "get", path: "/openapi.json", id: "getDescription", tag: .server, summary: "This description",
        access: .anybody, parameters: ["If-None-Match"],
        answers: [
            Answer(200, "An OpenAPI document.", "Object", headers: ["ETag"]),
            Answer(empty: 304, "It is the one that the client has.", headers: ["ETag"]),
        ])

    private static let docs = APIOperation(
        method: "get", path: "/docs", id: "getDocs", tag: .server, summary: "The frames of sockets and event streams",
        access: .anybody, parameters: ["If-None-Match"],
        answers: [
            Answer(200, "A page to read.", mediaType: "text/html", headers: ["ETag"]),
            Answer(empty: 304, "It is the one that the client has.", headers: ["ETag"]),
        ])

    private static let index = APIOperation(
        method: "get", path: "/", id: "getIndex", tag: .server, summary: "The web page",
        description: "With `--no-page` a few lines of text instead.", access: .anybody, parameters: ["If-None-Match"],
        answers: [
            Answer(200, "A page for chatting.", mediaType: "text/html", headers: ["ETag"]),
            Answer(empty: 304, "It is the one that the client has.", headers: ["ETag"]),
        ])
}
