import Chat
import CoreMetrics
import HTTP
import HTTPTypes
import Wire

/// Sending, reading and changing single messages.
enum MessageRoutes {
    /// `POST /v1/rooms/{room}/messages`
    static func send(_ request: RoutedRequest) throws(Problem) {
        let sender = try request.caller.named()
        let draft = try Draft.decode(request.body)
        // The hottest path: one closure, without the request, which is larger.
        let (exchange, room) = (request.exchange, request.room)
        guard let app = request.services.beforeSend else {
            return request.worker.log.submit(
                .send(draft), to: room, by: sender, isAdmin: request.caller.isAdmin, for: exchange
            ) { answerSend(exchange, room, $0) }
        }
        ask(app, .send(draft), of: request, by: sender) { answerSend(exchange, room, $0) }
    }

    private static func answerSend(_ exchange: Exchange, _ room: RoomID, _ result: Result<Receipt, Problem>) {
        switch result {
        case .success(.message(let message, isNew: true)):
            exchange.worker.services.metrics.messagesStored.increment()
            addLocation(of: message.seq, in: room, to: &exchange.lines)
            answer(exchange, .created, message)
        case .success(let repeated):
            exchange.worker.services.metrics.messagesDuplicate.increment()
            answer(exchange, repeated)
        case .failure(let problem):
            exchange.refuse(problem)
        }
    }

    /// Adds the message's URL. Room ids and numbers need no escaping.
    private static func addLocation(of seq: Int64, in room: RoomID, to lines: inout [UInt8]) {
        lines.reserveCapacity(128)
        lines.append(literal: "Location: /v1/rooms/")
        lines.append(utf8: room.string)
        lines.append(literal: "/messages/")
        lines.append(decimal: seq)
        lines.append(literal: "\r\n")
    }

    // MARK: Reading

    /// `GET /v1/rooms/{room}/messages/{seq}`
    static func message(_ request: RoutedRequest) throws(Problem) {
        request.ask({ .room(request.room, .message(seq: request.seq, $0)) }) { answerRead(request, $0) }
    }

    /// `GET /v1/rooms/{room}/messages/by-client-id/{client_message_id}`
    static func messageByClientID(_ request: RoutedRequest) throws(Problem) {
        let sender = try request.caller.named()
        request.ask({ .room(request.room, .clientMessage(sender: sender, id: request.name, $0)) }) {
            answerRead(request, $0)
        }
    }

    private static func answerRead(_ request: RoutedRequest, _ message: StoredMessage?) {
        guard let message else { return request.refuse(.messageNotFound) }
        let isKnown = request.headerFields.ifNoneMatchNames(message.entityTag)
        answer(request.exchange, isKnown ? .notModified : .ok, message)
    }

    /// `GET /v1/rooms/{room}/messages/{seq}/reactions/{key}`
    static func reactingUsers(_ request: RoutedRequest) throws(Problem) {
        let after = try request.afterUser()
        let limit = try request.limit(maximum: Limits.reactingUsers, default: Limits.defaultReactingUsers)
        request.ask({
            .room(
                request.room, .reactions(seq: request.seq, request.reaction, after: after, limit: limit, $0))
        }) { users in
            guard let users else { return request.refuse(.messageNotFound) }
            request.answerJSON { users.encode(into: &$0) }
        }
    }

    /// `GET /v1/rooms/{room}/pins`
    static func pins(_ request: RoutedRequest) throws(Problem) {
        let cursor = try PinSlice.cursor(parsing: request.single("cursor"))
        let limit = try request.limit(maximum: Limits.pins, default: Limits.pins)
        let room = request.room
        request.ask({ .room(room, .pins(before: cursor, limit: limit, $0)) }) { slice in
            if let next = slice.next { request.addNextLink("/v1/rooms/\(room)/pins?cursor=\(next)&limit=\(limit)") }
            request.answerJSON { slice.encode(into: &$0) }
        }
    }

    // MARK: Changes

    /// `PATCH /v1/rooms/{room}/messages/{seq}`
    static func edit(_ request: RoutedRequest) throws(Problem) {
        let edit = try Edit.decode(request.body)
        guard let app = request.services.beforeSend else { return try change(request, .edit(edit)) }
        let change = MessageChange(seq: request.seq, action: .edit(edit), revs: request.headerFields.ifMatchRevisions)
        ask(app, .change(change), of: request, by: try request.caller.named()) { [exchange = request.exchange] in
            switch $0 {
            case .success(let receipt): answer(exchange, receipt)
            case .failure(let problem): exchange.refuse(problem)
            }
        }
    }

    /// `DELETE /v1/rooms/{room}/messages/{seq}`
    static func delete(_ request: RoutedRequest) throws(Problem) {
        // The log checks whether the caller owns the room, in the same transaction as the change.
        try change(request, .delete)
    }

    /// `PUT /v1/rooms/{room}/messages/{seq}/reactions/{key}`
    static func addReaction(_ request: RoutedRequest) throws(Problem) {
        try change(request, .addReaction(request.reaction))
    }

    /// `DELETE /v1/rooms/{room}/messages/{seq}/reactions/{key}`
    static func removeReaction(_ request: RoutedRequest) throws(Problem) {
        try change(request, .removeReaction(request.reaction))
    }

    /// `PUT /v1/rooms/{room}/messages/{seq}/pin`
    static func pin(_ request: RoutedRequest) throws(Problem) {
        try change(request, .pin)
    }

    /// `DELETE /v1/rooms/{room}/messages/{seq}/pin`
    static func unpin(_ request: RoutedRequest) throws(Problem) {
        try change(request, .unpin)
    }

    private static func change(_ request: RoutedRequest, _ action: MessageChange.Action) throws(Problem) {
        let revs = request.headerFields.ifMatchRevisions
        try request.submit(.change(MessageChange(seq: request.seq, action: action, revs: revs))) {
            [exchange = request.exchange] in answer(exchange, $0)
        }
    }

    // MARK: Answers

    /// Answers with the message of a receipt: 201 if the submission created it.
    private static func answer(_ exchange: Exchange, _ receipt: Receipt) {
        guard case .message(let message, let isNew) = receipt else { return exchange.answerNoContent() }
        answer(exchange, isNew ? .created : .ok, message)
    }

    /// Answers with a message and its entity tag.
    private static func answer(_ exchange: Exchange, _ status: HTTPResponse.Status, _ message: StoredMessage) {
        message.appendEntityTag(to: &exchange.lines)
        exchange.send(status, body: message.body.span)
    }
}
