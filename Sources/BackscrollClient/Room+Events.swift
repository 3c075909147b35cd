import BackscrollTimeline

// The host of the machine: events in, effects out.

extension Room {
    /// Takes what the client tells of the subscription with this number. Earlier ones are silent.
    func take(_ event: RoomMachine.Event, number: SubscriptionNumber) {
        guard number == subscriptionNumber, ending == nil else { return }
        if case .frame(let frame) = event {
            switch frame.content {
            case .message(let message): noteStored(message)
            case .read(let user, let seq) where user != userID: readers[user] = max(seq, readers[user] ?? 0)
            default: break
            }
        }
        handle(event)
        publishSoon()
    }

    /// Ends the room for a reason that does not pass.
    func end(_ error: BackscrollClientError) async {
        guard ending == nil else { return }
        ending = error
        version += 1
        ticker?.cancel()
        wakeWaiters()
        await publish()
        await client.forget(self, number: subscriptionNumber)
    }

    func handle(_ event: RoomMachine.Event) {
        guard ending == nil else { return }
        let effects = machine.handle(event)
        version += 1
        for effect in effects { carryOut(effect) }
        wakeWaiters()
    }

    func carryOut(_ effect: RoomMachine.Effect) {
        switch effect {
        case .fetch(let request, let query):
            fetches += 1
            Task { [weak self, client, id] in
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.page(of: id, query)
                }
                await self?.takePage(result, request: request)
            }
        case .subscribe(let since, let epoch):
            subscriptionNumber.number += 1
            Task { [client, number = subscriptionNumber] in
                await client.subscribe(self, number: number, since: since, epoch: epoch)
            }
        case .post(let draft):
            Task { [weak self, client, id] in
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.message("POST", "/v1/rooms/\(id)/messages", body: draft.body)
                }
                await self?.takeAnswer(result, to: draft)
            }
        case .markRead(let seq):
            mark = max(mark, seq)
            if !isMarking {
                isMarking = true
                Task { [weak self, options] in
                    try? await options.clock.sleep(Self.markDelay)
                    await self?.sendMark()
                }
            }
        case .scroll(let target):
            scroll = (target, version)
            endedJumps += 1
        }
    }

    func takePage(_ result: Result<RoomMachine.Page, BackscrollClientError>, request: Int) async {
        fetches -= 1
        switch result {
        case .success(let page):
            for message in page.messages { noteStored(message) }
            handle(.page(request: request, page))
        case .failure(let error):
            loadFailure = error
            openingFailures += 1
            if Self.endings.contains(error.code) { return await end(error) }
            handle(.fetchFailed(request: request, error.failure))
        }
        publishSoon()
    }

    func takeAnswer(_ result: Result<ChatMessage, BackscrollClientError>, to draft: ChatDraft) {
        switch result {
        case .success(let message):
            noteStored(message)
            handle(.sent(clientMessageID: draft.clientMessageID, message))
        case .failure(let error):
            if !error.isTemporary { settle(draft.clientMessageID, .failure(error)) }
            handle(.sendFailed(clientMessageID: draft.clientMessageID, error.failure))
        }
        publishSoon()
    }

    func sendMark() async {
        isMarking = false
        // A lost mark does no harm: the next one includes it.
        _ = try? await client.request("PUT", "/v1/rooms/\(id)/read", body: Array(#"{"seq":\#(mark)}"#.utf8))
    }

    /// The codes that end a room for good.
    static let endings: Set<String> = [
        "not_a_member", "room_not_found", "room_not_allowed", "banned", "room_deleted",
    ]

    func startTicking() {
        guard ticker == nil else { return }
        ticker = Task { [weak self, options] in
            repeat {
                guard await self?.takeTime() != nil else { return }
            } while (try? await options.clock.sleep(Self.tick)) != nil
        }
    }

    func takeTime() {
        guard ending == nil else { return }
        let typing = machine.view.typing.count
        let effects = machine.handle(.time(now: options.clock.elapsed().inSeconds * 1000))
        // Most ticks change nothing.
        guard !effects.isEmpty || typing != machine.view.typing.count else { return }
        version += 1
        for effect in effects { carryOut(effect) }
        wakeWaiters()
        publishSoon()
    }

    func checkOpen() throws(BackscrollClientError) {
        if let ending { throw ending }
    }
}

extension Result where Failure == BackscrollClientError {
    /// Runs `body` and keeps its outcome.
    init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
