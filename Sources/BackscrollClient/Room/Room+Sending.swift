import BackscrollTimeline
public import Wire

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
    /// Messages are posted one at a time, in the order of the calls. After a lost answer or a temporary error, a
    /// message is posted again with the same id until it is stored. The server stores it once.
    ///
    /// - Throws: the server's refusal; the message then stays as failed, for ``retry(_:)`` or ``discard(_:)``.
    ///   ``BackscrollClientError/cancelled`` if the task is cancelled; the message is still sent.
    @discardableResult
    public func send(_ draft: ChatDraft) async throws(BackscrollClientError) -> ChatMessage {
        // The outcome may come before the wait for it begins.
        outcomes.keep(draft.clientMessageID)
        defer { outcomes.release(draft.clientMessageID) }
        try await enqueue(draft)
        return try await stored(draft.clientMessageID)
    }

    /// Sends a message, and returns when it is shown. With a store it is then also in the store, unless ``storeFailure``
    /// says otherwise: if the app ends before the message is sent, opening the room again sends it.
    public func enqueue(_ draft: ChatDraft) async throws(BackscrollClientError) {
        try checkOpen()
        await loadFromStore()
        try checkOpen()
        startTicking()
        outcomes.begin(draft.clientMessageID)
        let now = options.clock.milliseconds()
        if storage != nil, record == nil { storing.unrecorded.append(StoredSend(draft: draft, at: now)) }
        record?.add(draft, at: now)
        handle(.send(draft, at: now))
        await publish()
        await flush()
    }

    /// Waits until a sent message is stored, and returns it.
    ///
    /// - Throws: as ``send(_:)-(ChatDraft)``.
    public func stored(_ id: String) async throws(BackscrollClientError) -> ChatMessage {
        outcomes.keep(id)
        defer { outcomes.release(id) }
        try await wait { room in
            if room.outcomes[id] != nil { return .success(()) }
            if room.outcomes.open.contains(id) { return nil }
            return .failure(
                BackscrollClientError(
                    code: BackscrollClientError.unknownSend, message: "No send of this room has this id."))
        }
        await publish()
        guard let outcome = outcomes[id] else { throw .isClosed }
        return try outcome.get()
    }

    /// Posts a failed message again, and returns it once it is stored.
    ///
    /// - Throws: as ``send(_:)-(ChatDraft)``.
    @discardableResult
    public func retry(_ clientMessageID: String) async throws(BackscrollClientError) -> ChatMessage {
        try checkOpen()
        guard case .send(let draft, .failed)? = row(ofSend: clientMessageID)?.content else {
            throw BackscrollClientError(
                code: BackscrollClientError.notFailed, message: "No failed message has this id.")
        }
        outcomes.beginAgain(clientMessageID)
        record?.add(draft, at: options.clock.milliseconds())
        handle(.retry(clientMessageID: clientMessageID))
        await publish()
        return try await stored(clientMessageID)
    }

    /// Gives up a failed message.
    public func discard(_ clientMessageID: String) async {
        if outcomes.refusals.removeValue(forKey: clientMessageID) != nil { record?.remove(clientMessageID) }
        handle(.discard(clientMessageID: clientMessageID))
        await publish()
        await flush()
    }

    /// Changes the text of one of the user's messages, and returns its new state.
    ///
    /// Like all changes of messages, the edit is repeated after a lost answer or a temporary error, up to
    /// ``ClientOptions/changeAttempts`` attempts. The server applies it once. Changes of the same message are made one
    /// after the other, in the order of the calls. Unlike sends, changes are not kept: if the last attempt fails, the
    /// call throws, and the message stays as the server has it. Cancelling the task ends the attempts.
    ///
    /// - Parameters:
    ///   - seq: The message's `seq`.
    ///   - text: The new text.
    ///   - rev: The `rev` that the message must have, so that the edit does not overwrite another change; nil for any.
    /// - Throws: the server's refusal, such as `not_the_sender`, `message_deleted`, or `precondition_failed` for
    ///   another `rev`; a temporary error after the last attempt.
    @discardableResult
    public func edit(
        _ seq: Int64, text: String, ifRev rev: Int64? = nil
    ) async throws(BackscrollClientError) -> ChatMessage {
        var body: [UInt8] = []
        Edit(text: text).encode(into: &body)
        return try await change(
            seq, "PATCH", body: body, headerFields: rev.map { ["If-Match": "\"\($0)\""] } ?? [:])
    }

    /// Changes whom an own message mentions, and its text if there is one. A nil argument keeps a value.
    ///
    /// - Throws: as ``edit(_:text:ifRev:)``; `too_many` for more than 50 users; `forbidden` if the room is too large for
    ///   members to mention everybody.
    @discardableResult
    public func edit(
        _ seq: Int64, text: String? = nil, mentions: [UserID]?, mentionsRoom: Bool? = nil, ifRev rev: Int64? = nil
    ) async throws(BackscrollClientError) -> ChatMessage {
        var body: [UInt8] = []
        Edit(text: text, mentions: mentions, mentionsRoom: mentionsRoom).encode(into: &body)
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

    /// Tells other users that the user types. Call it with every key; a notice is sent at most every 3 seconds.
    public func typing() async {
        let now = options.clock.elapsed()
        if let typedAt, now - typedAt < Self.typingInterval { return }
        typedAt = now
        await client.sendTyping(in: id)
    }

    /// Ends the room: its subscription, its changes and the calls that wait. Without a store, messages that the server
    /// has not confirmed are given up.
    public func close() async {
        await end(.isClosed)
    }

    func change(
        _ seq: Int64, _ method: String, _ target: String = "", body: [UInt8]? = nil,
        headerFields: [String: String] = [:]
    ) async throws(BackscrollClientError) -> ChatMessage {
        try checkOpen()
        // A repeated change must not overwrite a later one of the same message.
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
        // The answer is a snapshot, not a position. The machine handles it like the answer to a send that it does not
        // await.
        handle(.sent(clientMessageID: "", message))
        record?.addAnswer(message)
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
        guard !outcomes.open.isEmpty, let id = message.clientMessageID, message.senderID == userID else { return }
        outcomes.end(id, .success(message))
    }

    /// Gives up the sends of a user who may no longer write to the room. With a store they stay there, as refused.
    func refuseSends(_ error: BackscrollClientError) {
        for id in outcomes.open {
            outcomes.end(id, .failure(error))
            outcomes.refusals[id] = error.code
            record?.refuse(id, code: error.code)
        }
    }
}
