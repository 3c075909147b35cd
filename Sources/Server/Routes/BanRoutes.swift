import Chat
import HTTP
import HTTPTypes
import Wire

/// Bans from a room, and from the whole server.
extension Exchange {
    /// `GET /v1/rooms/{room}/bans`
    func answerBans(of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        _ = try caller.named()
        try answerBans(target, for: caller) { .room(room, .bans($0)) }
    }

    /// `GET`, `PUT` and `DELETE /v1/rooms/{room}/bans/{user}`
    func serveBan(of user: UserID, from room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        _ = try caller.named()
        try serveBan(
            of: user, in: room, for: caller, set: { .room(.setBan(user, $0)) }, lift: .room(.removeBan(user)),
            read: { .room(room, .bans($0)) })
    }

    /// `GET /v1/admin/bans`
    func answerServerBans(_ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        try answerBans(target, for: caller) { .server(.bans($0)) }
    }

    /// `GET`, `PUT` and `DELETE /v1/admin/bans/{user}`
    func serveServerBan(of user: UserID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        try serveBan(
            of: user, in: nil, for: caller, set: { .user(user, .ban($0)) }, lift: .user(user, .liftBan),
            read: { .server(.bans($0)) })
    }

    private func answerBans(
        _ target: DecodedTarget, for caller: Identity, from place: (Query.BanRead) -> Query.Kind
    ) throws(Problem) {
        let name = try target.single("after")
        let after = try name.map { name throws(Problem) in try UserID(name) }
        let limit = try PageRequest.parseLimit(
            target.single("limit"), maximum: Limits.bans, default: Limits.defaultBans)
        try admit(.reads, by: caller.user)
        ask(for: caller, { place(.all(after: after, limit: limit, $0)) }) { [self] bans in
            answer { bans.encode(into: &$0) }
        }
    }

    private func serveBan(
        of user: UserID, in room: RoomID?, for caller: Identity, set: (BanSettings) -> Submission.Change,
        lift: Submission.Change, read: (Query.BanRead) -> Query.Kind
    ) throws(Problem) {
        switch request.method {
        case .put:
            try admit(.changes, by: try caller.named())
            try expectJSON()
            let settings = try BanSettings.decode(body)
            try submit(set(settings), to: room, by: caller) { [self] in answer($0) }
        case .delete:
            try admit(.changes, by: try caller.named())
            try submit(lift, to: room, by: caller) { [self] _ in answerEmpty(.noContent) }
        default:
            try admit(.reads, by: caller.user)
            ask(for: caller, { read(.one(user, $0)) }) { [self] ban in
                guard let ban else { return answer(.banNotFound) }
                answer { ban.encode(into: &$0) }
            }
        }
    }
}
