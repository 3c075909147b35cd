import BackscrollTimeline

// The host of the machine: events in, effects out.

extension Room {
    /// Handles an event of the subscription with this number. Events of earlier subscriptions are ignored.
    func take(_ event: RoomMachine.Event, number: SubscriptionNumber) {
        guard number == subscriptionNumber, ending == nil else { return }
        if case .frame(let frame) = event {
            switch frame.content {
            case .message(let message): noteStored(message)
            case .read(let user, let seq) where user != userID: takeRead(user, seq)
            case .live where mark > sentMark: sendMarkSoon(mark)
            default: break
            }
        }
        handle(event)
        if case .frame(let frame) = event, case .live = frame.content {
            if asksForMark { askForMark() }
            refreshReads(isAfterGap: true)
        }
        publishSoon()
    }

    /// Ends the room for a permanent reason.
    func end(_ error: BackscrollClientError) async {
        guard ending == nil else { return }
        ending = error
        version += 1
        ticker?.cancel()
        askingForMark?.cancel()
        wakeWaiters()
        if error.endsAccess {
            record?.forget()
            refuseSends(error)
        }
        await publish()
        await flush()
        await client.forget(self, number: subscriptionNumber)
    }

    func handle(_ event: RoomMachine.Event) {
        guard ending == nil else { return }
        // The machine must measure a wait from now, not from the last tick. Otherwise a request could be repeated before
        // the time that the server gave.
        var effects = event.startsWait ? machine.handle(now) : []
        effects += machine.handle(event)
        version += 1
        record(event)
        for effect in effects { carryOut(effect) }
        updateOwnRead()
        wakeWaiters()
    }

