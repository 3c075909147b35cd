import Chat
import CoreMetrics
import HTTP
import HTTPTypes
import Wire

/// Sending a message, and reading single messages.
extension Exchange {
    /// `POST /v1/rooms/{room}/messages`
    func send(to room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        let sender = try caller.named()
        try admit(.sends, by: sender)
        try expectJSON()
        let draft = try Draft.decode(body)
        let ticket = worker.submit(.send(draft), to: room, by: sender, isAdmin: caller.isAdmin, for: self) {
            [self] result in
            switch result {
            case .success(.message(let message, isNew: true)):
                worker.services.metrics.messagesStored.increment()
                addLocation(of: message.seq, in: room)
                answer(.created, message)
            case .success(let repeated):
                worker.services.metrics.messagesDuplicate.increment()
                answer(repeated)
            case .failure(let problem):
                answer(problem)
            }
        }
        doublePush(of: ticket, in: room)
    }

    /// Adds the message's URL. Room ids and numbers need no escaping.
    private func addLocation(of seq: Int64, in room: RoomID) {
        lines.reserveCapacity(128)
        lines.append(literal: "Location: /v1/rooms/")
        lines.append(utf8: room.string)
        lines.append(literal: "/messages/")
        lines.append(decimal: seq)
        lines.append(literal: "\r\n")
    }

    /// Refuses a body that is compressed, or whose content type contradicts JSON.
    func expectJSON() throws(Problem) {
        let fields = request.headerFields
        if let coding = fields.elements(of: .contentEncoding).first(where: { $0.lowercased() != "identity" }) {
            // Tells what would be accepted (RFC 9110, section 15.5.16).
            add(.acceptEncoding, "identity")
            throw .unsupportedContentEncoding(String(coding))
        }
        guard !fields.first(.contentType, is: "application/json") else { return }
        guard !MediaType.contradictsJSON(contentType: fields.first(.contentType)) else { throw .unsupportedMediaType }
    }

    /// `GET /v1/rooms/{room}/messages/by-client-id/{client_message_id}`
    func answerClientMessage(_ id: String, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        let sender = try caller.named()
        try admit(.reads, by: sender)
        ask(for: caller, { .room(room, .clientMessage(sender: sender, id: id, $0)) }) { [self] in answer($0) }
    }

    /// `GET /v1/rooms/{room}/messages/{seq}`
    func answerMessage(_ seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        try admit(.reads, by: caller.user)
        ask(for: caller, { .room(room, .message(seq: seq, $0)) }) { [self] in answer($0) }
    }

    private func answer(_ message: StoredMessage?) {
        guard let message else { return answer(.messageNotFound) }
        let isKnown = request.headerFields.ifNoneMatchNames(message.entityTag)
        answer(isKnown ? .notModified : .ok, message)
    }
}

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

    /// `GET /v1/rooms/{room}/messages/{seq}/reactions/{key}`
    func answerReaction(_ key: ReactionKey, to seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        try admit(.reads, by: caller.user)
        let name = try target.single("after")
        let after = try name.map { name throws(Problem) in try UserID(name) }
        let limit = try PageRequest.parseLimit(
            target.single("limit"), maximum: Limits.reactingUsers, default: Limits.defaultReactingUsers)
        ask(for: caller, { .room(room, .reactions(seq: seq, key, after: after, limit: limit, $0)) }) { [self] users in
            guard let users else { return answer(.messageNotFound) }
            answer { users.encode(into: &$0) }
        }
    }

    /// `PUT` and `DELETE /v1/rooms/{room}/messages/{seq}/reactions/{key}`
    func react(_ key: ReactionKey, to seq: Int64, of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try admittedCaller(target, in: room)
        try change(seq, of: room, by: caller, request.method == .put ? .addReaction(key) : .removeReaction(key))
    }

    /// Returns the caller, and counts the change against its limits.
    func admittedCaller(_ target: DecodedTarget, in room: RoomID) throws(Problem) -> Identity {
        let caller = try caller(target, in: room)
        try admit(.changes, by: try caller.named())
        return caller
    }

    private func change(
        _ seq: Int64, of room: RoomID, by caller: Identity, _ action: MessageChange.Action
    ) throws(Problem) {
        let change = MessageChange(seq: seq, action: action, revs: request.headerFields.ifMatchRevisions)
        let ticket = try submit(.change(change), to: room, by: caller) { [self] in answer($0) }
        doublePush(of: ticket, in: room)
    }
}
