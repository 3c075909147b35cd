public import Wire

/// A change of a room, its members or its reports, or of a user of the whole server, as webhooks tell it. Changes of messages
/// are not among them: the log has those.
public struct LoggedEvent: Sendable, Hashable {
    /// The kind of webhooks that get it.
    public var kind: WebhookEvent
    /// The type of its body, such as `member.added`.
    public var type: String
    /// The user whom it is about; `nil` if it is about the room.
    public var user: UserID?
    /// The user who made the change; `nil` if that is not known, or was erased.
    public var by: UserID?
    /// Further members of its body, each beginning with a comma.
    public var details: [UInt8]

    /// Creates an event.
    public init(
        _ kind: WebhookEvent, _ type: String, of user: UserID? = nil, by: UserID?, details: [UInt8] = []
    ) {
        (self.kind, self.type, self.user, self.by, self.details) = (kind, type, user, by, details)
    }

    /// Returns the events of a decision, in the order of its writes.
    ///
    /// - Parameter by: The user who made the change; `nil` for a part of an erasure.
    public static func of(_ writes: [Write], by: UserID?) -> [LoggedEvent] {
        // A change of a room by or to a user who is being erased begins with what separates the old user from the new one. That is
        // a part of the erasure, whether it comes first or the change.
        let start = (writes.lastIndex { if case .removeMark = $0 { true } else { false } } ?? -1) + 1
        return events(of: writes[..<start], by: nil) + events(of: writes[start...], by: by)
    }

    private static func events(of writes: ArraySlice<Write>, by: UserID?) -> [LoggedEvent] {
        var events: [LoggedEvent] = []
        var settings = RoomSettings()
        func role(_ role: RoomMember.Role) -> [UInt8] {
            var details: [UInt8] = []
            details.append(member: "role", role.rawValue)
            return details
        }
        for write in writes {
            switch write {
            case .createRoom(let owner):
                events.append(LoggedEvent(.room, "room.created", by: by))
                events.append(LoggedEvent(.member, "member.added", of: owner, by: by, details: role(.owner)))
            case .createDirectRoom(let owner, let other):
                events.append(LoggedEvent(.room, "room.created", by: by))
                for user in [owner, other] {
                    events.append(LoggedEvent(.member, "member.added", of: user, by: by, details: role(.owner)))
                }
            case .setRoom(let changed, _): settings = changed
            case .addMember(let user, let new, _, _):
                events.append(LoggedEvent(.member, "member.added", of: user, by: by, details: role(new)))
            case .setRole(let user, let new):
                events.append(LoggedEvent(.member, "member.changed", of: user, by: by, details: role(new)))
            case .removeMember(let user):
                let type = user == by ? "member.left" : "member.removed"
                events.append(LoggedEvent(.member, type, of: user, by: by))
            case .setBan(let ban):
                var details: [UInt8] = []
                details.append(member: "scope", ban.scope.rawValue)
                if let until = ban.until { details.append(member: "until", until.description) }
                if let reason = ban.reason { details.append(member: "reason", reason) }
                events.append(LoggedEvent(.member, "member.banned", of: ban.user, by: by, details: details))
            case .liftBan(let user): events.append(LoggedEvent(.member, "member.unbanned", of: user, by: by))
            case .addReport(let entry, let seq, let sender, _):
                var details: [UInt8] = []
                details.append(member: "seq", seq)
                details.append(member: "reason", entry.reason.rawValue)
                if let note = entry.note { details.append(member: "note", note) }
                events.append(LoggedEvent(.report, "report.made", of: sender, by: by, details: details))
            case .closeReport(let seq, let closing):
                var details: [UInt8] = []
                details.append(member: "seq", seq)
                details.append(member: "action", closing.action.rawValue)
                events.append(LoggedEvent(.report, "report.closed", by: by, details: details))
            default: break
            }
        }
        if settings != RoomSettings() {
            var details: [UInt8] = []
            details.append(memberName: "settings")
            settings.encode(into: &details)
            if let index = events.firstIndex(where: { $0.type == "room.created" }) {
                events[index].details += details
            } else {
                events.append(LoggedEvent(.room, "room.changed", by: by, details: details))
            }
        }
        return events
    }

    /// Returns the body of a delivery.
    ///
    /// - Parameters:
    ///   - room: The room; `nil` for the whole server.
    ///   - number: The number of the event, which rises in the room.
    ///   - rev: The room's revision when it happened.
    public func body(in room: RoomID?, number: Int64, rev: Int64, at time: Timestamp, epoch: String) -> [UInt8] {
        var body: [UInt8] = []
        body.append(literal: #"{"type":"#)
        body.append(quoted: type)
        if let room { body.append(member: "room", room.string) }
        body.append(member: "event", number)
        if room != nil { body.append(member: "rev", rev) }
        body.append(member: "at", time.description)
        if let user { body.append(member: "user", user.string) }
        body.append(contentsOf: details)
        if let by { body.append(member: "by", by.string) }
        body.append(member: "epoch", epoch)
        body.append(UInt8(ascii: "}"))
        return body
    }
}

extension RoomID {
    /// The place of events of the whole server among those of rooms. No room has this id, and only the pattern `*` covers it.
    package static let server = RoomID(trusted: "*")
}
