import Chat
import HTTP
import HTTPTypes
import Wire

/// A room as its caller sees it, and up to where the caller has read it.
extension Exchange {
    /// `GET /v1/rooms/{room}`
    func answerRoom(_ room: RoomID, _ target: DecodedTarget) throws(Problem) {
        answerSummary(of: room, for: try caller(target, in: room).user)
    }

    /// `PUT /v1/rooms/{room}/read`
    func moveReadMark(in room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let user = try caller(target, in: room).named()
        try admit(.changes, by: user)
        try refuseOtherThanJSON()
        let seq = try ReadMark.decode(body)
        worker.submit(.read(seq: seq), to: room, by: user) { [self] result in
            switch result {
            case .success(let mark):
                if mark.isNew { worker.readMarkMoved(user, in: room, to: mark.seq) }
                // A query sees every commit that was heard of before.
                answerSummary(of: room, for: user)
            case .failure(let problem):
                answer(problem)
            }
        }
    }

    private func answerSummary(of room: RoomID, for user: UserID?) {
        worker.ask(.summary, of: room, for: user) { [self] result in
            switch result {
            case .success(.summary(let summary)): answer { summary.encode(into: &$0) }
            case .success: preconditionFailure("the log answered another question")
            case .failure(let problem): answer(problem)
            }
        }
    }

    private func refuseOtherThanJSON() throws(Problem) {
        guard !MediaType.contradictsJSON(contentType: request.headerFields.first(.contentType)) else {
            throw .unsupportedMediaType
        }
    }
}
