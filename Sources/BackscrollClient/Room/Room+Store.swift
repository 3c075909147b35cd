import BackscrollTimeline

// The room's part of the client's store.

/// The part of a store that belongs to one room.
struct RoomStore: Sendable {
    let store: any ClientStore
    let key: StoredRoomKey
}

/// The work of a room with its store.
struct Storing {
    /// The task that shows the stored messages.
    var loading: Task<Void, Never>?
    /// The last write.
    var writing: Task<Void, Never>?
    /// True while a write is scheduled.
    var isScheduled = false
    /// The sends that wait for a store that could not be read yet.
    var unrecorded: [StoredSend] = []
    /// Number of failures in a row.
    var failures = 0
    /// The pause before the store is tried again.
    var retry: Task<Void, Never>?
}

extension Room {
    /// Shows the stored messages, and sends the stored sends. Only the first call does so; the others wait for it.
    ///
    /// - Parameter place: The place that the room is opened at.
    func loadFromStore(for place: Place = .newest) async {
        guard storage != nil else { return }
        let loading = storing.loading ?? Task { await load(for: place) }
        storing.loading = loading
        await loading.value
    }

    private func load(for place: Place) async {
        guard let storage else { return }
        var stored: StoredRoom?
        do throws(BackscrollClientError) {
            stored = try await storage.store.load(storage.key, limit: options.restoredMessages)
            if let newest = stored?.newest, let seq = place.seq(readTo: newest.read),
                seq < newest.messages.first?.seq ?? 0
            {
                // The place is before the newest messages, so the messages around it are shown instead.
                let query = StoreQuery(.around(seq), limit: options.restoredMessages)
                stored?.newest = try await storage.store.messages(query, of: storage.key) ?? newest
            }
        } catch {
            return failStore(error)
        }
        guard ending == nil else { return }
        startRecord(stored)
        startTicking()
        if let stored { restore(stored) }
        scheduleFlush()
    }

    private func startRecord(_ stored: StoredRoom?) {
        var record = RoomRecord(me: userID)
        record.restore(stored)
        self.record = record
    }

    private func restore(_ stored: StoredRoom) {
        if let newest = stored.newest {
            // Without all messages after the mark they cannot be counted. If the count is unknown, the highest says so
            // until the server has answered.
            let unread = newest.hasAfter ? newest.unread ?? Int64(RoomSummary.countedUnread) : nil
            handle(
                .restore(
                    .init(
                        messages: newest.messages, hasBefore: newest.hasBefore, hasAfter: newest.hasAfter,
                        rev: newest.run.rev, epoch: newest.epoch, read: newest.read, unread: unread)))
        }
        send(stored.sends, landed: newest(stored))
        sendStoredMark(of: stored)
    }

    /// The ids of the user's messages among the stored ones.
    private func newest(_ stored: StoredRoom) -> Set<String> {
        Set((stored.newest?.messages ?? []).filter { $0.senderID == userID }.compactMap(\.clientMessageID))
    }

    private func send(_ sends: [StoredSend], landed: Set<String>) {
        for send in sends where !landed.contains(send.draft.clientMessageID) {
            let id = send.draft.clientMessageID
            outcomes.refusals[id] = send.refusal
            outcomes.begin(id)
            handle(.send(send.draft, at: send.at))
        }
    }

    // MARK: Failures

    /// Handles a failure of the store: reports it, and tries again later if that may help.
    private func failStore(_ error: BackscrollClientError) {
        if storeFailure == nil { options.onStoreFailure?(error) }
        storeFailure = error
        version += 1
        publishSoon()
        guard error.isTemporary else {
            storage = nil
            record = nil
            storing.unrecorded = []
            return
        }
        guard storing.retry == nil else { return }
        storing.failures += 1
        storing.retry = Task { [weak self, options, pause = options.pause(afterFailures: storing.failures)] in
            try? await options.clock.sleep(.seconds(pause))
            await self?.retryStore()
        }
    }

    private func retryStore() async {
        storing.retry = nil
        guard ending == nil, let storage else { return }
        if record == nil {
            let stored: StoredRoom?
            do throws(BackscrollClientError) {
                // The messages are loaded from the server already.
                stored = try await storage.store.load(storage.key, limit: 0)
            } catch {
                return failStore(error)
            }
            guard ending == nil, record == nil else { return }
            startRecord(stored)
            for send in storing.unrecorded where outcomes.open.contains(send.draft.clientMessageID) {
                record?.add(send.draft, at: send.at)
            }
            let known = Set(storing.unrecorded.map(\.draft.clientMessageID))
            storing.unrecorded = []
            if let stored { send(stored.sends, landed: known) }
            if mark.seq > mark.confirmed {
                record?.setUnsentMark(mark.seq)
            } else if let stored {
                sendStoredMark(of: stored)
            }
            let view = machine.view
            if let epoch = view.epoch, view.phase != .initial { recordSubscription(since: view.rev, epoch: epoch) }
        }
        await flush()
    }

