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
        try answerBans(try Self.banList(target), of: room, for: caller)
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
            try answerBan(of: user, from: room, for: caller)
        }
    }

    /// `GET /v1/admin/bans`
    func answerServerBans(_ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        try answerBans(try Self.banList(target), of: nil, for: caller)
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
            try answerBan(of: user, from: nil, for: caller)
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

    private static func banList(_ target: DecodedTarget) throws(Problem) -> Query.Kind {
        let after = try target.single("after")
        let limit = try PageRequest.parseLimit(
            target.single("limit"), maximum: Limits.bans, default: Limits.defaultBans)
        return .bans(after: try after.map { name throws(Problem) in try UserID(name) }, limit: limit)
    }

    private func answerBan(_ stored: Stored) {
        answer(stored.isNew ? .created : .ok, body: stored.body.span)
    }

    private func answerBans(_ kind: Query.Kind, of room: RoomID?, for caller: Identity) throws(Problem) {
        try admit(.reads, by: caller.user)
        ask(kind, of: room, for: caller) { [self] result in
            switch result {
            case .success(.bans(let bans)): answer { bans.encode(into: &$0) }
            case .success: preconditionFailure("the log answered another question")
            case .failure(let problem): answer(problem)
            }
        }
    }

    private func answerBan(of user: UserID, from room: RoomID?, for caller: Identity) throws(Problem) {
        try admit(.reads, by: caller.user)
        ask(.ban(user), of: room, for: caller) { [self] result in
            switch result {
            case .success(.bans(let found)):
                guard let ban = found.bans.first else { return answer(.banNotFound) }
                answer { ban.encode(into: &$0) }
            case .success: preconditionFailure("the log answered another question")
            case .failure(let problem): answer(problem)
            }
        }
    }
}
