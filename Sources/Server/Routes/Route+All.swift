import HTTPTypes

extension Route {
    /// All routes, those of one path next to each other.
    ///
    /// If two paths match a request, the first one serves it.
    static let all: [Route] = messages + rooms + members + profiles + live + admin + operations + page + package

    private static let messages = [
        Route(.get, "/v1/rooms/{room}/messages", by: .reader, limit: .reads, HistoryRoutes.page),
        Route(.post, "/v1/rooms/{room}/messages", by: .named, limit: .sends, takesJSON: true, MessageRoutes.send),
        Route(.get, "/v1/rooms/{room}/messages/{seq}", by: .reader, limit: .reads, MessageRoutes.message),
        Route(
            .patch, "/v1/rooms/{room}/messages/{seq}", by: .named, limit: .changes, takesJSON: true, MessageRoutes.edit),
        Route(.delete, "/v1/rooms/{room}/messages/{seq}", by: .named, limit: .changes, MessageRoutes.delete),
        Route(
            .get, "/v1/rooms/{room}/messages/by-client-id/{client_message_id}", by: .named, limit: .reads,
            MessageRoutes.messageByClientID),
        Route(
            .get, "/v1/rooms/{room}/messages/{seq}/reactions/{key}", by: .reader, limit: .reads,
            MessageRoutes.reactingUsers),
        Route(
            .put, "/v1/rooms/{room}/messages/{seq}/reactions/{key}", by: .named, limit: .changes,
            MessageRoutes.addReaction),
        Route(
            .delete, "/v1/rooms/{room}/messages/{seq}/reactions/{key}", by: .named, limit: .changes,
            MessageRoutes.removeReaction),
        Route(
            .post, "/v1/rooms/{room}/messages/{seq}/reports", by: .named, limit: .changes, takesJSON: true,
            ReportRoutes.report),
        Route(.put, "/v1/rooms/{room}/messages/{seq}/pin", by: .named, limit: .changes, MessageRoutes.pin),
        Route(.delete, "/v1/rooms/{room}/messages/{seq}/pin", by: .named, limit: .changes, MessageRoutes.unpin),
        Route(.get, "/v1/rooms/{room}/pins", by: .reader, limit: .reads, MessageRoutes.pins),
        Route(.get, "/v1/rooms/{room}/changes", by: .reader, limit: .reads, HistoryRoutes.changes),
        Route(.get, "/v1/rooms/{room}/search", by: .named, limit: .searches, SearchRoutes.room),
        Route(.get, "/v1/search", by: .named, limit: .searches, SearchRoutes.rooms),
    ]

    private static let rooms = [
        Route(.get, "/v1/rooms", by: .named, limit: .reads, RoomRoutes.ownRooms),
        Route(.get, "/v1/mentions", by: .named, limit: .reads, RoomRoutes.mentions),
        Route(.get, "/v1/rooms/{room}", by: .reader, limit: .reads, RoomRoutes.room),
        Route(.put, "/v1/rooms/{room}", by: .named, limit: .changes, takesJSON: true, RoomRoutes.set),
        Route(.delete, "/v1/rooms/{room}", by: .named, limit: .changes, RoomRoutes.delete),
        Route(.put, "/v1/rooms/{room}/read", by: .named, limit: .changes, takesJSON: true, RoomRoutes.moveReadMark),
        Route(.get, "/v1/rooms/{room}/reads", by: .reader, limit: .reads, RoomRoutes.reads),
        Route(.put, "/v1/rooms/{room}/notify", by: .named, limit: .changes, takesJSON: true, RoomRoutes.setNotify),
        Route(.get, "/v1/rooms/{room}/presence", by: .reader, limit: .reads, RoomRoutes.presence),
        // Counts as an invite, too.
        Route(.put, "/v1/direct/{user}", by: .named, RoomRoutes.setDirect),
        Route(.get, "/v1/blocks", by: .named, limit: .reads, BlockRoutes.blocks),
        Route(.put, "/v1/blocks/{user}", by: .named, limit: .changes, BlockRoutes.set),
        Route(.delete, "/v1/blocks/{user}", by: .named, limit: .changes, BlockRoutes.remove),
    ]

    private static let members = [
        Route(.get, "/v1/rooms/{room}/members", by: .reader, limit: .reads, MemberRoutes.members),
        Route(.get, "/v1/rooms/{room}/members/{user}", by: .reader, limit: .reads, MemberRoutes.member),
        // Adding another user counts as an invite, too.
        Route(.put, "/v1/rooms/{room}/members/{user}", by: .named, takesJSON: true, MemberRoutes.set),
        Route(.delete, "/v1/rooms/{room}/members/{user}", by: .named, limit: .changes, MemberRoutes.remove),
        Route(.get, "/v1/rooms/{room}/bans", by: .named, limit: .reads, BanRoutes.bans),
        Route(.get, "/v1/rooms/{room}/bans/{user}", by: .named, limit: .reads, BanRoutes.ban),
        Route(.put, "/v1/rooms/{room}/bans/{user}", by: .named, limit: .changes, takesJSON: true, BanRoutes.set),
        Route(.delete, "/v1/rooms/{room}/bans/{user}", by: .named, limit: .changes, BanRoutes.lift),
    ]

