import Chat
import HTTP
import HTTPTypes
import Wire

/// Changes of stored messages.
extension Exchange {
    /// `PATCH /v1/rooms/{room}/messages/{seq}`
    func edit(_ seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admittedCaller(target, in: room)
        try expectJSON()
        try change(seq, of: room, by: caller, .edit(try Edit.decode(body)))
    }

    /// `DELETE /v1/rooms/{room}/messages/{seq}`
    func delete(_ seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        // The log checks whether the caller owns the room, in the same transaction as the change.
        try change(seq, of: room, by: admittedCaller(target, in: room), .delete)
    }

    /// `PUT` and `DELETE /v1/rooms/{room}/messages/{seq}/reactions/{key}`
    func react(_ key: ReactionKey, to seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admittedCaller(target, in: room)
        try change(seq, of: room, by: caller, request.method == .put ? .addReaction(key) : .removeReaction(key))
    }

    /// Returns the caller, and counts the change against its limits.
    private func admittedCaller(_ target: DecodedTarget, in room: RoomID) throws(Problem) -> Identity {
        let caller = try caller(target, in: room)
        try admit(.changes, by: try caller.named())
        return caller
    }

    private func change(
        _ seq: Int64, of room: RoomID, by caller: Identity, _ action: MessageChange.Action
    ) throws(Problem) {
        let change = MessageChange(seq: seq, action: action, condition: RevisionCondition(request.headerFields))
        let ticket = try submit(.change(change), to: room, by: caller) { [self] in answer($0) }
        doublePush(of: ticket, in: room)
    }
}
