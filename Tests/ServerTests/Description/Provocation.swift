import HTTPTypes

/// A request that provokes a status.
struct Provocation {
    /// The operation.
    var id: String
    var status: Int
    /// The status on a server with keys, if different.
    var statusWithTokens: Int?
    var target: String
    /// The caller; `nil` for none.
    var user: String? = "alice"
    var body = ""
    var fields: [HTTPField] = []

    init(
        _ id: String, _ status: Int, withTokens statusWithTokens: Int? = nil, _ target: String, _ body: String = "",
        as user: String? = "alice", fields: [(String, String)] = []
    ) {
        self.id = id
        self.status = status
        self.statusWithTokens = statusWithTokens
        self.target = target
        self.user = user
        self.body = body
        self.fields = fields.map { HTTPField($0.0, $0.1) }
    }

    /// All requests, in the order in which they are made on one server. Each relies on the effects of the earlier ones.
    static let all = messages + changes + rooms + bans + pins + admin + webhooks + live + server

    private static let room = "/v1/rooms/lobby"
    private static let direct = "/v1/rooms/@FBpM0kK2foLt9KeLtBjUCm"
    private static let first = "\(room)/messages/1"
    private static let by = "\(room)/messages/by-client-id/a"

    private static let messages: [Provocation] = [
        Provocation("sendMessage", 201, "\(room)/messages", #"{"client_message_id":"a","text":"1"}"#),
        Provocation("sendMessage", 200, "\(room)/messages", #"{"client_message_id":"a","text":"1"}"#),
        Provocation("sendMessage", 422, "\(room)/messages", #"{"client_message_id":"a","text":"2"}"#),
        Provocation("sendMessage", 412, "\(room)/messages", #"{"text":"2","expect_head":0}"#),
        Provocation(
            "sendMessage", 201, "\(room)/messages",
            #"""
            {"text":"2","reply_to":1,"data":{"a":[1,null,true,"x"]},"attachments":[{"type":"link","url":"http://x"},
            {"type":"image","url":"http://x","width":1,"height":1,"mime":"image/png","size":0,"title":"t",
            "description":"d","thumbhash":"h"}]}
            """#),
        Provocation("readMessages", 200, "\(room)/messages?around=first&limit=1", as: "bob"),
        Provocation("readMessages", 400, "\(room)/messages?limit=0"),
        Provocation("readMessages", 200, "\(room)/messages?around=unread", as: "bob"),
        Provocation("readMessages", 200, "\(room)/messages?around=mention", as: "bob"),
        Provocation("readMessages", 401, withTokens: 401, "\(room)/messages?before=read", as: nil),
        Provocation("getMessage", 200, first),
        Provocation("getMessage", 304, first, fields: [("If-None-Match", "\"1\"")]),
        Provocation("getMessage", 404, "\(room)/messages/99"),
        Provocation("getMessageByClientId", 200, by),
        Provocation("getMessageByClientId", 304, by, fields: [("If-None-Match", "\"1\"")]),
        Provocation("getMessageByClientId", 404, by, as: "bob"),
        Provocation("readChanges", 200, "\(room)/changes?since=0"),
        Provocation("readChanges", 400, "\(room)/changes?since=x"),
        Provocation("readChanges", 410, "\(room)/changes?since=99"),
    ]

    private static let changes: [Provocation] =
        [
            Provocation("editMessage", 200, first, #"{"text":"one"}"#),
            Provocation("editMessage", 403, first, #"{"text":"one"}"#, as: "bob"),
            Provocation("editMessage", 412, first, #"{"text":"two"}"#, fields: [("If-Match", "\"1\"")]),
            Provocation("editMessage", 422, first, #"{"text":""}"#),
            Provocation("addReaction", 200, "\(first)/reactions/x", as: "bob"),
            Provocation("addReaction", 400, "\(first)/reactions/%20"),
            Provocation("addReaction", 412, "\(first)/reactions/y", fields: [("If-Match", "\"1\"")]),
            Provocation("removeReaction", 412, "\(first)/reactions/x", fields: [("If-Match", "\"1\"")]),
            Provocation("removeReaction", 200, "\(first)/reactions/x", as: "bob"),
            Provocation("getMessage", 200, first),
        ]
        + (1...32).map { Provocation("addReaction", 200, "\(first)/reactions/\($0)") }
        + [
            Provocation("addReaction", 422, "\(first)/reactions/33"),
            Provocation("deleteMessage", 403, first, as: "bob"),
            Provocation("deleteMessage", 412, first, fields: [("If-Match", "\"1\"")]),
            Provocation("deleteMessage", 200, first),
            Provocation("getMessage", 200, first),
            Provocation("editMessage", 409, first, #"{"text":"1"}"#),
            Provocation("addReaction", 409, "\(first)/reactions/x"),
        ]

    private static let reports = "\(room)/messages/2/reports"
    private static let rooms: [Provocation] =
        [
            Provocation("reportMessage", 202, reports, #"{"reason":"abuse","note":"x"}"#, as: "bob"),
            Provocation("reportMessage", 202, reports, #"{"reason":"spam"}"#, as: "bob"),
            Provocation("reportMessage", 400, reports, #"{"reason":"dull"}"#),
            Provocation("reportMessage", 404, "\(room)/messages/99/reports", #"{"reason":"spam"}"#),
            Provocation("reportMessage", 409, "\(first)/reports", #"{"reason":"spam"}"#),
            Provocation(
                "reportMessage", 422, reports,
                "{\"reason\":\"spam\",\"note\":\"\(String(repeating: "x", count: 1001))\"}"),
            Provocation("setRoom", 201, "/v1/rooms/den", #"{"title":"Den"}"#),
            Provocation("setRoom", 200, "/v1/rooms/den", #"{"visibility":"private"}"#),
            Provocation(
                "setRoom", 200, "/v1/rooms/den",
                #"{"posting":"owners","slow_seconds":5,"keep_days":9,"avatar":"https://x","data":{"a":1}}"#),
            Provocation("setRoom", 400, "/v1/rooms/den", #"{"slow_seconds":3601}"#),
            Provocation("setRoom", 403, room, "{}", as: "bob"),
            Provocation("setRoom", 422, "/v1/rooms/den", "{\"title\":\"\(String(repeating: "x", count: 257))\"}"),
            Provocation("deleteRoom", 403, room, as: "bob"),
            Provocation("deleteRoom", 204, "/v1/rooms/den"),
            Provocation("setDirectRoom", 201, "/v1/direct/bob"),
            Provocation("setDirectRoom", 200, "/v1/direct/alice", as: "bob"),
            Provocation("setDirectRoom", 400, "/v1/direct/%20"),
            Provocation("setDirectRoom", 422, "/v1/direct/alice"),
            Provocation("setMember", 422, "\(direct)/members/carol"),
            Provocation("removeMember", 422, "\(direct)/members/bob"),
            Provocation("deleteRoom", 422, direct),
            Provocation("setBlock", 201, "/v1/blocks/bob"),
            Provocation("setBlock", 200, "/v1/blocks/bob"),
            Provocation("setBlock", 403, "/v1/blocks/alice"),
            Provocation("setBlock", 400, "/v1/blocks/%20"),
            Provocation("setDirectRoom", 403, "/v1/direct/alice", as: "bob"),
            Provocation("listBlocks", 200, "/v1/blocks?limit=1"),
            Provocation("listBlocks", 400, "/v1/blocks?limit=1001"),
            Provocation("removeBlock", 400, "/v1/blocks/%20"),
            Provocation("removeBlock", 403, "/v1/blocks/alice"),
            Provocation("removeBlock", 204, "/v1/blocks/bob"),
        ]
        + (1...1000).map { Provocation("setBlock", 201, "/v1/blocks/user\($0)", as: "blocker") } + [
            Provocation("setBlock", 422, "/v1/blocks/bob", as: "blocker"),
            Provocation("listRooms", 200, "/v1/rooms?limit=1"),
            Provocation("listRooms", 400, "/v1/rooms?cursor=x"),
            Provocation("listRooms", 410, "/v1/rooms?cursor=x:0:lobby"),
            Provocation("listMentions", 200, "/v1/mentions?limit=1", as: "bob"),
            Provocation("listMentions", 400, "/v1/mentions?cursor=x"),
            Provocation("listMentions", 410, "/v1/mentions?cursor=x:0:lobby:1"),
            Provocation("searchRoom", 200, "\(room)/search?q=2&after=1&has=link&sender=alice&limit=1", as: "bob"),
            Provocation("searchRoom", 400, "\(room)/search?q=2&has=x"),
            Provocation("searchRoom", 400, "\(room)/search?q=2&before=last"),
            Provocation("searchRoom", 410, "\(room)/search?q=2&cursor=x:0:lobby:1"),
            Provocation("searchRoom", 422, "\(room)/search"),
            Provocation("searchRooms", 200, "/v1/search?q=2&before=2099-01-01T00:00:00Z"),
            Provocation("searchRooms", 400, "/v1/search?q=2&before=2"),
            Provocation("searchRooms", 410, "/v1/search?q=2&cursor=x:0:lobby:1"),
            Provocation("searchRooms", 422, "/v1/search?q=-2"),
            Provocation("getRoom", 200, room, as: "bob"),
            Provocation(
                "setNotify", 200, "\(room)/notify", #"{"level":"none","until":"2099-01-01T00:00:00Z"}"#, as: "bob"),
            Provocation("setNotify", 200, "\(room)/notify", #"{"level":"mentions","room_mentions":false}"#, as: "bob"),
            Provocation("getRoom", 200, room, as: "bob"),
            Provocation("setNotify", 400, "\(room)/notify", #"{"level":"some"}"#, as: "bob"),
            Provocation("setNotify", 404, "/v1/rooms/nowhere/notify", #"{"level":"all"}"#, as: "bob"),
            Provocation("moveReadMark", 200, "\(room)/read", #"{"seq":1}"#, as: "bob"),
            Provocation("moveReadMark", 400, "\(room)/read", "{}"),
            Provocation("listReads", 200, "\(room)/reads?from=1&limit=1"),
            Provocation("listReads", 400, "\(room)/reads?from=x"),
            Provocation("getPresence", 200, "\(room)/presence"),
            Provocation("setMember", 201, "\(room)/members/bob"),
            Provocation("setMember", 200, "\(room)/members/bob", #"{"role":"member"}"#),
            Provocation("setMember", 403, "\(room)/members/carol", as: "bob"),
            Provocation("setMember", 409, "\(room)/members/alice", #"{"role":"member"}"#),
            Provocation("listReactingUsers", 200, "\(room)/messages/1/reactions/x?limit=1"),
            Provocation("listReactingUsers", 400, "\(room)/messages/1/reactions/x?limit=1001"),
            Provocation("listReactingUsers", 404, "\(room)/messages/999/reactions/x"),
            Provocation("listMembers", 200, "\(room)/members?limit=1"),
            Provocation("setProfile", 201, "/v1/profiles/bob", #"{"name":"Bob","data":{"a":1}}"#, as: "bob"),
            Provocation("setProfile", 200, "/v1/profiles/bob", #"{"avatar":"https://x/y"}"#, as: "bob"),
            Provocation("setProfile", 400, "/v1/profiles/bob", #"{"avatar":"x"}"#, as: "bob"),
            Provocation("setProfile", 403, "/v1/profiles/bob", "{}"),
            Provocation(
                "setProfile", 422, "/v1/profiles/bob", "{\"name\":\"\(String(repeating: "x", count: 257))\"}", as: "bob"
            ),
            Provocation("listProfiles", 200, "/v1/profiles?users=alice,bob"),
            Provocation("listProfiles", 304, "/v1/profiles?users=bob", fields: [("If-None-Match", "*")]),
            Provocation("listProfiles", 400, "/v1/profiles"),
            Provocation("listProfiles", 422, "/v1/profiles?users=\((0...100).map { "u\($0)" }.joined(separator: ","))"),
            Provocation("listMembers", 200, "\(room)/members?profiles=true"),
            Provocation("listMembers", 400, "\(room)/members?limit=1001"),
            Provocation("getMember", 200, "\(room)/members/bob"),
            Provocation("getMember", 404, "\(room)/members/carol"),
            Provocation("removeMember", 403, "\(room)/members/alice", as: "bob"),
            Provocation("removeMember", 409, "\(room)/members/alice"),
            Provocation("removeMember", 204, "\(room)/members/bob"),
        ]

    private static let bans: [Provocation] = [
        Provocation(
            "setBan", 201, "\(room)/bans/bob", #"{"scope":"send","until":"2099-01-01T00:00:00Z","reason":"x"}"#),
        Provocation("setBan", 200, "\(room)/bans/bob"),
        Provocation("setBan", 403, "\(room)/bans/alice"),
        Provocation("setBan", 422, "\(room)/bans/bob", #"{"until":"2000-01-01T00:00:00Z"}"#),
        Provocation("listBans", 200, "\(room)/bans?limit=1"),
        Provocation("listBans", 400, "\(room)/bans?limit=0"),
        Provocation("listBans", 403, "\(room)/bans", as: "carol"),
        Provocation("getBan", 200, "\(room)/bans/bob"),
        Provocation("getBan", 404, "\(room)/bans/carol"),
        Provocation("liftBan", 403, "\(room)/bans/bob", as: "carol"),
        Provocation("liftBan", 204, "\(room)/bans/bob"),
    ]

    private static let pins: [Provocation] =
        (3...52).map { Provocation("sendMessage", 201, "\(room)/messages", "{\"text\":\"\($0)\"}") }
        + (2...51).map { Provocation("pinMessage", 200, "\(room)/messages/\($0)/pin") }
        + [
            Provocation("pinMessage", 422, "\(room)/messages/52/pin"),
            Provocation("pinMessage", 409, "\(first)/pin"),
            Provocation("pinMessage", 403, "\(room)/messages/2/pin", as: "bob"),
            Provocation("pinMessage", 412, "\(room)/messages/2/pin", fields: [("If-Match", "\"1\"")]),
            Provocation("listPins", 200, "\(room)/pins?limit=1", as: "bob"),
            Provocation("listPins", 400, "\(room)/pins?limit=51"),
            Provocation("listPins", 400, "\(room)/pins?cursor=x"),
            Provocation("unpinMessage", 412, "\(room)/messages/2/pin", fields: [("If-Match", "\"1\"")]),
            Provocation("unpinMessage", 403, "\(room)/messages/2/pin", as: "bob"),
            Provocation("unpinMessage", 200, "\(room)/messages/2/pin"),
        ]

    private static let admin: [Provocation] = [
        Provocation("listAllRooms", 200, "/v1/admin/rooms?limit=1", as: "root"),
        Provocation("listAllRooms", 400, "/v1/admin/rooms?cursor=x", as: "root"),
        Provocation("listAllRooms", 410, "/v1/admin/rooms?cursor=x:0:lobby", as: "root"),
        Provocation("getUser", 200, "/v1/admin/users/alice?limit=1", as: "root"),
        Provocation("getUser", 400, "/v1/admin/users/alice?after=-", as: "root"),
        Provocation("endSockets", 204, "/v1/admin/users/bob/sockets", as: "root"),
        Provocation("listReports", 200, "/v1/admin/reports?limit=1", as: "root"),
        Provocation("listReports", 400, "/v1/admin/reports?state=x", as: "root"),
        Provocation("listReports", 410, "/v1/admin/reports?cursor=x:open:1:1", as: "root"),
        Provocation(
            "closeReport", 200, "/v1/admin/reports/lobby/2", #"{"state":"closed","action":"none"}"#, as: "root"),
        Provocation("listReports", 200, "/v1/admin/reports?state=closed", as: "root"),
        Provocation("closeReport", 400, "/v1/admin/reports/lobby/2", #"{"state":"open"}"#, as: "root"),
        Provocation(
            "closeReport", 404, "/v1/admin/reports/lobby/99", #"{"state":"closed","action":"none"}"#, as: "root"),
        Provocation("getErasure", 404, "/v1/users/nobody", as: "root"),
        Provocation("eraseUser", 202, "/v1/users/nobody", as: "root"),
        Provocation("getErasure", 200, "/v1/users/nobody", as: "root"),
        Provocation("setServerBan", 201, "/v1/admin/bans/bob", #"{"until":"2099-01-01T00:00:00Z"}"#, as: "root"),
        Provocation("setServerBan", 200, "/v1/admin/bans/bob", as: "root"),
        Provocation("setServerBan", 422, "/v1/admin/bans/bob", #"{"until":"2000-01-01T00:00:00Z"}"#, as: "root"),
        Provocation("setServerBan", 400, "/v1/admin/bans/bob", #"{"scope":1}"#, as: "root"),
        Provocation("listServerBans", 200, "/v1/admin/bans?limit=1", as: "root"),
        Provocation("listServerBans", 400, "/v1/admin/bans?limit=0", as: "root"),
        Provocation("getServerBan", 200, "/v1/admin/bans/bob", as: "root"),
        Provocation("getServerBan", 404, "/v1/admin/bans/carol", as: "root"),
        Provocation("liftServerBan", 204, "/v1/admin/bans/bob", as: "root"),
    ]

    private static let hook = "/v1/admin/webhooks/hook"

    private static let webhooks: [Provocation] =
        [
            Provocation("setWebhook", 201, hook, #"{"url":"https://hook.invalid/","rooms":["lobby"]}"#, as: "root"),
            Provocation("setWebhook", 200, hook, #"{"enabled":true,"events":["message","room","member"]}"#, as: "root"),
            Provocation("setWebhook", 400, hook, #"{"events":["everything"]}"#, as: "root"),
            Provocation("getWebhook", 200, hook, as: "root"),
            Provocation("getWebhook", 400, "/v1/admin/webhooks/-", as: "root"),
            Provocation("getWebhook", 404, "/v1/admin/webhooks/none", as: "root"),
            Provocation("listWebhooks", 200, "/v1/admin/webhooks", as: "root"),
            Provocation("skipDelivery", 200, "\(hook)/skip", #"{"room":"lobby","rev":1}"#, as: "root"),
            Provocation("skipDelivery", 400, "\(hook)/skip", "{}", as: "root"),
            Provocation("skipDelivery", 404, "\(hook)/skip", #"{"room":"nowhere","rev":1}"#, as: "root"),
            Provocation("skipDelivery", 410, "\(hook)/skip", #"{"room":"den","rev":1}"#, as: "root"),
            Provocation("replayWebhook", 200, "\(hook)/replay", #"{"room":"lobby","since":0}"#, as: "root"),
            Provocation("replayWebhook", 400, "\(hook)/replay", "{}", as: "root"),
            Provocation("replayWebhook", 404, "\(hook)/replay", #"{"room":"nowhere","since":1}"#, as: "root"),
            Provocation("replayWebhook", 410, "\(hook)/replay", #"{"room":"den","since":0}"#, as: "root"),
            Provocation("rotateWebhookSecret", 200, "\(hook)/rotate", #"{"keep_hours":1}"#, as: "root"),
            Provocation("rotateWebhookSecret", 400, "\(hook)/rotate", #"{"keep_hours":721}"#, as: "root"),
            Provocation("rotateWebhookSecret", 404, "/v1/admin/webhooks/none/rotate", "{}", as: "root"),
            Provocation("testWebhook", 200, "\(hook)/test", as: "root"),
            Provocation("testWebhook", 400, "/v1/admin/webhooks/-/test", as: "root"),
            Provocation("testWebhook", 404, "/v1/admin/webhooks/none/test", as: "root"),
        ]
        + (2...16).map {
            Provocation(
                "setWebhook", 201, "/v1/admin/webhooks/hook\($0)", #"{"url":"https://hook.invalid/"}"#, as: "root")
        } + [
            Provocation(
                "setWebhook", 422, "/v1/admin/webhooks/hook17", #"{"url":"https://hook.invalid/"}"#, as: "root"),
            Provocation("removeWebhook", 204, hook, as: "root"),
            Provocation("removeWebhook", 400, "/v1/admin/webhooks/-", as: "root"),
            Provocation("removeWebhook", 404, hook, as: "root"),
        ]

    private static let handshake = HandshakeTests.fields.map { ($0.name.rawName, $0.value) }

    private static let live: [Provocation] = [
        Provocation("subscribe", 101, "\(room)/live?since=0", fields: handshake),
        Provocation("subscribe", 200, "\(room)/live", fields: [("Accept", "text/event-stream")]),
        Provocation(
            "subscribe", 204, "\(room)/live",
            fields: [("Accept", "text/event-stream"), ("Last-Event-ID", "refused")]),
        Provocation("subscribe", 400, "\(room)/live?since=x", fields: handshake),
        Provocation("subscribe", 410, "\(room)/live?since=999", fields: handshake),
        Provocation("subscribe", 426, "\(room)/live"),
        Provocation("openSocket", 101, "/v1/live", fields: handshake),
        Provocation("openSocket", 426, "/v1/live"),
    ]

    private static let server: [Provocation] = [
        Provocation("getHealth", 200, "/healthz", as: nil),
        Provocation("getReadiness", 200, "/readyz", as: nil),
        Provocation("getMetrics", 200, "/metrics", as: nil),
        Provocation("getDescription", 200, "/openapi.json", as: nil),
        Provocation("getDescription", 304, "/openapi.json", as: nil, fields: [("If-None-Match", "*")]),
        Provocation("getDocs", 200, "/docs", as: nil),
        Provocation("getDocs", 304, "/docs", as: nil, fields: [("If-None-Match", "*")]),
        Provocation("getIndex", 200, "/", as: nil),
        Provocation("getIndex", 304, "/", as: nil, fields: [("If-None-Match", "*")]),
    ]
}
