import Wire

/// Rooms, their members, and who is there.
extension APISchemas {
    /// A `read` mark in answers.
    static let readMark: JSONValue = [
        "type": "integer", "minimum": 0,
        "description": "The `seq` up to which the caller has read; absent without a name.",
    ]

    /// A number of `unread` messages in answers.
    static let unreadCount: JSONValue = [
        "type": "integer", "minimum": 0, "maximum": 1000,
        "description": "The number of messages of others beyond it; 1000 stands for more, too.",
    ]

    static let roomAnswers: [(String, JSONValue)] = [
        (
            "Room",
            object(
                [
                    "room": reference("RoomID"),
                    "head": ["type": "integer", "minimum": 0, "description": "The highest `seq`; 0 when it is empty."],
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
                    "rooms": [
                        "type": "array", "maxItems": .number(Limits.rooms),
                        "items": reference("InboxRoom"),
                    ],
                    "has_more": ["type": "boolean"],
                    "cursor": ["type": "string", "description": "Where the list goes on, if there is more."],
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
            [
                "type": "string", "enum": ["open", "private"],
                "description": "An open room can be read by everybody, a private room by its members.",
            ]
        ),
        (
            "Role",
            [
                "type": "string", "enum": ["member", "owner"],
                "description": "Owners change the room, its members and the messages in it.",
            ]
        ),
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
                        "description": "Up to where the caller has read.",
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
                    "members": [
                        "type": "array", "maxItems": .number(Limits.members), "items": reference("Member"),
                    ],
                    "has_more": ["type": "boolean", "description": "Go on with `after`, the last one's id."],
                ], required: ["members", "has_more"])
        ),
        (
            "BanScope",
            [
                "type": "string", "enum": ["send", "all"],
                "description":
                    "What a ban refuses: every change (`send`, the default), or reading and subscribing, too.",
            ]
        ),
        (
            "ErasureState",
            [
                "type": "string", "enum": ["erasing", "erased"],
                "description": "`erased` when nothing of the user is left.",
            ]
        ),
        (
            "Ban",
            object(
                [
                    "user": reference("UserID"),
                    "scope": reference("BanScope"),
                    "until": reference("Time"), "reason": text(Limits.banReasonBytes), "by": reference("UserID"),
                    "created_at": reference("Time"),
                ], required: ["user", "scope", "by", "created_at"],
                "A ban. It ends by itself at `until`, if it has one. `by` is who has set it.")
        ),
        (
            "BanSettings",
            object(
                [
                    "scope": reference("BanScope"),
                    "until": [
                        "type": ["string", "null"], "format": "date-time",
                        "description": "When it ends; absent for never.",
                    ],
                    "reason": text(Limits.banReasonBytes, isNullable: true, "For people. The user is told."),
                ], required: [])
        ),
        (
            "Bans",
            object(
                [
                    "bans": ["type": "array", "maxItems": .number(Limits.bans), "items": reference("Ban")],
                    "has_more": ["type": "boolean", "description": "Go on with `after`, the last one's user."],
                ], required: ["bans", "has_more"])
        ),
        (
            "AdminRoom",
            object(
                [
                    "room": reference("RoomID"), "title": text(Limits.titleBytes),
                    "visibility": reference("Visibility"),
                    "messages": ["type": "integer", "minimum": 0, "description": "Tombstones among them."],
                    "members": ["type": "integer", "minimum": 0],
                    "bytes": [
                        "type": "integer", "minimum": 0, "description": "Of its messages, as they are sent to clients.",
                    ],
                    "last_activity": reference("Time"),
                ], required: ["room", "visibility", "messages", "members", "bytes"], "A room as admins see it.")
        ),
        (
            "AdminRooms",
            object(
                [
                    "rooms": ["type": "array", "maxItems": .number(Limits.rooms), "items": reference("AdminRoom")],
                    "has_more": ["type": "boolean"],
                    "cursor": ["type": "string", "description": "Where the list goes on, if there is more."],
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
                    "has_more": ["type": "boolean", "description": "Go on with `after`, the last one's room."],
                    "last_activity": reference("Time"),
                    "sockets": [
                        "type": "integer", "minimum": 0, "description": "Open WebSockets and event streams.",
                    ],
                ], required: ["user", "rooms", "has_more", "sockets"],
                "A user as admins see it. `last_activity` is when the user has sent last, looked for among the newest 1,000 "
                    + "messages of each of 100 rooms that the user is a member of.")
        ),
        (
            "Erasure",
            object(
                [
                    "user": reference("UserID"),
                    "state": reference("ErasureState"),
                    "messages": [
                        "type": "integer", "minimum": 0,
                        "description": "How many messages have become tombstones so far.",
                    ],
                ], required: ["user", "state", "messages"])
        ),
        (
            "Presence",
            object(
                [
                    "room": reference("RoomID"),
                    "online": ["type": "integer", "minimum": 0, "description": "Users, and sockets without a name."],
                    "users": [
                        "type": "array", "items": reference("UserID"), "description": "Absent if they are many.",
                    ],
                ], required: ["room", "online"])
        ),
    ]
}
