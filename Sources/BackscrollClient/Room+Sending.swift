import BackscrollTimeline
import Wire

// Sends, changes and typing notices.

extension Room {
    /// Sends a text, and returns the stored message.
    ///
    /// - Throws: as ``send(_:)-(ChatDraft)``.
    @discardableResult
    public func send(_ text: String) async throws(BackscrollClientError) -> ChatMessage {
        try await send(ChatDraft(text))
    }

    /// Sends a message, and returns it once it is stored. It is shown at once.
    ///
    /// Messages are posted one at a time, in the order of the calls. One whose answer is lost, or that the server cannot
    /// take at the moment, is posted again with the same id until it is stored; the server stores it once.
    ///
    /// - Throws: the server's refusal; the message then stays as failed, for ``retry(_:)`` or ``discard(_:)``.
    ///   ``BackscrollClientError/cancelled`` if the task is cancelled: the message is sent all the same.
    @discardableResult
    public func send(_ draft: ChatDraft) async throws(BackscrollClientError) -> ChatMessage {
        try await enqueue(draft)
        return try await stored(draft.clientMessageID)
    }

    /// Sends a message, and returns when it is shown. With a store it is also stored there: it is sent even if the app
    /// ends before that, once the room is opened again.
    public func enqueue(_ draft: ChatDraft) async throws(BackscrollClientError) {
        try checkOpen()
        await loadFromStore()
        try checkOpen()
        startTicking()
        unsettled.insert(draft.clientMessageID)
        let now = options.clock.milliseconds()
        record?.add(draft, at: now)
        handle(.send(draft, at: now))
        await publish()
        await flush()
    }

    /// Waits until a message that was sent is stored, and returns it.
    ///
    /// - Throws: as ``send(_:)-(ChatDraft)``.
    public func stored(_ id: String) async throws(BackscrollClientError) -> ChatMessage {
        try await wait { room in
            if room.settled.contains(where: { $0.id == id }) { return .success(()) }
            if room.unsettled.contains(id) { return nil }
            return .failure(BackscrollClientError(code: "unknown_send", message: "No send of this room has this id."))
        }
        await publish()
        guard let outcome = settled.last(where: { $0.id == id })?.outcome else { throw .isClosed }
        return try outcome.get()
    }

    /// Posts a failed message again, and returns it once it is stored.
    ///
    /// - Throws: as ``send(_:)-(ChatDraft)``.
    @discardableResult
    public func retry(_ clientMessageID: String) async throws(BackscrollClientError) -> ChatMessage {
        try checkOpen()
        guard case .send(let draft, .failed)? = row(ofSend: clientMessageID)?.content else {
            throw BackscrollClientError(code: "not_failed", message: "No failed message has this id.")
        }
        unsettled.insert(clientMessageID)
        settled.removeAll { $0.id == clientMessageID }
        refusals[clientMessageID] = nil
        record?.add(draft, at: options.clock.milliseconds())
        handle(.retry(clientMessageID: clientMessageID))
        await publish()
        return try await stored(clientMessageID)
    }

    /// Gives up a failed message.
    public func discard(_ clientMessageID: String) async {
        if refusals.removeValue(forKey: clientMessageID) != nil { record?.remove(clientMessageID) }
        handle(.discard(clientMessageID: clientMessageID))
        await publish()
        await flush()
    }

    /// Changes the text of an own message, and returns the message as it is then.
    ///
    /// Like all changes of messages, the edit is tried again if no answer comes or the server cannot take it at the moment, at
    /// most ``ClientOptions/changeAttempts`` times; the server makes it once. The changes of one message are made one
    /// after the other, in the order of the calls. Unlike sends they are not kept: after the last attempt the call throws,
    /// and the message stays as the server has it. Cancelling the task gives up further attempts.
    ///
    /// - Parameters:
    ///   - seq: The message's `seq`.
    ///   - text: The new text.
    ///   - rev: The `rev` that the message must have, so that no other change is lost; nil for any.
    /// - Throws: the server's refusal, such as `not_the_sender`, `message_deleted`, or `precondition_failed` for another
    ///   `rev`; a temporary error after the last attempt.
    @discardableResult
    public func edit(
        _ seq: Int64, text: String, ifRev rev: Int64? = nil
    ) async throws(BackscrollClientError) -> ChatMessage {
        var body: [UInt8] = []
        Edit(text: text).encode(into: &body)
        return try await change(
            seq, "PATCH", body: body, headerFields: rev.map { ["If-Match": "\"\($0)\""] } ?? [:])
    }

    /// Deletes a message. Its place stays.
    ///
    /// - Throws: as ``edit(_:text:ifRev:)``.
    @discardableResult
    public func delete(_ seq: Int64) async throws(BackscrollClientError) -> ChatMessage {
        try await change(seq, "DELETE")
    }

    /// Adds the user's reaction: an emoji or any word of at most 32 bytes.
    ///
    /// - Throws: as ``edit(_:text:ifRev:)``; `invalid_reaction`, `too_many_reactions`.
    @discardableResult
    public func react(to seq: Int64, _ key: String) async throws(BackscrollClientError) -> ChatMessage {
        try await change(seq, "PUT", "/reactions/\(percentEncoded(key))")
    }

    /// Removes the user's reaction.
    ///
    /// - Throws: as ``edit(_:text:ifRev:)``.
    @discardableResult
    public func unreact(to seq: Int64, _ key: String) async throws(BackscrollClientError) -> ChatMessage {
        try await change(seq, "DELETE", "/reactions/\(percentEncoded(key))")
    }

    /// Tells the others that the user types. Call it with every key: notices go out at most every 3 seconds.
    public func typing() async {
        let now = options.clock.elapsed()
        if let typedAt, now - typedAt < Self.typingInterval { return }
        typedAt = now
        await client.sendTyping(in: id)
    }

    /// Ends the room: its subscription, its changes and the calls that wait. Messages that are not stored by the server
    /// are given up, unless the client has a store.
    public func close() async {
        await end(.isClosed)
    }

    func change(
        _ seq: Int64, _ method: String, _ target: String = "", body: [UInt8]? = nil,
        headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> ChatMessage {
        try checkOpen()
        // A change that is repeated must not overtake a later one of the same message.
        let earlier = changing[seq]
        let task = Task<Result<ChatMessage, BackscrollClientError>, Never> { [client, id] in
            _ = await earlier?.value
            return await Result { () async throws(BackscrollClientError) in
                try await client.repeating { () async throws(BackscrollClientError) in
                    try await client.message(
                        method, "/v1/rooms/\(id)/messages/\(seq)\(target)", body: body, headerFields: headerFields)
                }
            }
        }
        changing[seq] = task
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if changing[seq] == task { changing[seq] = nil }
        let message = try result.get()
        // The answer is a snapshot and no position: the machine takes it like the answer to a send that it does not await.
        handle(.sent(clientMessageID: "", message))
        record?.takeAnswer(message)
        scheduleFlush()
        await publish()
        return message
    }

    // MARK: Sends that are waited for

    func row(ofSend id: String) -> RoomRow? {
        let rowID = RoomRow.ID.mine(clientMessageID: id)
        return machine.view.rows.last { $0.id == rowID }
    }

    func noteStored(_ message: ChatMessage) {
        guard !unsettled.isEmpty, let id = message.clientMessageID, message.senderID == userID else { return }
        settle(id, .success(message))
    }

    func settle(_ id: String, _ outcome: Result<ChatMessage, BackscrollClientError>) {
        guard unsettled.remove(id) != nil else { return }
        if settled.count == Self.settledSends { settled.removeFirst() }
        settled.append((id, outcome))
    }
}
