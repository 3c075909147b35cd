/// A store of a client's messages, sends and list of rooms. A room shows its stored messages as soon as it is opened,
/// also offline, and messages that the user sends survive the end of the app.
///
/// The product `BackscrollClientStore` has a store in an SQLite file: `store: .file(path)`. One store may serve several
/// clients, users and servers at a time; no account sees the data of another.
///
/// A client calls it from any isolation, with one ``write(_:to:)`` for many changes. If a call fails, the room
/// continues without the store, and calls ``ClientOptions/onStoreFailure``. After an error that is temporary it tries the
/// same changes again.
public protocol ClientStore: Sendable {
    /// Returns the stored part of a room; nil if nothing is stored.
    ///
    /// - Parameters:
    ///   - room: The room.
    ///   - limit: Maximum number of messages: the newest of the newest run.
    func load(_ room: StoredRoomKey, limit: Int) async throws(BackscrollClientError) -> StoredRoom?

    /// Applies changes in their order, all or none. When it returns, they survive the end of the process.
    func write(_ changes: [StoreChange], to room: StoredRoomKey) async throws(BackscrollClientError)

    /// Returns neighboring messages of one run; nil if they are not stored.
    func messages(_ query: StoreQuery, of room: StoredRoomKey) async throws(BackscrollClientError) -> StoredMessages?

    /// Returns the ids of the rooms with sends that the server has neither confirmed nor refused, oldest send first.
    func roomsWithSends(of account: StoreAccount) async throws(BackscrollClientError) -> [String]

    /// Returns the stored list of the user's rooms, in any order; empty if none is stored.
    func inbox(of account: StoreAccount) async throws(BackscrollClientError) -> [StoredInboxRoom]

    /// Applies changes of the list of the user's rooms in their order, all or none.
    func write(_ changes: [InboxStoreChange], toInboxOf account: StoreAccount) async throws(BackscrollClientError)
}

/// A user of a server.
public struct StoreAccount: Hashable, Sendable {
    /// The server's URL, without a slash at the end.
    public let server: String
    /// The user's id.
    public let user: String

    /// Creates an account.
    public init(server: String, user: String) {
        self.server = server
        self.user = user
    }
}

/// A room, as a user of a server sees it.
public struct StoredRoomKey: Hashable, Sendable {
    /// The user and the server.
    public let account: StoreAccount
    /// The room's id.
    public let room: String

    /// Creates a key.
    public init(account: StoreAccount, room: String) {
        self.account = account
        self.room = room
    }
}

/// A message that the user sent and that the server has not confirmed.
public struct StoredSend: Hashable, Sendable {
    /// The message.
    public let draft: ChatDraft
    /// The time of the send, in milliseconds since 1970.
    public let at: Int64
    /// The code of the server's refusal; nil while the message is to be posted.
    public var refusal: String?

    /// Creates a send.
    public init(draft: ChatDraft, at: Int64, refusal: String? = nil) {
        self.draft = draft
        self.at = at
        self.refusal = refusal
    }
}

/// Neighboring messages from one run of a store.
public struct StoredMessages: Sendable {
    /// The messages in ascending `seq`, without gaps.
    public var messages: [ChatMessage]
    /// The run that they are part of.
    public var run: MessageRun
    /// The history that the run's `rev` belongs to.
    public var epoch: String
    /// The user's read mark; nil if it is unknown.
    public var read: Int64?
    /// The number of unread messages at the revision of ``run``; nil if it is unknown.
    public var unread: Int64?

    /// Creates a result.
    public init(messages: [ChatMessage], run: MessageRun, epoch: String, read: Int64?, unread: Int64? = nil) {
        self.messages = messages
        self.run = run
        self.epoch = epoch
        self.read = read
        self.unread = unread
    }

    /// True if the room has messages before these.
    var hasBefore: Bool { (messages.first?.seq ?? run.first) > 1 }
    /// True if the room has messages after these that a replay since the run's `rev` does not bring.
    var hasAfter: Bool { run.hasAfter || (messages.last?.seq ?? run.last) < run.last }
}

/// The stored part of a room.
public struct StoredRoom: Sendable {
    /// The newest messages of the newest run; nil if no messages are stored.
    public var newest: StoredMessages?
    /// A read mark that the server has not confirmed; nil if there is none.
    public var unsentMark: Int64?
    /// The messages that the server has not confirmed, in the order in which they were sent.
    public var sends: [StoredSend]
    /// The history that ``unsentMark`` belongs to; nil if it is unknown.
    public var epoch: String?

    /// Creates a result.
    ///
    /// - Parameter epoch: The stored history; nil for that of `newest`.
    public init(newest: StoredMessages?, unsentMark: Int64?, sends: [StoredSend], epoch: String? = nil) {
        self.newest = newest
        self.unsentMark = unsentMark
        self.sends = sends
        self.epoch = epoch ?? newest?.epoch
    }
}

