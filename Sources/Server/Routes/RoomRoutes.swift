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
        let caller = try caller(target, in: room)
        try admit(.changes, by: try caller.named())
        try expectJSON()
        let settings = try RoomSettings.decode(body)
        try submit(.room(.set(settings)), to: room, by: caller) { [self] receipt in
            answerSummary(of: room, for: caller, receipt.isNew ? .created : .ok)
        }
    }

    /// `DELETE /v1/rooms/{room}`
    func deleteRoom(_ room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        try admit(.changes, by: try caller.named())
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
