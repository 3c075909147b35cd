import BackscrollTimeline

// The host of the machine: events in, effects out.

/// The requests for pages, and how they have ended.
struct PageRequests: Sendable {
    /// Number of requests under way.
    var underWay = 0
    /// The error of the last request; nil since the last call that loads.
    var failure: BackscrollClientError?
    /// The number of the last request, and of the first one since the room was opened. Requests of an earlier window may
    /// still fail.
    var lastRequest = 0
    var openingRequest = 0
    /// Number of failures since the room was opened, and the last of them.
    var openingFailures = 0
    var openingFailure: BackscrollClientError?
    /// Number of jumps that have ended.
    var endedJumps = 0
}

extension Room {
    /// Handles an event of the subscription with this number. Events of earlier subscriptions are ignored.
    func receive(_ event: RoomMachine.Event, number: SubscriptionNumber) {
        guard number == subscriptionNumber, ending == nil else { return }
        if case .frame(let frame) = event {
            switch frame.content {
            case .message(let message): noteStored(message)
            case .read(let user, let seq) where user != userID: noteRead(user, seq)
            case .live where mark.seq > mark.confirmed: sendMarkSoon(mark.seq)
            default: break
            }
        }
        handle(event)
        if case .frame(let frame) = event, case .live = frame.content {
            if mark.isUnknown { askForMark() }
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
        mark.asking?.cancel()
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
            pages.underWay += 1
            pages.lastRequest = request
            record?.beginFetch()
            Task { [weak self, client, id] in
                if let page = await self?.storedPage(query) {
                    await self?.receivePage(.success(page), request: request, isStored: true)
                    return
                }
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.page(of: id, query)
                }
                if case .failure(let error) = result, error.code == BackscrollClientError.unreachable,
                    let page = await self?.storedPageOffline(query)
                {
                    await self?.receivePage(.success(page), request: request, isStored: true)
                    return
                }
                await self?.receivePage(result, request: request)
            }
        case .subscribe(let since, let epoch):
            subscriptionNumber.number += 1
            mark.follow(epoch)
            mark.isUnknown = true
            recordSubscription(since: since, epoch: epoch)
            Task { [client, number = subscriptionNumber] in
                await client.subscribe(self, number: number, since: since, epoch: epoch)
            }
        case .post(let draft):
            if let code = outcomes.refusals[draft.clientMessageID] {
                // The server refused it before the app ended.
                Task {
                    let error = BackscrollClientError(
                        code: code, message: "The server refused the message.", status: 422)
                    receiveAnswer(.failure(error), to: draft)
                }
                return
            }
            Task { [weak self, client, id, epoch = machine.view.epoch] in
                let result = await Result { () async throws(BackscrollClientError) in
                    try await client.message("POST", "/v1/rooms/\(id)/messages", body: draft.body)
                }
                await self?.receiveAnswer(result, to: draft, postedIn: epoch)
            }
        case .markRead(let seq):
            record?.setUnsentMark(seq)
            sendMarkSoon(seq)
        case .scroll(let target):
            scroll = (target, version)
            pages.endedJumps += 1
        }
    }

    func receivePage(
        _ result: Result<RoomMachine.Page, BackscrollClientError>, request: Int, isStored: Bool = false
    ) async {
        pages.underWay -= 1
        defer { record?.endFetch() }
        switch result {
        case .success(let page):
            for message in page.messages { noteStored(message) }
            let isOpening = machine.view.phase == .initial
            handle(.page(request: request, page))
            // The subscription begins where the page was read, and the page has the mark.
            if isOpening, !isStored, page.read != nil { mark.isUnknown = false }
            if !isStored { record?.addPage(page) }
        case .failure(let error):
            pages.failure = error
            if request >= pages.openingRequest {
                pages.openingFailure = error
                pages.openingFailures += 1
            }
            if error.endsAccess { return await end(error) }
            handle(.fetchFailed(request: request, error.failure))
        }
        publishSoon()
    }

    func receiveAnswer(
        _ result: Result<ChatMessage, BackscrollClientError>, to draft: ChatDraft, postedIn epoch: String? = nil
    ) {
        switch result {
        case .success(let message):
            noteStored(message)
            handle(.sent(clientMessageID: draft.clientMessageID, message))
            // The answer to a POST in an earlier history does not belong to the present one.
            if epoch == nil || epoch == machine.view.epoch { record?.addAnswer(message) }
            scheduleFlush()
        case .failure(let error):
            // The client was closed before the request began, so the server has not refused the message. The next client
            // sends it.
            if error.code == BackscrollClientError.closed { return }
            if !error.isTemporary {
                outcomes.end(draft.clientMessageID, .failure(error))
                outcomes.refusals[draft.clientMessageID] = error.code
                record?.refuse(draft.clientMessageID, code: error.code)
            }
            handle(.sendFailed(clientMessageID: draft.clientMessageID, error.failure))
        }
        publishSoon()
    }

    func startTicking() {
        guard ticker == nil else { return }
        ticker = Task { [weak self, options] in
            repeat {
                guard await self?.advanceTime() != nil else { return }
            } while (try? await options.clock.sleep(Self.tick)) != nil
        }
    }

    func advanceTime() {
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
