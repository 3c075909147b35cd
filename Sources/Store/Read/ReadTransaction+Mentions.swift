import Chat
import Wire

/// A user's mentions in all rooms, newest first.
extension ReadTransaction {
    /// Maximum number of mentions that are examined for a part of the list. A part may be short if the user has lost access
    /// to many rooms since.
    private static var mostExamined: Int { 1000 }

    /// Returns a part of the list.
    ///
    /// - Parameter isWanted: Returns true for the mentions to list.
    func mentions(
        _ request: MentionsRequest, of user: UserID, where isWanted: (MentionRow) -> Bool
    ) throws -> MentionsSlice {
        var position = try db.position(of: request.cursor)
        var messages: [[UInt8]] = []
        var (bytes, examined) = (0, 0)
        var last: MentionRow?
        while true {
            let count = request.limit - messages.count + 1
            let found = try db.mentions(of: user, before: position, limit: count)
            let rows = found.filter(isWanted)
            let bodies = try store.bodies(of: rows.map { ($0.message, $0.room) })
            for row in found {
                if messages.count == request.limit || bytes >= answerBytes || examined == Self.mostExamined, let last {
                    return MentionsSlice(messages: messages, next: cursor(after: last))
                }
                (last, position, examined) = (row, row.position, examined + 1)
                guard let body = bodies[row.message.rawValue] else { continue }
                bytes += body.count
                messages.append(body)
            }
            if found.count < count { return MentionsSlice(messages: messages, next: nil) }
        }
    }

    private func cursor(after row: MentionRow) -> MessageCursor {
        MessageCursor(
            epoch: context.epoch, milliseconds: row.createdAt, room: row.room, seq: row.message.ordinal)
    }
}