    func carryOut(_ effect: RoomMachine.Effect) {
        switch effect {
        case .fetch(let request, let query):
            fetches += 1
            lastRequest = request
            record?.beginFetch()
            Task { [weak self, client, id] in
                if let page = await self?.storedPage(query) {
                    await self?.takePage(.success(page), request: request, isStored: true)
                    return
                }
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.page(of: id, query)
                }
                if case .failure(let error) = result, error.code == BackscrollClientError.unreachable,
                    let page = await self?.storedPageOffline(query)
                {
                    await self?.takePage(.success(page), request: request, isStored: true)
                    return
                }
                await self?.takePage(result, request: request)
            }
        case .subscribe(let since, let epoch):
            subscriptionNumber.number += 1
            asksForMark = true
            recordSubscription(since: since, epoch: epoch)
            Task { [client, number = subscriptionNumber] in
                await client.subscribe(self, number: number, since: since, epoch: epoch)
            }
        case .post(let draft):
            if let code = refusals[draft.clientMessageID] {
                // The server refused it before the app ended.
                Task {
                    let error = BackscrollClientError(
                        code: code, message: "The server refused the message.", status: 422)
                    takeAnswer(.failure(error), to: draft)
                }
                return
            }
            Task { [weak self, client, id, epoch = machine.view.epoch] in
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.message("POST", "/v1/rooms/\(id)/messages", body: draft.body)
                }
                await self?.takeAnswer(result, to: draft, postedIn: epoch)
            }
        case .markRead(let seq):
            record?.takeMark(seq)
            sendMarkSoon(seq)
        case .scroll(let target):
            scroll = (target, version)
            endedJumps += 1
        }
    }

    func takePage(
        _ result: Result<RoomMachine.Page, BackscrollClientError>, request: Int, isStored: Bool = false
    ) async {
        fetches -= 1
        defer { record?.endFetch() }
        switch result {
        case .success(let page):
            for message in page.messages { noteStored(message) }
            let isOpening = machine.view.phase == .initial
            handle(.page(request: request, page))
            // The subscription begins where the page was read, and the page has the mark.
            if isOpening, !isStored, page.read != nil { asksForMark = false }
            if !isStored { record?.takePage(page) }
        case .failure(let error):
            loadFailure = error
            if request >= openingRequest {
                openingFailure = error
                openingFailures += 1
            }
            if error.endsAccess { return await end(error) }
            handle(.fetchFailed(request: request, error.failure))
        }
        publishSoon()
    }

    func takeAnswer(
        _ result: Result<ChatMessage, BackscrollClientError>, to draft: ChatDraft, postedIn epoch: String? = nil
    ) {
        switch result {
        case .success(let message):
            noteStored(message)
            handle(.sent(clientMessageID: draft.clientMessageID, message))
            // The answer to a POST in an earlier history does not belong to the present one.
            if epoch == nil || epoch == machine.view.epoch { record?.takeAnswer(message) }
            scheduleFlush()
        case .failure(let error):
            // The client was closed before the request began, so the server has not refused the message. The next client
            // sends it.
            if error.code == BackscrollClientError.closed { return }
            if !error.isTemporary {
                settle(draft.clientMessageID, .failure(error))
                refusals[draft.clientMessageID] = error.code
                record?.refuse(draft.clientMessageID, code: error.code)
            }
            handle(.sendFailed(clientMessageID: draft.clientMessageID, error.failure))
        }
        publishSoon()
    }

    /// Asks the server for the user's mark, which may have moved on another device: a replay brings no marks. Repeats the
    /// request after a temporary error.
    private func askForMark() {
        asksForMark = false
        askingForMark?.cancel()
        askingForMark = Task { [weak self, client, id, options] in
            var failures = 0
            while !Task.isCancelled {
                do throws(BackscrollClientError) {
                    let room = try await client.settings(of: id)
                    await self?.takeMark(of: room)
                    return
                } catch {
                    guard self != nil, error.isTemporary else { return }
                    failures += 1
                    let pause = error.retryAfter ?? options.pause(afterFailures: failures)
                    try? await options.clock.sleep(.seconds(pause))
                }
            }
        }
    }

    private func takeMark(of room: RoomSummary) {
        guard ending == nil, room.epoch == machine.view.epoch else { return }
        handle(.marked(read: room.read, unread: Int64(room.unread), head: room.head))
        publishSoon()
    }

    func sendMarkSoon(_ seq: Int64) {
        mark = max(mark, seq)
        guard !isMarking else { return }
        isMarking = true
        Task { [weak self, options] in
            var pause: Duration? = Self.markDelay
            while let wait = pause {
                try? await options.clock.sleep(wait)
                pause = await self?.sendMark()
            }
        }
    }

    /// Sends the read mark. A store keeps a mark that the server does not have yet.
    ///
    /// - Returns: the time after which to send it again, because the mark has moved meanwhile, or because of a
    ///   temporary error; nil otherwise.
    func sendMark() async -> Duration? {
        let seq = mark
        do throws(BackscrollClientError) {
            let room = try await client.moveReadMark(of: id, upTo: seq)
            markFailures = 0
            sentMark = seq
            takeMark(of: room)
            if mark > seq { return Self.markDelay }
            record?.takeMark(nil)
            scheduleFlush()
        } catch {
            if ending == nil, error.isTemporary {
                markFailures += 1
                return .seconds(error.retryAfter ?? options.pause(afterFailures: markFailures))
            }
        }
        isMarking = false
        return nil
    }

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
        refreshReads()
        let typing = machine.view.typing.count
        let effects = machine.handle(now)
        // Most ticks change nothing.
        guard !effects.isEmpty || typing != machine.view.typing.count else { return }
        version += 1
        for effect in effects { carryOut(effect) }
        wakeWaiters()
        publishSoon()
    }

    private var now: RoomMachine.Event { .time(now: options.clock.elapsed().inSeconds * 1000) }

    func checkOpen() throws(BackscrollClientError) {
        if let ending { throw ending }
    }
}

extension RoomMachine.Event {
    /// True if the machine may wait for a time after the event.
    fileprivate var startsWait: Bool {
        switch self {
        case .sendFailed, .fetchFailed, .disconnected: true
        case .frame(let frame):
            switch frame.content {
            case .typing, .error: true
            default: false
            }
        default: false
        }
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
