import Chat
import HTTP
import HTTPTypes
import Wire

/// The list of the caller's rooms.
extension Exchange {
    /// `GET /v1/rooms`: the rooms that the caller is a member of, latest activity first. Admins get their memberships,
    /// too, not all rooms that they may read.
    func answerRooms(_ target: DecodedTarget) throws(Problem) {
        let caller = try caller(target)
        _ = try caller.named()
        let inbox = try InboxRequest.parse(cursor: target.single("cursor"), limit: target.single("limit"))
        if let cursor = inbox.cursor, cursor.epoch != epoch { throw .listCursorUnknown }
        try admit(.reads, by: caller.user)
        ask(for: caller, { .ownRooms(.inbox(inbox, $0), within: caller.rooms) }) { [self] read in
            let slice = withEpoch(read)
            if let next = slice.next { add(.link, "</v1/rooms?cursor=\(next)&limit=\(inbox.limit)>; rel=\"next\"") }
            answer { InboxAnswer(rooms: slice.rooms, next: slice.next, epoch: epoch).encode(into: &$0) }
        }
    }
}
