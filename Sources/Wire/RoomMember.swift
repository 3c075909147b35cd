/// A member of a room.
public struct RoomMember: Sendable, Hashable {
    /// The permissions of a member.
    public enum Role: String, Sendable, Hashable {
        /// May read a private room and write to it.
        case member
        /// May also change the room and its members.
        case owner
    }

    /// The user.
    public var user: UserID
    /// The member's role.
    public var role: Role
    /// The member's profile; `nil` if there is none, or if it was not asked for.
    public var profile: Profile?

    /// Creates a member.
    public init(user: UserID, role: Role, profile: Profile? = nil) {
        self.user = user
        self.role = role
        self.profile = profile
    }

    /// Appends the member as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(member: "role", role.rawValue)
        if let profile {
            out.append(memberName: "profile")
            profile.encode(into: &out)
        }
        out.append(UInt8(ascii: "}"))
    }

    /// Decodes the body of `PUT …/members/{user}`: `{"role":"owner"}`, or nothing. Unknown fields are ignored.
    ///
    /// - Returns: `nil` if no role is given.
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; 400 `invalid_field` if the role is
    ///   unknown.
    public static func decodeRole(_ body: [UInt8]) throws(Problem) -> Role? {
        if body.isEmpty { return nil }
        var reader = try FieldReader(body: body)
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

/// Members of a room, as `GET …/members` returns them.
public struct RoomMembers: Sendable, Hashable {
    /// The members, sorted by the bytes of their ids.
    public var members: [RoomMember]
    /// True if there are more members after these.
    public var hasMore: Bool

    /// Creates a list of members, all read in one snapshot of the store.
    public init(members: [RoomMember], hasMore: Bool) {
        self.members = members
        self.hasMore = hasMore
    }

    /// Appends the list as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"members":"#)
        out.append(array: members) { $0.encode(into: &$1) }
        out.append(member: "has_more", hasMore)
        out.append(UInt8(ascii: "}"))
    }
}
