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
            options.onStoreFailure?(error)
            return nil
        }
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
            self.storage = nil
            options.onStoreFailure?(error)
        }
    }
}
