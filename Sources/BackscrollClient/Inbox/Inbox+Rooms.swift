import BackscrollTimeline
public import Wire

/// Rooms and members. These calls work without opening the inbox. An open inbox shows their effect when they return.
extension Inbox {
    // MARK: Rooms

    /// Creates a room, which the user then owns. It exists before its first message.
    ///
    /// - Parameters:
    ///   - id: The id, 1 to 128 characters of `A-Z a-z 0-9 . _ ~ -`, the first one a letter or digit. If the room
    ///     exists and the user owns it, its visibility and title are changed.
    ///   - visibility: The readers: everybody, or members only.
    ///   - title: The title, at most 256 bytes; nil for none.
    /// - Returns: the room.
    /// - Throws: `invalid_room`, `too_long`; `forbidden` or `room_not_found` if others have a room with this id;
    ///   `room_deleted` if there was one; a temporary error.
    @discardableResult
    public func make(
        _ id: String, visibility: RoomVisibility = .open, title: String? = nil
    ) async throws(BackscrollClientError) -> RoomSummary {
        try await change(id, RoomSettings(visibility: .init(visibility), title: title))
    }

    /// Changes a room that the user owns. A nil argument changes nothing; an empty title removes the title.
    ///
    /// - Throws: `forbidden`, `not_a_member`, `room_not_found`, `too_long`; a temporary error.
    @discardableResult
    public func change(
        _ id: String, visibility: RoomVisibility? = nil, title: String? = nil
    ) async throws(BackscrollClientError) -> RoomSummary {
        try await change(id, RoomSettings(visibility: visibility.map { .init($0) }, title: title))
    }

    /// Changes any settings of a room that the user owns: who may send and pin messages, slow mode, the days for which
    /// messages are kept, the picture and the app's own data.
    ///
    /// - Throws: `forbidden`, `not_a_member`, `room_not_found`, `invalid_field`, `too_long`; a temporary error.
    @discardableResult
    public func change(_ id: String, _ settings: RoomSettings) async throws(BackscrollClientError) -> RoomSummary {
        try checkOpen()
        let room = try await client.putRoom(id, settings)
        await put(room)
        return room
    }

    /// Deletes a room that the user owns, with all its messages. Its id cannot be used again.
    ///
    /// - Throws: `forbidden`, `room_not_found`; a temporary error. The call can be repeated: for a room that is deleted
    ///   the error is `room_deleted`.
    public func delete(_ id: String) async throws(BackscrollClientError) {
        try checkOpen()
        _ = try await client.request("DELETE", try client.path(of: id))
        await removeLeft(id)
    }

    /// Returns a room as the server has it now, with its newest message. The user need not be a member of an open room.
    ///
    /// - Throws: `room_not_found`, `room_deleted`, `banned`; a temporary error.
    public func summary(of id: String) async throws(BackscrollClientError) -> RoomSummary {
        try checkOpen()
        return try await client.summary(of: id)
    }

    /// Moves the user's read mark of a room, never backwards and not beyond the newest message. Use it for "mark as
    /// read" in the list; an open ``Room`` moves its mark by itself.
    ///
    /// - Returns: the room.
    /// - Throws: `not_a_member`, `room_not_found`; a temporary error. The call can be repeated.
    @discardableResult
    public func markRead(_ id: String, upTo seq: Int64) async throws(BackscrollClientError) -> RoomSummary {
        try checkOpen()
        return try await client.moveReadMark(of: id, upTo: seq)
    }

    /// Sets which messages of a room may disturb the user, on all devices. It replaces what was set before; settings
    /// that are ``NotifySettings/isDefault`` end it.
    ///
    /// - Returns: the settings.
    /// - Throws: `invalid_field` if they have ended already; `room_not_found`; a temporary error. The call can be
    ///   repeated.
    @discardableResult
    public func setNotify(
        _ settings: NotifySettings, in id: String
    ) async throws(BackscrollClientError) -> NotifySettings {
        try checkOpen()
        var body: [UInt8] = []
        settings.encode(into: &body)
        let fields = try await client.object("PUT", try client.path(of: id) + "/notify", body: body)
        guard let settings = NotifySettings(fields) else { throw .lacksField }
        await take(settings, of: id)
        return settings
    }

    // MARK: The user's memberships

    /// Makes the user a member of an open room.
    ///
    /// - Returns: the room, with its newest message.
    /// - Throws: `room_not_found` for a private room, `banned`, `room_deleted`; a temporary error. The call can be
    ///   repeated.
    @discardableResult
    public func join(_ id: String) async throws(BackscrollClientError) -> RoomSummary {
        try checkOpen()
        let me = try await client.userID()
        _ = try await client.object("PUT", try client.path(of: id, member: me), body: Array("{}".utf8))
        let room = try await client.summary(of: id)
        await put(room)
        return room
    }