/// A room of the user's list, with its place.
public struct StoredInboxRoom: Hashable, Sendable {
    /// The room.
    public let room: RoomSummary
    /// The latest activity in milliseconds since 1970: the list begins with the highest.
    public let latest: Int64
    /// The order of rooms with the same ``latest``, the lowest first.
    public let place: Int

    /// Creates an entry.
    public init(room: RoomSummary, latest: Int64, place: Int) {
        self.room = room
        self.latest = latest
        self.place = place
    }
}

/// A change of the stored list of a user's rooms.
public enum InboxStoreChange: Sendable {
    /// Adds a room, or replaces the one with the same id.
    case put(StoredInboxRoom)
    /// Removes the room with this id.
    case remove(String)
}

/// A request for messages of one run.
public struct StoreQuery: Hashable, Sendable {
    /// The messages.
    public enum Anchor: Hashable, Sendable {
        /// The messages before a `seq`. The run has this message, or the one before it.
        case before(Int64)
        /// The messages after a `seq`, which the run has.
        case after(Int64)
        /// The messages around a `seq`, which the run has.
        case around(Int64)
        /// The messages around the first one after the user's read mark; the newest if no run has that one.
        case aroundUnread
        /// The newest of the newest run.
        case newest
    }

    /// The messages.
    public var anchor: Anchor
    /// Maximum number of messages.
    public var limit: Int
    /// Minimum revision of the run; nil for any.
    public var minimumRev: Int64?

    /// Creates a request.
    public init(_ anchor: Anchor, limit: Int, minimumRev: Int64? = nil) {
        self.anchor = anchor
        self.limit = limit
        self.minimumRev = minimumRev
    }

    /// Returns the run with the requested messages, and their `seq`s, given all runs of the room; nil if they are not
    /// stored. The range is empty for an empty room only.
    public func find(in runs: MessageRuns, read: Int64?) -> (run: MessageRun, seqs: Range<Int64>)? {
        let count = Int64(limit)
        let run: MessageRun?
        var first: Int64
        switch anchor {
        case .before(let seq):
            run = runs.run(containing: seq - 1)
            first = seq - count
            return result(run, first, seq - 1)
        case .after(let seq):
            run = runs.run(containing: seq)
            return result(run, seq + 1, seq + count)
        case .around(let seq):
            run = runs.run(containing: seq)
            first = seq - count / 2
        case .aroundUnread:
            guard let read, let found = runs.run(containing: read + 1) ?? runs.run(containing: read) else {
                return StoreQuery(.newest, limit: limit, minimumRev: minimumRev).find(in: runs, read: nil)
            }
            run = found
            first = read + 1 - count / 2
        case .newest:
            run = runs.newest
            first = .max
        }
        guard let run, count > 0 else { return nil }
        // At an end of the run the page has more on the other side.
        first = max(run.first, min(first, run.last - count + 1))
        if run.count < 1 { return run.rev >= minimumRev ?? 0 ? (run, run.first..<run.first) : nil }
        return result(run, first, first + count - 1)
    }

    private func result(
        _ run: MessageRun?, _ first: Int64, _ last: Int64
    ) -> (run: MessageRun, seqs: Range<Int64>)? {
        guard let run, run.rev >= minimumRev ?? 0 else { return nil }
        let first = max(first, run.first)
        let last = min(last, run.last)
        return first <= last ? (run, first..<last + 1) : nil
    }
}

/// A change of the stored part of a room.
public enum StoreChange: Sendable {
    /// The user has opened the room. Messages of the rooms that were opened longest ago are evicted first.
    case opened
    /// Adds the messages of a page, which are all messages of the run. If the epoch is not the stored one, all other
    /// data of the room is dropped first, except for the sends.
    case page(MessageRun, epoch: String, [ChatMessage])
    /// Applies ``MessageRuns/advance(from:to:messages:)``. Has no effect under another epoch than the stored one.
    case frames(from: Int64, to: Int64, epoch: String, [ChatMessage])
    /// Applies ``MessageRuns/append(_:rev:)`` to a snapshot from the answer to a request.
    case snapshot(ChatMessage)
    /// Drops the messages and the marks, and keeps the sends.
    case forget
    /// Sets the user's read mark.
    case read(Int64)
    /// Sets the number of unread messages, as counted at a revision.
    case unread(Int64, rev: Int64)
    /// Sets the read mark to send to the server; nil once the server has it.
    case unsentMark(Int64?)
    /// Adds a send at the end. One with the same id moves there.
    case send(StoredSend)
    /// Notes the code of the server's refusal of the send with this id.
    case refused(clientMessageID: String, code: String)
    /// Removes the send with this id.
    case removeSend(clientMessageID: String)
}
