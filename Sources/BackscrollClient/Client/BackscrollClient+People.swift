public import Wire

// Blocks, reports, mentions and profiles.

extension BackscrollClient {
    // MARK: Blocks

    /// Returns the users whom this user blocks, in the order of their ids.
    ///
    /// - Parameters:
    ///   - user: The last user of the previous page; nil for the first page.
    ///   - limit: Maximum number of blocks, 1 to 1,000; nil for the server's default.
    /// - Throws: `invalid_limit`; a temporary error.
    public func blocks(
        after user: String? = nil, limit: Int? = nil
    ) async throws(BackscrollClientError) -> BlockPage {
        let fields = try await object("GET", target("/v1/blocks", ["after": user, "limit": limit?.description]))
        return BlockPage(
            blocks: fields.elements.compactMap(Block.init), hasMore: fields.booleans["has_more"] ?? false)
    }

    /// Blocks a user, who then can no longer write to the direct room of the two, or add this user to rooms.
    ///
    /// - Returns: the block, which may have existed before.
    /// - Throws: `invalid_user`; `too_many_blocks`; a temporary error. The call can be repeated.
    @discardableResult
    public func block(_ user: String) async throws(BackscrollClientError) -> Block {
        guard let block = Block(try await object("PUT", "/v1/blocks/\(percentEncoded(user))")) else {
            throw .lacksField
        }
        await noteBlock(of: user, true)
        return block
    }

    /// Ends the block of a user.
    ///
    /// - Throws: `invalid_user`; a temporary error. The call can be repeated.
    public func unblock(_ user: String) async throws(BackscrollClientError) {
        _ = try await request("DELETE", "/v1/blocks/\(percentEncoded(user))")
        await noteBlock(of: user, false)
    }

    // MARK: Reports