    /// Ends the user's membership. The room's screen ends with `not_a_member`.
    ///
    /// - Throws: `last_owner`: make another member an owner first; `member_not_found`; a temporary error.
    public func leave(_ id: String) async throws(BackscrollClientError) {
        try checkOpen()
        let me = try await client.userID()
        _ = try await client.request("DELETE", try client.path(of: id, member: me))
        await removeLeft(id)
    }

    // MARK: Members

    /// Returns the members of a room in the order of their ids.
    ///
    /// - Parameters:
    ///   - id: The room's id.
    ///   - user: The last user of the previous page; nil for the first page.
    ///   - limit: Maximum number of members, 1 to 1,000; nil for 200.
    ///   - profiles: True to load the members' profiles, too.
    /// - Throws: `not_a_member`, `room_not_found`, `invalid_limit`; a temporary error.
    public func members(
        of id: String, after user: String? = nil, limit: Int? = nil, profiles: Bool = false
    ) async throws(BackscrollClientError) -> MemberPage {
        try checkOpen()
        let path = try client.path(of: id) + "/members"
        let parameters: KeyValuePairs<String, String?> = [
            "after": user, "limit": limit?.description, "profiles": profiles ? "true" : nil,
        ]
        let fields = try await client.object("GET", target(path, parameters))
        return MemberPage(
            members: fields.elements.compactMap(Member.init), hasMore: fields.booleans["has_more"] ?? false)
    }

    /// Adds a user to a room, or changes a member's role.
    ///
    /// - Returns: the member.
    /// - Throws: `forbidden` unless the user owns the room, `invalid_user`, `banned`, `last_owner`; `rate_limited` if
    ///   the server limits how often users add others; a temporary error. The call can be repeated.
    @discardableResult
    public func add(
        _ user: String, to id: String, as role: RoomRole = .member
    ) async throws(BackscrollClientError) -> Member {
        try checkOpen()
        let fields = try await client.object(
            "PUT", try client.path(of: id, member: user), body: Array(#"{"role":"\#(role.rawValue)"}"#.utf8))
        guard let member = Member(fields) else { throw .lacksField }
        return member
    }

    /// Removes a member from a room. The member's screens of the room end.
    ///
    /// - Throws: `forbidden` unless the user owns the room, `member_not_found`, `last_owner`; a temporary error.
    public func remove(_ user: String, from id: String) async throws(BackscrollClientError) {
        try checkOpen()
        _ = try await client.request("DELETE", try client.path(of: id, member: user))
    }
}

/// The requests for rooms.
extension BackscrollClient {
    /// Returns the path of a room.
    ///
    /// - Throws: `invalid_room`.
    nonisolated func path(of room: String) throws(BackscrollClientError) -> String {
        do {
            return "/v1/rooms/\(try RoomID(room).string)"
        } catch {
            throw BackscrollClientError(error)
        }
    }

    nonisolated func path(of room: String, member user: String) throws(BackscrollClientError) -> String {
        try path(of: room) + "/members/\(percentEncoded(user))"
    }

    /// Loads a part of the list of the user's rooms.
    func listRooms(after cursor: String?) async throws(BackscrollClientError) -> RoomAnswer {
        let place = cursor.map { "&cursor=\(percentEncoded($0))" } ?? ""
        let fields = try await object("GET", "/v1/rooms?limit=\(Limits.rooms)\(place)")
        guard let hasMore = fields.booleans["has_more"] else { throw .lacksField }
        return RoomAnswer(
            rooms: fields.elements.compactMap(RoomSummary.init), cursor: hasMore ? fields.strings["cursor"] : nil)
    }

    /// Loads a room without its newest message.
    func settings(of id: String) async throws(BackscrollClientError) -> RoomSummary {
        try await room(in: object("GET", path(of: id)))
    }

    /// Loads a room with its newest message.
    func summary(of id: String) async throws(BackscrollClientError) -> RoomSummary {
        var room = try await settings(of: id)
        guard room.head > 0 else { return room }
        room.lastMessage = try await page(of: id, .init(anchor: .newest, limit: 1)).messages.last
        return room
    }

    func putRoom(_ id: String, _ settings: RoomSettings) async throws(BackscrollClientError) -> RoomSummary {
        var body: [UInt8] = []
        settings.encode(into: &body)
        return try await room(in: object("PUT", path(of: id), body: body))
    }

    /// Moves the user's read mark.
    func putReadMark(of id: String, upTo seq: Int64) async throws(BackscrollClientError) -> RoomSummary {
        try await room(in: object("PUT", path(of: id) + "/read", body: Array(#"{"seq":\#(seq)}"#.utf8)))
    }

    private func room(in fields: JSONFields) throws(BackscrollClientError) -> RoomSummary {
        guard let room = RoomSummary(fields) else { throw .lacksField }
        return room
    }
}

extension Wire.RoomSummary.Visibility {
    init(_ visibility: RoomVisibility) {
        switch visibility {
        case .open: self = .open
        case .private: self = .private
        }
    }
}

extension BackscrollClientError {
    static var lacksField: BackscrollClientError {
        BackscrollClientError(code: invalidAnswer, message: "The answer lacks a field.")
    }
}