    // MARK: Recording

    /// Records the changes of an event that the machine has handled.
    func record(_ event: RoomMachine.Event) {
        guard record != nil else { return }
        let view = machine.view
        if view.phase == .initial { record?.unfollow() }
        record?.setRead(view.read, unread: view.unread)
        switch event {
        case .frame(let frame):
            switch frame.content {
            case .message(let message) where view.connection != .offline: record?.addFrame(message)
            case .live(let rev?) where view.connection != .offline: record?.advance(to: rev)
            case .error(code: "cursor_unknown"): record?.forget()
            default: break
            }
        case .fetchFailed(_, let failure) where failure.status == 410:
            record?.forget()
        default:
            break
        }
        scheduleFlush()
    }

    /// Records a subscription to the frames since a revision.
    func recordSubscription(since: Int64, epoch: String) {
        guard record != nil else { return }
        let view = machine.view
        var messages: [ChatMessage] = []
        for case .message(let message, _) in view.rows.map(\.content) {
            // Own sends beyond a gap are shown below the window.
            if let last = messages.last, message.seq != last.seq + 1 { break }
            messages.append(message)
        }
        record?.follow(since: since, epoch: epoch, window: (messages, view.after != .end))
    }

    // MARK: Writing

    /// Schedules a write after ``ClientOptions/storeDelay``. It includes the changes that come until then.
    func scheduleFlush() {
        guard !storing.isScheduled, let record, !record.isEmpty else { return }
        storing.isScheduled = true
        Task {
            try? await options.clock.sleep(options.storeDelay)
            storing.isScheduled = false
            await flush()
        }
    }

    /// Writes all changes so far. Writes are made one after another.
    func flush() async {
        guard storage != nil, record != nil else { return }
        // The write has its own task, so that cancelling the caller does not stop it.
        let writing = Task { [previous = storing.writing] in
            await previous?.value
            await write()
        }
        storing.writing = writing
        await writing.value
    }

    private func write() async {
        // While the store is out, the next attempt writes all that has come until then.
        guard storing.retry == nil, let storage, let changes = record?.drainChanges(),
            !changes.isEmpty || storeFailure != nil
        else { return }
        do throws(BackscrollClientError) {
            try await storage.store.write(changes, to: storage.key)
            guard storeFailure != nil else { return }
            storeFailure = nil
            storing.failures = 0
            version += 1
            publishSoon()
        } catch {
            record?.putBack(changes)
            failStore(error)
        }
    }

    // MARK: Pages

    /// Returns a page before or after the window, if the store has it with all changes that the window has.
    func storedPage(_ query: RoomMachine.Query) async -> RoomMachine.Page? {
        guard let position = record?.position else { return nil }
        switch query.anchor {
        case .before(let seq):
            return await storedPage(StoreQuery(.before(seq), limit: query.limit, minimumRev: position))
        case .after(let seq):
            return await storedPage(StoreQuery(.after(seq), limit: query.limit, minimumRev: position))
        case .newest, .around, .aroundUnread, .aroundMention:
            return nil
        }
    }

    /// Returns a page from the store while the server cannot be reached.
    func storedPageOffline(_ query: RoomMachine.Query) async -> RoomMachine.Page? {
        // Beside a window the messages must have all changes that the window has.
        let minimumRev = machine.view.phase == .initial ? nil : record?.position
        switch query.anchor {
        case .newest:
            return await storedPage(StoreQuery(.newest, limit: query.limit, minimumRev: minimumRev))
        case .aroundUnread, .aroundMention:
            // A store does not know who is mentioned, so it shows the unread messages.
            return await storedPage(StoreQuery(.aroundUnread, limit: query.limit, minimumRev: minimumRev))
        case .around(let seq):
            return await storedPage(StoreQuery(.around(seq), limit: query.limit, minimumRev: minimumRev))
        case .before, .after:
            return nil
        }
    }

    private func storedPage(_ query: StoreQuery) async -> RoomMachine.Page? {
        await flush()
        guard let storage, record != nil, storeFailure == nil else { return nil }
        do throws(BackscrollClientError) {
            guard let found = try await storage.store.messages(query, of: storage.key) else { return nil }
            return try? RoomMachine.Page(
                messages: found.messages, hasBefore: found.hasBefore, hasAfter: found.hasAfter,
                head: found.messages.last?.seq ?? 0, rev: found.run.rev, epoch: found.epoch, read: found.read)
        } catch {
            failStore(error)
            return nil
        }
    }
}

extension Room.Place {
    /// The `seq` of the message that a window must have to open here; nil for the newest.
    fileprivate func seq(readTo mark: Int64?) -> Int64? {
        switch self {
        case .newest: nil
        case .read, .mention: mark.map { $0 + 1 }
        case .seq(let seq): seq
        }
    }
}