    /// Reports a message to the moderators. The sender does not learn of it.
    ///
    /// A report counts once for each user and message; a repeated one changes nothing.
    ///
    /// - Parameters:
    ///   - seq: The message's `seq`.
    ///   - room: The room's id.
    ///   - reason: The kind of fault that the user sees in the message.
    ///   - note: A text for the moderators, at most 1,000 bytes; nil for none.
    /// - Throws: `message_not_found`, `room_not_found`, `too_long`; `rate_limited` after 5 messages in a minute; a
    ///   temporary error.
    public func report(
        _ seq: Int64, in room: String, reason: ReportReason, note: String? = nil
    ) async throws(BackscrollClientError) {
        var body = Array(#"{"reason":"\#(reason.rawValue)""#.utf8)
        if let note { body.append(member: "note", note) }
        body.append(UInt8(ascii: "}"))
        _ = try await request("POST", try path(of: room) + "/messages/\(seq)/reports", body: body)
    }

    // MARK: Mentions

    /// Returns the messages that mention the user, or a room that the user is a member of, newest first.
    ///
    /// - Parameters:
    ///   - cursor: The ``MentionPage/cursor`` of the previous page; nil for the first page.
    ///   - limit: Maximum number of messages; nil for the server's default.
    /// - Throws: `invalid_limit`, `invalid_cursor`; a temporary error.
    public func mentions(
        after cursor: String? = nil, limit: Int? = nil
    ) async throws(BackscrollClientError) -> MentionPage {
        let fields = try await object("GET", target("/v1/mentions", ["cursor": cursor, "limit": limit?.description]))
        let hasMore = fields.booleans["has_more"] ?? false
        return MentionPage(messages: fields.messages, cursor: hasMore ? fields.strings["cursor"] : nil)
    }

    // MARK: Profiles

    /// Returns the profiles of users as the server has them now, in the order of their ids. Users without a profile are
    /// left out.
    ///
    /// - Parameter users: The users' ids, at most 100. An id with a comma in it cannot be asked for.
    /// - Throws: `too_many`, `invalid_user`; a temporary error.
    public func profiles(of users: [String]) async throws(BackscrollClientError) -> [UserProfile] {
        if users.isEmpty { return [] }
        let list = users.map(percentEncoded).joined(separator: ",")
        return try await object("GET", "/v1/profiles?users=\(list)").elements.compactMap(UserProfile.init)
    }

    /// Changes the user's own profile. A nil argument keeps a value; an empty one removes it.
    ///
    /// - Parameters:
    ///   - name: The name, at most 256 bytes.
    ///   - avatar: The `http` or `https` URL of a picture, at most 2,048 bytes.
    ///   - data: The app's own data, a JSON object of at most 2 KiB; `{}` removes it.
    /// - Returns: the profile.
    /// - Throws: `too_long`, `invalid_field`, `invalid_json`; a temporary error. The call can be repeated.
    @discardableResult
    public func setProfile(
        name: String? = nil, avatar: String? = nil, data: [UInt8]? = nil
    ) async throws(BackscrollClientError) -> UserProfile {
        var members: [UInt8] = []
        if let name { members.append(member: "name", name) }
        if let avatar { members.append(member: "avatar", avatar) }
        if let data {
            members.append(memberName: "data")
            members += data
        }
        // Each member begins with a comma.
        let body = Array("{".utf8) + members.dropFirst() + Array("}".utf8)
        let fields = try await object("PUT", "/v1/profiles/\(percentEncoded(try await userID()))", body: body)
        guard let profile = UserProfile(fields) else { throw .lacksField }
        return profile
    }
}

extension Inbox {
    /// Opens the direct room of this user and another one, and makes it if there is none.
    ///
    /// The room has the same id for both, and enters the other user's list with its first message.
    ///
    /// - Returns: the room. Its ``RoomSummary/direct`` is the other user.
    /// - Throws: `blocked` if the other user has blocked this one; `direct_room`, `invalid_user`, `forbidden`,
    ///   `rate_limited`; a temporary error. The call can be repeated.
    @discardableResult
    public func direct(with user: String) async throws(BackscrollClientError) -> RoomSummary {
        try checkOpen()
        guard let made = RoomSummary(try await client.object("PUT", "/v1/direct/\(percentEncoded(user))")) else {
            throw .lacksField
        }
        // The answer lacks the newest message, which the list shows.
        let room = made.head > 0 ? try await client.summary(of: made.id) : made
        await put(room)
        return room
    }
}

/// The reason of a report.
public enum ReportReason: String, Hashable, Sendable, CaseIterable {
    /// Advertising and the like.
    case spam
    /// Insults, threats, hatred and the like.
    case abuse
    /// Content that is against the law.
    case illegal
    /// Anything else; the note may say what.
    case other
}

/// A user whom this user blocks.
public struct Block: Hashable, Sendable, Identifiable {
    /// The blocked user's id.
    public let userID: String
    /// The time when the block was made; nil if the server does not tell it.
    public let createdAt: Timestamp?

    /// The blocked user's id.
    public var id: String { userID }

    init?(_ fields: JSONFields) {
        guard let user = fields.strings["user"] else { return nil }
        userID = user
        createdAt = fields.strings["created_at"].flatMap { Timestamp(rfc3339: $0) }
    }
}

/// Some of the users whom this user blocks.
public struct BlockPage: Hashable, Sendable {
    /// The blocks, in the order of the users' ids.
    public let blocks: [Block]
    /// True if there are more. Load the next page after the last user.
    public let hasMore: Bool
}

/// Some of the messages that mention the user.
public struct MentionPage: Hashable, Sendable {
    /// The messages, newest first, from all rooms.
    public let messages: [ChatMessage]
    /// The place of the next page; nil if there are no older messages.
    public let cursor: String?
}

/// A user's name and picture, with what an app adds.
public struct UserProfile: Hashable, Sendable, Identifiable {
    /// The user's id.
    public let userID: String
    /// The name to show; nil if there is none.
    public let name: String?
    /// The URL of a picture; nil if there is none.
    public let avatar: String?
    /// The app's own data, a JSON object; empty if there is none.
    public let data: [UInt8]

    /// The user's id.
    public var id: String { userID }

    init?(_ fields: JSONFields) {
        guard let user = fields.strings["user"] else { return nil }
        userID = user
        name = fields.strings["name"]
        avatar = fields.strings["avatar"]
        data = fields.data
    }
}
