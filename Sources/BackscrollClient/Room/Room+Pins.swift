// Pinned messages.

extension Room {
    /// Pins a message. Owners may, and all members if the room's ``RoomManners/pinning`` says so.
    ///
    /// - Throws: as ``edit(_:text:ifRev:)``; `forbidden`, `not_a_member`, `too_many_pins`.
    @discardableResult
    public func pin(_ seq: Int64) async throws(BackscrollClientError) -> ChatMessage {
        try await change(seq, "PUT", "/pin")
    }

    /// Unpins a message.
    ///
    /// - Throws: as ``edit(_:text:ifRev:)``; `forbidden`, `not_a_member`.
    @discardableResult
    public func unpin(_ seq: Int64) async throws(BackscrollClientError) -> ChatMessage {
        try await change(seq, "DELETE", "/pin")
    }

    /// Returns the room's pinned messages as the server has them now, latest pin first: all of them, at most 50.
    ///
    /// - Throws: the server's refusal, such as `room_not_found`; a temporary error.
    public func pins() async throws(BackscrollClientError) -> [ChatMessage] {
        try checkOpen()
        var messages: [ChatMessage] = []
        var place = ""
        while true {
            let fields = try await client.object("GET", "/v1/rooms/\(id)/pins\(place)")
            messages += fields.messages
            guard fields.booleans["has_more"] == true, let cursor = fields.strings["cursor"] else { return messages }
            place = "?cursor=\(percentEncoded(cursor))"
        }
    }
}
