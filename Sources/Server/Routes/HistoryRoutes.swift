import Chat
import CoreMetrics
import HTTPTypes
import Wire

/// Reading a room: pages by `seq`, changes by `rev`, and presence.
extension Exchange {
    /// `GET /v1/rooms/{room}/messages`
    func answerPage(of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        let page = try PageRequest.parse(
            before: target.single("before"), after: target.single("after"), around: target.single("around"),
            limit: target.single("limit"))
        if page.anchor.place?.isPersonal == true { _ = try caller.named() }
        try admit(.reads, by: caller.user)
        worker.services.metrics.pageReads.increment()
        ask(for: caller, { .room(room, .page(page, $0)) }) { [self] slice in
            answer(slice, of: room, limit: page.limit)
        }
    }

    private func answer(_ slice: PageSlice, of room: RoomID, limit: Int) {
        let links = Self.links(slice, room: room, limit: limit)
        if !links.isEmpty { add(.link, links) }
        answer { slice.encode(epoch: epoch, into: &$0) }
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
    func answerChanges(of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        let changes = try ChangesRequest.parse(
            since: target.single("since"), epoch: target.single("epoch"), limit: target.single("limit"))
        if let epoch = changes.since.epoch, epoch != self.epoch { throw .cursorUnknown }
        try admit(.reads, by: caller.user)
        let since = changes.since.rev
        ask(for: caller, { .room(room, .changes(since: since, limit: changes.limit, $0)) }) { [self] slice in
            guard since <= slice.state.rev else { return answer(.cursorUnknown) }
            answer { slice.encode(epoch: epoch, into: &$0) }
        }
    }

    /// `GET /v1/rooms/{room}/presence`
    func answerPresence(of room: RoomID, _ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target, in: room)
        guard let presence = worker.services.presence else {
            throw .notAvailable("This server does not count who is present.")
        }
        try admit(.reads, by: caller.user)
        // The log checks that the caller may read the room.
        ask(for: caller, { .room(room, .state($0)) }) { [self] _ in
            answer { body in presence.present(in: room).encode(into: &body) }
        }
    }
}
