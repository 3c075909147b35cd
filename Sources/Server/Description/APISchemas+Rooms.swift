import Wire

/// The schemas of rooms, members, bans and presence.
extension APISchemas {
    /// The caller's read mark in answers.
    static let readMark = count("The `seq` up to which the caller has read; absent without a name.")

    /// The number of unread messages in answers.
    static let unreadCount: JSONValue = [
        "type": "integer", "minimum": 0, "maximum": 1000,
        "description": "The number of messages of other users after the read mark; 1000 means 1000 or more.",
    ]

    /// The number of subscribers in answers and frames.
    static let online = count("Users, each counted once, and sockets without a name.")

    static let roomAnswers: [(String, JSONValue)] = [
        (
            "Room",
            object(
                [
                    "room": reference("RoomID"),
                    "head": count("The highest `seq`; 0 when it is empty."),
                    "rev": reference("Rev"), "epoch": reference("Epoch"),
                    "read": readMark, "unread": unreadCount, "first_unread": reference("Seq"),
                    "visibility": reference("Visibility"),
                    "title": text(Limits.titleBytes),
                    "role": reference("Role"),
                ], required: ["room", "head", "rev", "epoch"],
                "A room as its caller sees it. `role` is absent if the caller is not a member.")
        ),
        (
            "Rooms",
            object(
                [
                    "rooms": list(of: "InboxRoom", upTo: Limits.rooms),
                    "has_more": ["type": "boolean"],
                    "cursor": [
                        "type": "string", "description": "The position for the next page; present if `has_more`.",
                    ],
                    "epoch": reference("Epoch"),
                ], required: ["rooms", "has_more", "epoch"], "Rooms, each with its newest message if it has any.")
        ),
        (
            "RoomSettings",
            object(
                [
                    "visibility": nullable(reference("Visibility")),
                    "title": text(
                        Limits.titleBytes, isNullable: true,
                        "At most \(Limits.titleBytes) bytes of UTF-8. An empty title removes it."),
                ], required: [], "Settings of a room. What is absent stays as it is; a new room is open.")
        ),
        (
            "Visibility",
            choice(["open", "private"], "An open room can be read by everybody, a private room by its members.")
        ),
        ("Role", choice(["member", "owner"], "Owners change the room, its members and the messages in it.")),
        (
            "InboxRoom",
            [
                "allOf": [
                    reference("Room"),
                    ["type": "object", "properties": ["last_message": reference("Message")]],
                ],
                "description": "A room with its newest message, if it has any.",
            ]
        ),
        (
            "ReadMark",
            object(
                [
                    "seq": [
                        "type": "integer", "format": "int64", "minimum": 0, "maximum": .number(Int.max),
                        "description": "The `seq` up to which the caller has read.",
                    ]
                ], required: ["seq"])
        ),
        (
            "Member",
            object(
                ["user": reference("UserID"), "role": reference("Role")], required: ["user", "role"])
        ),
        ("MemberRole", object(["role": nullable(reference("Role"))], required: [])),
        (
            "Members",
            object(
                [
                    "members": list(of: "Member", upTo: Limits.members),
                    "has_more": hasMore(passing: "user"),
                ], required: ["members", "has_more"])
        ),
        (
            "BanScope",
            choice(
                ["send", "all"],
                "The scope of the ban: `send` (the default) refuses every change; `all` refuses reading and subscribing, too."
            )
        ),
        ("ErasureState", choice(["erasing", "erased"], "`erased` when nothing of the user is left.")),
        (
            "Ban",
            object(
                [
                    "user": reference("UserID"),
                    "scope": reference("BanScope"),
                    "until": reference("Time"), "reason": text(Limits.banReasonBytes), "by": reference("UserID"),
                    "created_at": reference("Time"),
                ], required: ["user", "scope", "by", "created_at"],
                "A ban. It ends by itself at `until`, if that is set. `by` is the user who set it.")
        ),
        (
            "BanSettings",
            object(
                [
                    "scope": reference("BanScope"),
                    "until": [
                        "type": ["string", "null"], "format": "date-time",
                        "description": "The end of the ban; absent or null for a ban without end.",
                    ],
                    "reason": text(
                        Limits.banReasonBytes, isNullable: true, "The reason, for people. The banned user sees it."),
                ], required: [])
        ),
        (
            "Bans",
            object(
                [
                    "bans": list(of: "Ban", upTo: Limits.bans),
                    "has_more": hasMore(passing: "ban's user"),
                ], required: ["bans", "has_more"])
        ),
        (
            "AdminRoom",
            object(
                [
                    "room": reference("RoomID"), "title": text(Limits.titleBytes),
                    "visibility": reference("Visibility"),
                    "messages": count("The number of messages, tombstones included."),
                    "members": ["type": "integer", "minimum": 0],
                    "bytes": count("The size of its messages in bytes, as sent to clients."),
                    "last_activity": reference("Time"),
                ], required: ["room", "visibility", "messages", "members", "bytes"], "A room as admins see it.")
        ),
        (
            "AdminRooms",
            object(
                [
                    "rooms": list(of: "AdminRoom", upTo: Limits.rooms),
                    "has_more": ["type": "boolean"],
                    "cursor": [
                        "type": "string", "description": "The position for the next page; present if `has_more`.",
                    ],
                    "epoch": reference("Epoch"),
                ], required: ["rooms", "has_more", "epoch"])
        ),
        (
            "AdminUser",
            object(
                [
                    "user": reference("UserID"),
                    "rooms": [
                        "type": "array", "maxItems": .number(Limits.members),
                        "items": object(
                            ["room": reference("RoomID"), "role": reference("Role")],
                            required: ["room", "role"]),
                    ],
                    "has_more": hasMore(passing: "room"),
                    "last_activity": reference("Time"),
                    "sockets": count("The number of open WebSockets and event streams."),
                ], required: ["user", "rooms", "has_more", "sockets"],
                "A user as admins see it. `last_activity` is the time of the user's last message. It is looked for among the newest 1,000 "
                    + "messages of each of 100 rooms that the user is a member of.")
        ),
        (
            "Erasure",
            object(
                [
                    "user": reference("UserID"),
                    "state": reference("ErasureState"),
                    "messages": count("The number of messages that have become tombstones so far."),
                ], required: ["user", "state", "messages"])
        ),
        (
            "Presence",
            object(
                [
                    "room": reference("RoomID"),
                    "online": online,
                    "users": [
                        "type": "array", "items": reference("UserID"), "description": "Absent above 200 users.",
                    ],
                ], required: ["room", "online"])
        ),
    ]
}