    private static let profiles = [
        Route(.get, "/v1/profiles", by: .reader, limit: .reads, ProfileRoutes.profiles),
        Route(.put, "/v1/profiles/{user}", by: .named, limit: .changes, takesJSON: true, ProfileRoutes.set),
    ]

    // Their code counts them, after what trusted proxies report.
    private static let live = [
        Route(.get, "/v1/rooms/{room}/live", by: .reader, isLive: true, LiveRoutes.room),
        Route(.get, "/v1/live", by: .reader, isLive: true, LiveRoutes.rooms),
    ]

    private static let admin = [
        Route(.get, "/v1/admin/rooms", by: .admin, limit: .reads, AdminRoutes.rooms),
        Route(.get, "/v1/admin/users/{user}", by: .admin, limit: .reads, AdminRoutes.user),
        Route(.delete, "/v1/admin/users/{user}/sockets", by: .admin, limit: .changes, AdminRoutes.endSockets),
        Route(.get, "/v1/admin/bans", by: .admin, limit: .reads, BanRoutes.serverBans),
        Route(.get, "/v1/admin/bans/{user}", by: .admin, limit: .reads, BanRoutes.serverBan),
        Route(.put, "/v1/admin/bans/{user}", by: .admin, limit: .changes, takesJSON: true, BanRoutes.setServerBan),
        Route(.delete, "/v1/admin/bans/{user}", by: .admin, limit: .changes, BanRoutes.liftServerBan),
        Route(.get, "/v1/admin/reports", by: .admin, limit: .reads, ReportRoutes.reports),
        Route(
            .put, "/v1/admin/reports/{room}/{seq}", by: .admin, limit: .changes, takesJSON: true, ReportRoutes.close),
        Route(.get, "/v1/admin/webhooks", by: .admin, limit: .reads, WebhookRoutes.webhooks),
        Route(.get, "/v1/admin/webhooks/{webhook}", by: .admin, limit: .reads, WebhookRoutes.webhook),
        Route(
            .put, "/v1/admin/webhooks/{webhook}", by: .admin, limit: .changes, takesJSON: true, WebhookRoutes.set),
        Route(.delete, "/v1/admin/webhooks/{webhook}", by: .admin, limit: .changes, WebhookRoutes.remove),
        Route(
            .post, "/v1/admin/webhooks/{webhook}/skip", by: .admin, limit: .changes, takesJSON: true,
            WebhookRoutes.skip),
        Route(
            .post, "/v1/admin/webhooks/{webhook}/replay", by: .admin, limit: .changes, takesJSON: true,
            WebhookRoutes.replay),
        Route(.post, "/v1/admin/webhooks/{webhook}/test", by: .admin, limit: .changes, WebhookRoutes.test),
        Route(
            .post, "/v1/admin/webhooks/{webhook}/rotate", by: .admin, limit: .changes, takesJSON: true,
            WebhookRoutes.rotate),
        Route(.get, "/v1/users/{user}", by: .admin, limit: .reads, AdminRoutes.erasure),
        Route(.delete, "/v1/users/{user}", by: .admin, limit: .changes, AdminRoutes.erase),
    ]

    private static let operations = [
        Route(.get, "/healthz", by: .anybody, on: .all, OperationRoutes.health),
        Route(.get, "/readyz", by: .anybody, on: .all, OperationRoutes.readiness),
        Route(.get, "/metrics", by: .anybody, on: .operators, OperationRoutes.metrics),
        Route(.get, "/openapi.json", by: .anybody, OperationRoutes.description),
        Route(.get, "/docs", by: .anybody, OperationRoutes.docs),
        Route(.get, "/", by: .anybody, PageRoutes.index),
    ]

    private static let page = [
        Route(.get, "/page/{name}", by: .anybody, PageRoutes.file),
        Route(.get, "/page/client/{name}", by: .anybody, PageRoutes.module),
    ]

    private static let package = [
        Route(.get, "/backscroll.js", by: .anybody, PackageRoutes.entry),
        Route(.get, "/\(PackageContent.name).tgz", by: .anybody, PackageRoutes.archive),
        Route(.get, "/\(PackageContent.name)/{name}", by: .anybody, PackageRoutes.file),
        Route(.get, "/\(PackageContent.name)/types/{name}", by: .anybody, PackageRoutes.types),
    ]
}
