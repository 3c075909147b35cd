import Wire

// The set of blocked users, kept current by the notices of the user's own devices.

extension BackscrollClient {
    /// The ids of the users whom this user blocks, in the order of their bytes; nil until ``followBlocks()`` has loaded
    /// them.
    public var blockedUsers: [String]? { blocks?.users }

    /// The blocked users after each change, from now on: first those that are known, then all of them with each change.
    /// A slow loop misses states, and never the last one. The sequence ends with the client.
    public var blockedUserChanges: AsyncStream<[String]> {
        let (stream, continuation) = AsyncStream.makeStream(of: [String].self, bufferingPolicy: .bufferingNewest(1))
        if let users = blockedUsers { continuation.yield(users) }
        if isClosed { continuation.finish() }
        blockListenerCount += 1
        let number = blockListenerCount
        blockListeners[number] = continuation
        continuation.onTermination = { [weak self] _ in Task { await self?.forgetBlockListener(number) } }
        return stream
    }

    /// Loads all blocked users, folds their messages in all rooms, and keeps ``blockedUsers`` current: by this client's
    /// calls, and, while the inbox is open, by notices of the user's other devices. They are loaded again with each
    /// connection of the inbox.
    ///
    /// - Returns: the blocked users.
    /// - Throws: a temporary error. The call can be repeated.
    @discardableResult
    public func followBlocks() async throws(BackscrollClientError) -> [String] {
        while true {
            let changes = blockChanges
            var loaded = BlockedUsers()
            var last: String?
            var hasMore = true
            while hasMore {
                let page = try await blocks(after: last, limit: Limits.blocks)
                for block in page.blocks { loaded.insert(block.userID) }
                last = page.blocks.last?.userID
                hasMore = page.hasMore && last != nil
            }
            // The answers may lack a change that was told meanwhile.
            guard changes == blockChanges else { continue }
            await show(loaded)
            return loaded.users
        }
    }

    /// Takes a change that the server has told, or that this client has made.
    func noteBlock(of user: String, _ isBlocked: Bool) async {
        blockChanges += 1
        guard var changed = blocks else { return }
        if isBlocked { changed.insert(user) } else { changed.remove(user) }
        await show(changed)
    }

    /// Loads the blocked users again, because changes may have been missed. If that fails, the next connection does.
    func renewBlocks() {
        guard blocks != nil else { return }
        Task { [weak self] in _ = try? await self?.followBlocks() }
    }

    private func show(_ changed: BlockedUsers) async {
        guard changed != blocks else { return }
        blocks = changed
        await following?.inbox?.setBlocked(changed)
        // Another change may have come meanwhile, and then has the last word.
        for room in openRooms.values { await room.room?.setBlocked(blockedUsers ?? []) }
        for listener in blockListeners.values { listener.yield(blockedUsers ?? []) }
    }

    private func forgetBlockListener(_ number: Int) {
        blockListeners[number] = nil
    }
}

/// A set of users. Ids are equal if their bytes are.
struct BlockedUsers: Hashable, Sendable {
    private var ids: Set<[UInt8]> = []

    /// The ids, in the order of their bytes.
    var users: [String] {
        ids.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    func contains(_ user: String) -> Bool { ids.contains(Array(user.utf8)) }

    mutating func insert(_ user: String) { ids.insert(Array(user.utf8)) }

    mutating func remove(_ user: String) { ids.remove(Array(user.utf8)) }
}
