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
        try change(room, .set(settings), by: caller) { [self] stored in
            // Only then, since subscribers receive nothing while their access is checked.
            if stored.becamePrivate { worker.services.dispatcher.recheckSubscriptions(of: nil, to: room) }
            answerSummary(of: room, for: caller, stored.isNew ? .created : .ok)
        }
    }

    /// `DELETE /v1/rooms/{room}`
    func deleteRoom(_ room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        try admit(.changes, by: try caller.named())
        try change(room, .delete, by: caller) { [self] _ in answerEmpty(.noContent) }
    }

    /// `PUT /v1/rooms/{room}/read`
    func moveReadMark(in room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        let user = try caller.named()
        try admit(.changes, by: user)
        try expectJSON()
        let seq = try ReadMark.decode(body)
        worker.submit(.read(seq: seq), to: room, by: user, isAdmin: caller.isAdmin) { [self] result in
            switch result {
            case .success(let mark):
                if mark.isNew { worker.readMarkMoved(user, in: room, to: mark.seq) }
                // A query sees every commit that was reported before it, so the summary has the new mark.
                answerSummary(of: room, for: caller)
            case .failure(let problem):
                answer(problem)
            }
        }
    }

    /// Changes a room or its members, then calls `then` with the result; answers with the problem on failure.
    func change(
        _ room: RoomID, _ change: RoomChange, by caller: Identity, then: @escaping (Stored) -> Void
    ) throws(Problem) {
        worker.submit(.room(change), to: room, by: try caller.named(), isAdmin: caller.isAdmin) { [self] result in
            switch result {
            case .success(let stored): then(stored)
            case .failure(let problem): answer(problem)
            }
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
