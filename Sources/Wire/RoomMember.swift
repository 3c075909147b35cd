/// A member of a room.
public struct RoomMember: Sendable, Hashable {
    /// What a member may do.
    public enum Role: String, Sendable, Hashable {
        /// Read a private room and write to it.
        case member
        /// Also change the room and its members.
        case owner
    }

    /// Who it is.
    public var user: UserID
    /// What it may do.
    public var role: Role

    /// A member.
    public init(user: UserID, role: Role) {
        self.user = user
        self.role = role
    }

    /// Appends the member as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(member: "role", role.rawValue)
        out.append(UInt8(ascii: "}"))
    }

    /// Reads the body of `PUT …/members/{user}`: `{"role":"owner"}`, or nothing. Fields that are not known are ignored.
    ///
    /// - Returns: `nil` when no role is named.
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; 400 `invalid_field` if the role is none.
    public static func decodeRole(_ body: [UInt8]) throws(Problem) -> Role? {
        if body.isEmpty { return nil }
        var reader = FieldReader(try JSONScanner(body))
        guard try reader.json.peek() == .object else { throw .invalidJSON("The body must be a JSON object.") }
        try reader.json.enterObject()
        var role: Role?
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "role") {
                guard let text = try reader.string("role") else { continue }
                role = Role(rawValue: text)
                if role == nil { reader.note(.invalidField("role", must: "\"member\" or \"owner\""), isType: true) }
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        return role
    }
}

/// Members of a room, as `GET …/members` answers it.
public struct RoomMembers: Sendable, Hashable {
    /// In the order of their ids' bytes.
    public var members: [RoomMember]
    /// True if there are more behind them.
    public var hasMore: Bool

    /// Members, all of them read in one snapshot.
    public init(members: [RoomMember], hasMore: Bool) {
        self.members = members
        self.hasMore = hasMore
    }

    /// Appends them as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"members":["#)
        for (index, member) in members.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            member.encode(into: &out)
        }
        out.append(UInt8(ascii: "]"))
        out.append(member: "has_more", hasMore)
        out.append(UInt8(ascii: "}"))
    }
}
