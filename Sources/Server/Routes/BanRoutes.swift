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
        switch request.method {
        case .put:
            try admit(.changes, by: try caller.named())
            try expectJSON()
            try change(room, .setBan(user, try BanSettings.decode(body)), by: caller) { [self] in answerBan($0) }
        case .delete:
            try admit(.changes, by: try caller.named())
            try change(room, .removeBan(user), by: caller) { [self] _ in answerEmpty(.noContent) }
        default:
            try answerBan(of: user, for: caller) { .room(room, .bans($0)) }
        }
    }

    /// `GET /v1/admin/bans`
    func answerServerBans(_ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        try answerBans(target, for: caller) { .server(.bans($0)) }
    }

    /// `GET`, `PUT` and `DELETE /v1/admin/bans/{user}`
    func serveServerBan(of user: UserID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        switch request.method {
        case .put:
            try admit(.changes, by: try caller.named())
            try expectJSON()
            try change(user, .ban(try BanSettings.decode(body)), by: caller) { [self] in answerBan($0) }
        case .delete:
            try admit(.changes, by: try caller.named())
            try change(user, .liftBan, by: caller) { [self] _ in answerEmpty(.noContent) }
        default:
            try answerBan(of: user, for: caller) { .server(.bans($0)) }
        }
    }

    /// Changes a user as an admin, then calls `then` with the result; answers with the problem on failure.
    func change(
        _ user: UserID, _ change: UserChange, by caller: Identity, then: @escaping (Stored) -> Void
    ) throws(Problem) {
        worker.submit(.user(user, change), to: nil, by: try caller.named(), isAdmin: caller.isAdmin) {
            [self] result in
            switch result {
            case .success(let stored): then(stored)
            case .failure(let problem): answer(problem)
            }
        }
    }

    private func answerBan(_ stored: Stored) {
        answer(stored.isNew ? .created : .ok, body: stored.body.span)
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

    private func answerBan(
        of user: UserID, for caller: Identity, from place: (Query.BanRead) -> Query.Kind
    ) throws(Problem) {
        try admit(.reads, by: caller.user)
        ask(for: caller, { place(.one(user, $0)) }) { [self] ban in
            guard let ban else { return answer(.banNotFound) }
            answer { ban.encode(into: &$0) }
        }
    }
}
