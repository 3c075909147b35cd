import Chat
import HTTP
import HTTPTypes
import Wire

/// Reading and changing a room, its settings and the caller's read mark.
extension Exchange {
    /// `GET /v1/rooms/{room}`
    func answerRoom(_ room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        try admit(.reads, by: caller.user)
        answerSummary(of: room, for: caller)
    }

    /// `PUT /v1/rooms/{room}`
    func setRoom(_ room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admittedCaller(target, in: room)
        try expectJSON()
        let settings = try RoomSettings.decode(body)
        try submit(.room(.set(settings)), to: room, by: caller) { [self] receipt in
            answerSummary(of: room, for: caller, receipt.isNew ? .created : .ok)
        }
    }

    /// `DELETE /v1/rooms/{room}`
    func deleteRoom(_ room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admittedCaller(target, in: room)
        try submit(.room(.delete), to: room, by: caller) { [self] _ in answerEmpty(.noContent) }
    }

    /// `PUT /v1/rooms/{room}/read`
    func moveReadMark(in room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        let user = try caller.named()
        try admit(.changes, by: user)
        try expectJSON()
        let seq = try ReadMark.decode(body)
        try submit(.read(seq: seq), to: room, by: caller) { [self] receipt in
            if case .readMark(let seq, hasMoved: true) = receipt { worker.readMarkMoved(user, in: room, to: seq) }
            // A query sees every commit that was reported before it, so the summary has the new mark.
            answerSummary(of: room, for: caller)
        }
    }

    private func answerSummary(of room: RoomID, for caller: Identity, _ status: HTTPResponse.Status = .ok) {
        ask(for: caller, { .room(room, .summary($0)) }) { [self] summary in
            var summary = summary
            summary.epoch = epoch
            answer(status) { summary.encode(into: &$0) }
        }
    }
}

/// The list of the caller's rooms.
extension Exchange {
    /// `GET /v1/rooms`: the rooms that the caller is a member of, latest activity first. Admins get their memberships,
    /// too, not all rooms that they may read.
    func answerRooms(_ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target)
        _ = try caller.named()
        let inbox = try InboxRequest.parse(cursor: target.single("cursor"), limit: target.single("limit"))
        if let cursor = inbox.cursor, cursor.epoch != epoch { throw .listCursorUnknown }
        try admit(.reads, by: caller.user)
        ask(for: caller, { .ownRooms(.inbox(inbox, $0), within: caller.rooms) }) { [self] read in
            let slice = withEpoch(read)
            if let next = slice.next { add(.link, "</v1/rooms?cursor=\(next)&limit=\(inbox.limit)>; rel=\"next\"") }
            answer { slice.encode(epoch: epoch, into: &$0) }
        }
    }
}

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
