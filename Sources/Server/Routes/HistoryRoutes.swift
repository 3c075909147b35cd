import Chat
import CoreMetrics
import HTTPTypes
import Wire

/// Reading a room: pages by `seq`, and changes by `rev`.
enum HistoryRoutes {
    /// `GET /v1/rooms/{room}/messages`
    static func page(_ request: RoutedRequest) throws(Problem) {
        let page = try PageRequest.parse(
            before: request.single("before"), after: request.single("after"), around: request.single("around"),
            limit: request.single("limit"))
        if page.anchor.place?.isPersonal == true { _ = try request.caller.named() }
        request.services.metrics.pageReads.increment()
        let room = request.room
        request.ask({ .room(room, .page(page, $0)) }) { slice in
            let links = links(slice, room: room, limit: page.limit)
            if !links.isEmpty { request.exchange.add(.link, links) }
            request.answerJSON { slice.encode(epoch: request.exchange.epoch, into: &$0) }
        }
    }

    /// Returns links to the pages on either side (RFC 8288), the older page first.
    static func links(_ slice: PageSlice, room: RoomID, limit: Int) -> String {
        var links: [String] = []
        // An empty page lies at one end of the room, with all messages on one side of it.
        let before = slice.count > 0 ? slice.firstSeq : slice.state.head + 1
        let after = slice.count > 0 ? slice.lastSeq : 0
        if slice.hasBefore {
            links.append("</v1/rooms/\(room)/messages?before=\(before)&limit=\(limit)>; rel=\"prev\"")
        }
        if slice.hasAfter {
            links.append("</v1/rooms/\(room)/messages?after=\(after)&limit=\(limit)>; rel=\"next\"")
        }
        return links.joined(separator: ", ")
    }

    /// `GET /v1/rooms/{room}/changes`
    static func changes(_ request: RoutedRequest) throws(Problem) {
        let changes = try ChangesRequest.parse(
            since: request.single("since"), epoch: request.single("epoch"), limit: request.single("limit"))
        // The log checks the caller's access first, so that a caller without it learns nothing of cursors.
        let since = changes.since.rev(inHistory: request.exchange.epoch)
        request.ask({ .room(request.room, .changes(since: since, limit: changes.limit, $0)) }) { slice in
            guard since <= slice.state.rev else { return request.refuse(.cursorUnknown) }
            request.answerJSON { slice.encode(epoch: request.exchange.epoch, into: &$0) }
        }
    }
}
