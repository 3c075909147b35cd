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
        ask(for: caller, { .server(.rooms(request, $0)) }) { [self] rooms in
            var rooms = rooms
            rooms.next?.epoch = epoch
            if let next = rooms.next {
                add(.link, "</v1/admin/rooms?cursor=\(next)&limit=\(request.limit)>; rel=\"next\"")
            }
            answer { rooms.encode(epoch: epoch, into: &$0) }
        }
    }

    /// `GET /v1/admin/users/{user}`
    func answerUser(_ user: UserID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        let name = try target.single("after")
        let after = try name.map { name throws(Problem) in try RoomID(name) }
        let limit = try PageRequest.parseLimit(
            target.single("limit"), maximum: Limits.members, default: Limits.defaultMembers)
        try admit(.reads, by: caller.user)
        ask(for: caller, { .server(.user(user, after: after, limit: limit, $0)) }) { [self] found in
            let sockets = worker.services.openSockets.count(of: user)
            answer { found.encode(sockets: sockets, into: &$0) }
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

/// Erasures of users, which only admins may request.
extension Exchange {
    /// `GET` and `DELETE /v1/users/{user}`
    func serveUser(_ user: UserID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admin(target)
        guard request.method == .delete else { return answerErasure(of: user, for: caller) }
        try admit(.changes, by: try caller.named())
        try submit(.user(user, .erase), by: caller) { [self] in answer($0, .accepted) }
    }

    private func answerErasure(of user: UserID, for caller: Identity) {
        ask(for: caller, { .server(.erasure(user, $0)) }) { [self] status in
            guard let status else { return answer(.erasureNotFound) }
            answer { status.encode(into: &$0) }
        }
    }
}
