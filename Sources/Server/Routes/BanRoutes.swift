import Chat
import HTTP
import HTTPTypes
import Wire

/// Bans from a room, and from the whole server.
enum BanRoutes {
    /// `GET /v1/rooms/{room}/bans`
    static func bans(_ request: RoutedRequest) throws(Problem) {
        try answerBans(request) { .room(request.room, .bans($0)) }
    }

    /// `GET /v1/rooms/{room}/bans/{user}`
    static func ban(_ request: RoutedRequest) throws(Problem) {
        answerBan(request) { .room(request.room, .bans($0)) }
    }

    /// `PUT /v1/rooms/{room}/bans/{user}`
    static func set(_ request: RoutedRequest) throws(Problem) {
        try set(request) { .room(.setBan(request.user, $0)) }
    }

    /// `DELETE /v1/rooms/{room}/bans/{user}`
    static func lift(_ request: RoutedRequest) throws(Problem) {
        try request.submit(.room(.removeBan(request.user))) { _ in request.answerNoContent() }
    }

    /// `GET /v1/admin/bans`
    static func serverBans(_ request: RoutedRequest) throws(Problem) {
        try answerBans(request) { .server(.bans($0)) }
    }

    /// `GET /v1/admin/bans/{user}`
    static func serverBan(_ request: RoutedRequest) throws(Problem) {
        answerBan(request) { .server(.bans($0)) }
    }

    /// `PUT /v1/admin/bans/{user}`
    static func setServerBan(_ request: RoutedRequest) throws(Problem) {
        try set(request) { .user(request.user, .ban($0)) }
    }

    /// `DELETE /v1/admin/bans/{user}`
    static func liftServerBan(_ request: RoutedRequest) throws(Problem) {
        try request.submit(.user(request.user, .liftBan)) { _ in request.answerNoContent() }
    }

    private static func answerBans(
        _ request: RoutedRequest, from read: (Query.BanRead) -> Query.Kind
    ) throws(Problem) {
        let after = try request.afterUser()
        let limit = try request.limit(maximum: Limits.bans, default: Limits.defaultBans)
        request.ask({ read(.all(after: after, limit: limit, $0)) }) { bans in
            request.answerJSON { bans.encode(into: &$0) }
        }
    }

    private static func answerBan(_ request: RoutedRequest, from read: (Query.BanRead) -> Query.Kind) {
        request.ask({ read(.one(request.user, $0)) }) { ban in
            guard let ban else { return request.refuse(.banNotFound) }
            request.answerJSON { ban.encode(into: &$0) }
        }
    }

    private static func set(
        _ request: RoutedRequest, _ change: (BanSettings) -> Submission.Change
    ) throws(Problem) {
        let settings = try BanSettings.decode(request.body)
        try request.submit(change(settings)) { receipt in request.answerRecord(of: receipt) }
    }
}
