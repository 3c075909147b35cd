import Chat
import HTTP
import HTTPTypes
import Wire

/// The list of the caller's rooms; reading and changing a room, its settings and the caller's read mark; and presence.
enum RoomRoutes {
    /// `GET /v1/rooms`: the rooms that the caller is a member of, latest activity first. Admins get their memberships,
    /// too, not all rooms that they may read.
    static func ownRooms(_ request: RoutedRequest) throws(Problem) {
        let inbox = try InboxRequest.parse(cursor: request.single("cursor"), limit: request.single("limit"))
        let exchange = request.exchange
        request.ask(
            listFrom: inbox.cursor?.epoch, { .ownRooms(.inbox(inbox, $0), within: request.caller.rooms) }
        ) { slice in
            if let next = slice.next { request.addNextLink("/v1/rooms?cursor=\(next)&limit=\(inbox.limit)") }
            request.answerJSON { slice.encode(epoch: exchange.epoch, into: &$0) }
        }
    }

    /// `GET /v1/mentions`: the messages that mention the caller, newest first.
    static func mentions(_ request: RoutedRequest) throws(Problem) {
        let mentions = try MentionsRequest.parse(cursor: request.single("cursor"), limit: request.single("limit"))
        let exchange = request.exchange
        request.ask(
            listFrom: mentions.cursor?.epoch, { .ownRooms(.mentions(mentions, $0), within: request.caller.rooms) }
        ) { slice in
            if let next = slice.next { request.addNextLink("/v1/mentions?cursor=\(next)&limit=\(mentions.limit)") }
            request.answerJSON { slice.encode(epoch: exchange.epoch, into: &$0) }
        }
    }

    /// `GET /v1/rooms/{room}`
    static func room(_ request: RoutedRequest) throws(Problem) {
        answerSummary(request)
    }

    /// `PUT /v1/rooms/{room}`
    static func set(_ request: RoutedRequest) throws(Problem) {
        let settings = try RoomSettings.decode(request.body)
        try request.submit(.room(.set(settings))) { receipt in
            answerSummary(request, receipt.isNew ? .created : .ok)
        }
    }

    /// `DELETE /v1/rooms/{room}`
    static func delete(_ request: RoutedRequest) throws(Problem) {
        try request.submit(.room(.delete)) { _ in request.answerNoContent() }
    }

    /// `PUT /v1/rooms/{room}/read`
    static func moveReadMark(_ request: RoutedRequest) throws(Problem) {
        let user = try request.caller.named()
        let seq = try ReadMark.decode(request.body)
        try request.submit(.read(seq: seq)) { receipt in
            if case .readMark(let seq, hasMoved: true) = receipt {
                request.worker.readMarkMoved(user, in: request.room, to: seq)
            }
            // A query sees every commit that was reported before it, so the summary has the new mark.
            answerSummary(request)
        }
    }

    /// `GET /v1/rooms/{room}/reads`
    static func reads(_ request: RoutedRequest) throws(Problem) {
        guard request.services.configuration.readReceipts else { throw .receiptsOff }
        let after = try request.afterUser()
        let from = try ReadMark.parseFrom(request.single("from"))
        let limit = try request.limit(maximum: Limits.reads, default: Limits.defaultReads)
        request.ask({ .room(request.room, .reads(after: after, from: from, limit: limit, $0)) }) { reads in
            request.answerJSON { reads.encode(into: &$0) }
        }
    }

    /// `PUT /v1/direct/{user}`: the direct room of the caller and the user.
    static func setDirect(_ request: RoutedRequest) throws(Problem) {
        let room = RoomID.direct(try request.caller.named(), request.user)
        guard request.caller.allows(room: room) else { throw .roomNotAllowed }
        try request.admitInvite()
        try request.submit(.room(.setDirect(request.user)), to: room) { receipt in
            answerSummary(of: room, request, receipt.isNew ? .created : .ok)
        }
    }

    /// `PUT /v1/rooms/{room}/notify`
    static func setNotify(_ request: RoutedRequest) throws(Problem) {
        let user = try request.caller.named()
        let settings = try NotifySettings.decode(request.body)
        try request.submit(.room(.setNotify(settings))) { receipt in
            request.worker.notifyOwn(.notify(room: request.room, settings), of: user)
            request.answerRecord(of: receipt)
        }
    }

    private static func answerSummary(_ request: RoutedRequest, _ status: HTTPResponse.Status = .ok) {
        answerSummary(of: request.room, request, status)
    }

    private static func answerSummary(of room: RoomID, _ request: RoutedRequest, _ status: HTTPResponse.Status) {
        request.ask({ .room(room, .summary($0)) }) { summary in
            request.answerJSON(status) { summary.encode(into: &$0) }
        }
    }

    /// `GET /v1/rooms/{room}/presence`
    static func presence(_ request: RoutedRequest) throws(Problem) {
        guard let presence = request.services.notices.presence else {
            throw .notAvailable("This server does not count who is present.")
        }
        // The log checks that the caller may read the room.
        request.ask({ .room(request.room, .state($0)) }) { _ in
            request.answerJSON { presence.present(in: request.room).encode(into: &$0) }
        }
    }
}
