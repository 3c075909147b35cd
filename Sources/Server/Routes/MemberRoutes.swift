import Chat
import HTTP
import HTTPTypes
import Wire

/// The members of a room.
extension Exchange {
    /// `GET /v1/rooms/{room}/members`
    func answerMembers(of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        try admit(.reads, by: caller.user)
        let name = try target.single("after")
        let after = try name.map { name throws(Problem) in try UserID(name) }
        let limit = try PageRequest.parseLimit(
            target.single("limit"), maximum: Limits.members, default: Limits.defaultMembers)
        ask(for: caller, { .room(room, .members(after: after, limit: limit, $0)) }) { [self] members in
            answer { members.encode(into: &$0) }
        }
    }

    /// `GET`, `PUT` and `DELETE /v1/rooms/{room}/members/{user}`
    func serveMember(_ user: UserID, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        switch request.method {
        case .put:
            try admitMember(user, by: caller)
            try expectJSON()
            let role = try RoomMember.decodeRole(body)
            try submit(.room(.setMember(user, role)), to: room, by: caller) { [self] receipt in
                answerMember(user, of: room, for: caller, receipt.isNew ? .created : .ok)
            }
        case .delete:
            try admit(.changes, by: try caller.named())
            try submit(.room(.removeMember(user)), to: room, by: caller) { [self] _ in answerEmpty(.noContent) }
        default:
            try admit(.reads, by: caller.user)
            answerMember(user, of: room, for: caller)
        }
    }

    private func answerMember(
        _ user: UserID, of room: RoomID, for caller: Identity, _ status: HTTPResponse.Status = .ok
    ) {
        ask(for: caller, { .room(room, .member(user, $0)) }) { [self] member in
            guard let member else { return answer(.memberNotFound) }
            answer(status) { member.encode(into: &$0) }
        }
    }
}
