import BackscrollTimeline

// Reactions.

extension Room {
    /// Adds the user's reaction: an emoji or any word of at most 64 bytes.
    ///
    /// - Throws: as ``edit(_:text:ifRev:)``; `invalid_reaction`, `too_many_reactions`.
    @discardableResult
    public func react(_ seq: Int64, with key: String) async throws(BackscrollClientError) -> ChatMessage {
        try await change(seq, "PUT", "/reactions/\(percentEncoded(key))")
    }

    /// Removes the user's reaction.
    ///
    /// - Throws: as ``edit(_:text:ifRev:)``.
    @discardableResult
    public func unreact(_ seq: Int64, with key: String) async throws(BackscrollClientError) -> ChatMessage {
        try await change(seq, "DELETE", "/reactions/\(percentEncoded(key))")
    }

    /// Removes the user's reaction if there is one, and adds it otherwise.
    ///
    /// - Throws: as ``react(_:with:)`` and ``hasReacted(_:with:)``.
    @discardableResult
    public func toggleReaction(_ seq: Int64, with key: String) async throws(BackscrollClientError) -> ChatMessage {
        if try await hasReacted(seq, with: key) { return try await unreact(seq, with: key) }
        return try await react(seq, with: key)
    }

    /// Returns true if the user has reacted to a message with a key. A message lists 50 users of each key. If there are
    /// more and the user is not among these, the server is asked.
    ///
    /// - Throws: the server's refusal, such as `message_not_found`; a temporary error.
    public func hasReacted(_ seq: Int64, with key: String) async throws(BackscrollClientError) -> Bool {
        try checkOpen()
        if let message = message(seq) {
            guard let reaction = message.reactions.first(where: { $0.key.utf8.elementsEqual(key.utf8) }) else {
                return false
            }
            if reaction.users.contains(where: { $0.string == userID }) { return true }
            if reaction.count <= reaction.users.count { return false }
        }
        // The users are listed in the byte order of their ids. The user's comes after its own beginning.
        var last: String? = userID.count > 1 ? String(userID.dropLast()) : nil
        while true {
            let page = try await reactors(seq, with: key, after: last)
            if page.users.contains(userID) { return true }
            guard page.hasMore, let end = page.users.last, end.utf8.lexicographicallyPrecedes(userID.utf8) else {
                return false
            }
            last = end
        }
    }

    /// Returns users who have reacted to a message with a key, in the byte order of their ids.
    ///
    /// - Parameters:
    ///   - seq: The message's `seq`.
    ///   - key: The key of the reaction.
    ///   - user: The last user of the previous page; nil for the first page.
    /// - Throws: the server's refusal, such as `message_not_found`; a temporary error.
    public func reactors(
        _ seq: Int64, with key: String, after user: String? = nil
    ) async throws(BackscrollClientError) -> ReactorPage {
        try checkOpen()
        let query = user.map { "?after=\(percentEncoded($0))" } ?? ""
        let fields = try await client.object(
            "GET", "/v1/rooms/\(id)/messages/\(seq)/reactions/\(percentEncoded(key))\(query)")
        return ReactorPage(users: fields.users, hasMore: fields.booleans["has_more"] ?? false)
    }

    private func message(_ seq: Int64) -> ChatMessage? {
        for case .message(let message, _) in machine.view.rows.lazy.map(\.content) where message.seq == seq {
            return message
        }
        return nil
    }
}

/// Some of the users who have reacted to a message with one key.
public struct ReactorPage: Hashable, Sendable {
    /// The ids of the users.
    public let users: [String]
    /// True if there are more. Load the next page after the last user.
    public let hasMore: Bool
}
