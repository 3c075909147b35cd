/// The users that a message mentions, as its sender names them. The server does not search texts for names.
public struct Mentions: Sendable, Hashable {
    /// The ids of the users, each once: at most ``Limits/mentions``.
    public var users: [UserID]
    /// True if the message mentions everybody in its room: `mentions_room` in JSON.
    public var room: Bool

    /// Creates mentions without validation; client input is validated when it is decoded.
    public init(users: [UserID] = [], room: Bool = false) {
        self.users = users
        self.room = room
    }

    /// True if nobody is mentioned.
    public var isEmpty: Bool { users.isEmpty && !room }

    /// Returns these mentions without those that others have, too.
    public func subtracting(_ others: Mentions) -> Mentions {
        Mentions(users: users.filter { !others.users.contains($0) }, room: room && !others.room)
    }

    /// Appends the mentions as further members of an object; nothing if they are empty.
    func encodeMembers(into out: inout [UInt8]) {
        if !users.isEmpty {
            out.append(memberName: "mentions")
            out.append(array: users) { $1.append(quoted: $0.string) }
        }
        if room { out.append(literal: #","mentions_room":true"#) }
    }
}

extension FieldReader {
    /// Reads a list of mentioned users; null is an empty list. A repeated id counts once.
    mutating func mentions() throws(Problem) -> [UserID] {
        guard try enterArray("mentions") else { return [] }
        var users: [UserID] = []
        var index = 0
        while try json.nextElement() {
            let field = FieldName("mentions", index)
            index += 1
            guard try json.peek() == .string, let id = try string(field) else {
                note(.invalidField(field.description, must: "a string"), isType: true)
                try json.skipValue()
                continue
            }
            guard let user = try? UserID(id) else {
                note(.invalidField(field.description, must: "a user id"), isType: true)
                continue
            }
            if index <= Limits.mentions, !users.contains(user) { users.append(user) }
        }
        if index > Limits.mentions { note(.tooMany("mentions", limit: Limits.mentions)) }
        return users
    }
}
