import Chat
import HTTP
import HTTPTypes
import Wire

/// Changing a message that is there.
extension Exchange {
    /// `PATCH /v1/rooms/{room}/messages/{seq}`
    func edit(_ seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let user = try caller(target, in: room).named()
        try admit(.changes, by: user)
        try expectJSON()
        change(seq, of: room, by: user, .edit(try Edit.decode(body)))
    }

    /// `DELETE /v1/rooms/{room}/messages/{seq}`
    func delete(_ seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let user = try caller(target, in: room).named()
        try admit(.changes, by: user)
        // Rooms have no owners yet.
        change(seq, of: room, by: user, .delete(.sender))
    }

    /// `PUT` and `DELETE /v1/rooms/{room}/messages/{seq}/reactions/{key}`
    func react(_ key: ReactionKey, to seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let user = try caller(target, in: room).named()
        try admit(.changes, by: user)
        change(seq, of: room, by: user, request.method == .put ? .addReaction(key) : .removeReaction(key))
    }

    private func change(_ seq: Int64, of room: RoomID, by user: UserID, _ action: MessageChange.Action) {
        let change = MessageChange(seq: seq, action: action, condition: RevisionCondition(request.headerFields))
        worker.submit(.change(change), to: room, by: user) { [self] result in
            switch result {
            case .success(let message): answer(.ok, message)
            case .failure(let problem): answer(problem)
            }
        }
    }
}
