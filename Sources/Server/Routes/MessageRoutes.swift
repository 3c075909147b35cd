import Chat
import CoreMetrics
import HTTP
import HTTPTypes
import Wire

/// Sending a message, and reading single ones.
extension Exchange {
    /// `POST /v1/rooms/{room}/messages`
    func send(to room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let sender = try caller(target, in: room).named()
        try admit(.sends, by: sender)
        guard !MediaType.contradictsJSON(contentType: request.headerFields.first(.contentType)) else {
            throw .unsupportedMediaType
        }
        let draft = try Draft.decode(body)
        worker.submit(.send(draft), to: room, by: sender) { [self] result in
            switch result {
            case .success(let stored):
                if stored.isNew {
                    worker.services.metrics.messagesStored.increment()
                    add(.location, "/v1/rooms/\(room)/messages/\(stored.seq)")
                } else {
                    worker.services.metrics.messagesDuplicate.increment()
                }
                answer(stored.isNew ? .created : .ok, body: stored.body.span)
            case .failure(let problem):
                answer(problem)
            }
        }
    }

    /// `GET /v1/rooms/{room}/messages/by-client-id/{client_message_id}`
    func answerClientMessage(_ id: String, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let sender = try caller(target, in: room).named()
        answerMessage(.clientMessage(sender: sender, id: id), of: room)
    }

    /// `GET /v1/rooms/{room}/messages/{seq}`
    func answerMessage(_ seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        _ = try caller(target, in: room)
        answerMessage(.message(seq: seq), of: room)
    }

    private func answerMessage(_ kind: Query.Kind, of room: RoomID) {
        worker.ask(kind, of: room) { [self] result in
            switch result {
            case .success(.message(let snapshot?)): answer(body: snapshot.span)
            case .success(.message(nil)): answer(.messageNotFound)
            case .success: preconditionFailure("the log answered another question")
            case .failure(let problem): answer(problem)
            }
        }
    }
}
