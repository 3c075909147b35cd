import Chat
import HTTP
import HTTPTypes
import Wire

/// Requests of admins about the whole server, and erasures of users.
enum AdminRoutes {
    /// `GET /v1/admin/rooms`
    static func rooms(_ request: RoutedRequest) throws(Problem) {
        let list = try InboxRequest.parse(cursor: request.single("cursor"), limit: request.single("limit"))
        let epoch = request.exchange.epoch
        request.ask(listFrom: list.cursor?.epoch, { .server(.rooms(list, $0)) }) { rooms in
            if let next = rooms.next { request.addNextLink("/v1/admin/rooms?cursor=\(next)&limit=\(list.limit)") }
            request.answerJSON { rooms.encode(epoch: epoch, into: &$0) }
        }
    }

    /// `GET /v1/admin/users/{user}`
    static func user(_ request: RoutedRequest) throws(Problem) {
        let name = try request.single("after")
        let after = try name.map { name throws(Problem) in try RoomID(name) }
        let limit = try request.limit(maximum: Limits.members, default: Limits.defaultMembers)
        request.ask({ .server(.user(request.user, after: after, limit: limit, $0)) }) { found in
            let sockets = request.services.live.openSockets.count(of: request.user)
            request.answerJSON { found.encode(sockets: sockets, into: &$0) }
        }
    }

    /// `DELETE /v1/admin/users/{user}/sockets`
    static func endSockets(_ request: RoutedRequest) throws(Problem) {
        try request.worker.checkBans(of: request.caller, in: nil, for: .change)
        request.services.live.dispatcher.endConnections(of: request.user, because: .disconnected)
        request.answerNoContent()
    }

    /// `DELETE /v1/users/{user}`
    static func erase(_ request: RoutedRequest) throws(Problem) {
        try request.submit(.user(request.user, .erase)) { receipt in request.answerRecord(of: receipt, .accepted) }
    }

    /// `GET /v1/users/{user}`
    static func erasure(_ request: RoutedRequest) throws(Problem) {
        request.ask({ .server(.erasure(request.user, $0)) }) { status in
            guard let status else { return request.refuse(.erasureNotFound) }
            request.answerJSON { status.encode(into: &$0) }
        }
    }
}
