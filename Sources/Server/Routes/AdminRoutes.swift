import Chat
import HTTP
import HTTPTypes
import Wire

/// Requests of admins about the whole server.
extension Exchange {
    /// `GET /v1/admin/rooms`
    func answerAllRooms(_ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        let request = try InboxRequest.parse(cursor: target.single("cursor"), limit: target.single("limit"))
        if let cursor = request.cursor, cursor.epoch != epoch { throw .listCursorUnknown }
        try admit(.reads, by: caller.user)
        ask(.allRooms(request), of: nil, for: caller) { [self] result in
            switch result {
            case .success(.allRooms(var rooms)):
                rooms.next?.epoch = epoch
                if let next = rooms.next {
                    add(.link, "</v1/admin/rooms?cursor=\(next)&limit=\(request.limit)>; rel=\"next\"")
                }
                answer { rooms.encode(epoch: epoch, into: &$0) }
            case .success: preconditionFailure("the log answered another question")
            case .failure(let problem): answer(problem)
            }
        }
    }

    /// `GET /v1/admin/users/{user}`
    func answerUser(_ user: UserID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        let after = try target.single("after")
        let limit = try PageRequest.parseLimit(
            target.single("limit"), maximum: Limits.members, default: Limits.defaultMembers)
        let kind = Query.Kind.user(
            user, after: try after.map { name throws(Problem) in try RoomID(name) }, limit: limit)
        try admit(.reads, by: caller.user)
        ask(kind, of: nil, for: caller) { [self] result in
            switch result {
            case .success(.user(let found)):
                let sockets = worker.services.openSockets.count(of: user)
                answer { found.encode(sockets: sockets, into: &$0) }
            case .success: preconditionFailure("the log answered another question")
            case .failure(let problem): answer(problem)
            }
        }
    }

    /// `DELETE /v1/admin/users/{user}/sockets`
    func endSockets(of user: UserID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        try worker.checkBans(of: caller, in: nil, for: .change)
        try admit(.changes, by: try caller.named())
        worker.services.dispatcher.endConnections(of: user, because: .disconnected)
        answerEmpty(.noContent)
    }
}
