/// The stored list of a user's rooms.
struct InboxStorage {
    let store: any ClientStore
    let account: StoreAccount
    /// The rooms as they were last written, by id.
    var saved: [String: StoredInboxRoom] = [:]
    /// The version of the inbox that was last written.
    var version = 0
}

/// Reading and writing the stored list.
extension Inbox {
    /// Reads the stored list; nil if there is none.
    func loadStored() async -> [StoredInboxRoom]? {
        guard let store = client.store, let me = rooms?.me, let account = await client.account(of: me) else {
            return nil
        }
        do throws(BackscrollClientError) {
            let stored = Array(try await store.inbox(of: account).prefix(options.inboxRooms))
            storage = InboxStorage(
                store: store, account: account, saved: Dictionary(stored.map { ($0.room.id, $0) }) { $1 })
            return stored.isEmpty ? nil : stored
        } catch {
            failStore(error)
            return nil
        }
    }

    /// Handles a failure of the store: reports it, and tries again later if that may help.
    private func failStore(_ error: BackscrollClientError) {
        storage = nil
        if storeFailure == nil { options.onStoreFailure?(error) }
        storeFailure = error
        changed()
        publishSoon()
        guard error.isTemporary, ending == nil, storeRetry == nil else { return }
        storeFailures += 1
        storeRetry = Task { [weak self, options, pause = options.pause(afterFailures: storeFailures)] in
            try? await options.clock.sleep(.seconds(pause))
            await self?.retryStore()
        }
    }

    private func retryStore() async {
        storeRetry = nil
        guard ending == nil, storage == nil else { return }
        let stored = await loadStored()
        guard ending == nil, storage != nil else { return }
        if let stored { show(stored) }
        // The next write then contains everything that differs from the list that was just read.
        storage?.version = 0
        await save()
        guard storage != nil else { return }
        storeFailure = nil
        storeFailures = 0
        changed()
        publishSoon()
    }

    /// Schedules a write after ``ClientOptions/storeDelay``. It includes the changes that come until then.
    func saveSoon() {
        guard storage != nil, !isSaveScheduled else { return }
        isSaveScheduled = true
        Task { [weak self, options] in
            try? await options.clock.sleep(options.storeDelay)
            await self?.saveScheduled()
        }
    }

    private func saveScheduled() async {
        isSaveScheduled = false
        await save()
    }

    /// Writes the rooms that have changed since the last write. Writes reach the store in the order of the calls.
    func save() async {
        guard let storage, let rooms, storage.version < version else { return }
        let stored = rooms.stored
        var changes: [InboxStoreChange] = []
        for id in storage.saved.keys where stored[id] == nil { changes.append(.remove(id)) }
        for (id, room) in stored where storage.saved[id] != room { changes.append(.put(room)) }
        self.storage?.saved = stored
        self.storage?.version = version
        if changes.isEmpty { return }
        do throws(BackscrollClientError) {
            try await storage.store.write(changes, toInboxOf: storage.account)
        } catch {
            failStore(error)
        }
    }
}
