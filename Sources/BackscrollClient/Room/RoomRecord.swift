import BackscrollTimeline

/// The changes of a room, from its pages and frames, that have not been written to its store yet.
///
/// The record has a position: the revision up to which the store has, or will get, all changes of the messages that it
/// keeps. Only frames raise it. A page that was read later is stored with the position as its revision. That is always
/// safe, because a replay since the position only brings some of the page's changes again.
struct RoomRecord: Sendable {
    /// Changes to write, oldest first.
    private var changes: [StoreChange] = []
    /// The frames since the last of ``changes``.
    private var frames: [Int64: ChatMessage] = [:]
    private var framesFrom: Int64 = 0
    /// The position; nil while the room has no window.
    private(set) var position: Int64?
    private(set) var epoch = ""
    /// The messages that came during fetches, which may be newer than the fetched pages.
    private var late: [Int64: ChatMessage] = [:]
    private var fetches = 0
    /// The stored sends.
    private var sends: Set<String> = []
    /// The user's mark, and the number of unread messages at the position. They are written last, because a page of
    /// another epoch drops the stored ones.
    private var read: Int64?
    private var unread: Int64?
    private var isMarkWritten = true
    /// The position with which the count was written last.
    private var countedAt: Int64?
    /// The epoch of the stored messages, once the changes are written.
    private var storedEpoch: String?
    private let me: String

    init(me: String) {
        self.me = me
    }

    /// True if there is nothing to write.
    var isEmpty: Bool { isMarkWritten && changes.isEmpty && frames.isEmpty && position ?? 0 == framesFrom }

    /// Returns the changes to write, and forgets them.
    mutating func drainChanges() -> [StoreChange] {
        endFrames()
        if let read, !isMarkWritten { changes.append(.read(read)) }
        // The count is of use only with the messages at the same position.
        if let unread, let position, !isMarkWritten || position != countedAt {
            changes.append(.unread(unread, rev: position))
            countedAt = position
        }
        isMarkWritten = true
        defer { changes = [] }
        return changes
    }

    /// Maximum number of messages to keep for a store that cannot be written. Beyond it the store forgets its messages,
    /// and loads them again later; sends and marks are always kept.
    static let maximumMessages = 10_000

    /// Takes back changes that could not be written.
    mutating func putBack(_ unwritten: [StoreChange]) {
        endFrames()
        changes = unwritten + changes
        guard changes.reduce(0, { $0 + $1.messageCount }) > Self.maximumMessages else { return }
        changes = [.forget] + changes.filter { $0.messageCount == 0 && !$0.concernsMessages }
        frames = [:]
        position = nil
        framesFrom = 0
        storedEpoch = nil
    }

    /// Begins with the content of the store.
    mutating func restore(_ stored: StoredRoom?) {
        changes.append(.opened)
        guard let stored else { return }
        sends.formUnion(stored.sends.map(\.draft.clientMessageID))
        read = stored.newest?.read
        storedEpoch = stored.newest?.epoch
        for message in stored.newest?.messages ?? [] { land(message) }
    }

    /// Begins to follow the frames of a subscription since a revision.
    ///
    /// - Parameter window: The shown messages, with all changes up to that revision, and true if the room has later
    ///   ones.
    mutating func follow(since: Int64, epoch: String, window: (messages: [ChatMessage], hasAfter: Bool)) {
        if let position, self.epoch == epoch {
            if position == since { return }
            endFrames()
            // A page that became the window was read after the position. The socket skips the changes in between.
            if let first = window.messages.first?.seq, let last = window.messages.last?.seq {
                let run = MessageRun(first: first, last: last, rev: since, hasAfter: window.hasAfter)
                changes.append(.page(run, epoch: epoch, window.messages))
            }
        }
        endFrames()
        self.epoch = epoch
        position = since
        framesFrom = since
    }

    /// Stops following, because the room has no window.
    mutating func unfollow() {
        guard position != nil else { return }
        endFrames()
        position = nil
        framesFrom = 0
    }

    /// Records a message of a frame.
    mutating func addFrame(_ message: ChatMessage) {
        land(message)
        guard let position else { return }
        keep(message)
        self.position = max(position, message.rev)
    }

    /// Records the revision that a replay has reached.
    mutating func advance(to rev: Int64) {
        guard let position else { return }
        self.position = max(position, rev)
    }

    private mutating func keep(_ message: ChatMessage) {
        if let known = frames[message.seq], known.rev >= message.rev { return }
        frames[message.seq] = message
        if fetches > 0 { late[message.seq] = message }
    }

    mutating func beginFetch() {
        fetches += 1
    }

    mutating func endFetch() {
        fetches -= 1
        if fetches == 0 { late.removeAll() }
    }

    /// Records a page of the server, before its fetch ends.
    mutating func addPage(_ page: RoomMachine.Page) {
        var messages = page.messages.map { message in
            land(message)
            guard let other = late[message.seq], other.rev > message.rev else { return message }
            return other
        }
        let first = messages.first?.seq ?? page.head + 1
        var last = messages.last?.seq ?? page.head
        // An empty page is stored only for an empty room. A late page may belong to an earlier history.
        if messages.isEmpty, page.head > 0 { return }
        if position != nil, page.epoch != epoch { return }
        if !page.hasAfter {
            // The page was the end of the room when it was read.
            while let next = late[last + 1] {
                messages.append(next)
                last += 1
            }
        }
        let hasAfter = page.hasAfter || late.keys.contains { $0 > last }
        let rev = position ?? page.rev
        if page.epoch != storedEpoch {
            storedEpoch = page.epoch
            isMarkWritten = read == nil
        }
        endFrames()
        changes.append(
            .page(MessageRun(first: first, last: last, rev: rev, hasAfter: hasAfter), epoch: page.epoch, messages))
    }

    /// Records a message of the answer to a request.
    mutating func addAnswer(_ message: ChatMessage) {
        land(message)
        guard position != nil else { return }
        if fetches > 0, late[message.seq].map({ $0.rev < message.rev }) ?? true { late[message.seq] = message }
        endFrames()
        changes.append(.snapshot(message))
    }

    /// Forgets the messages, because their history has ended or the user may no longer read them.
    mutating func forget() {
        frames = [:]
        late = [:]
        position = nil
        framesFrom = 0
        read = nil
        unread = nil
        isMarkWritten = true
        storedEpoch = nil
        changes.append(.forget)
    }

    mutating func setRead(_ seq: Int64?, unread count: Int64) {
        guard let seq, seq != read || count != unread else { return }
        read = seq
        unread = count
        isMarkWritten = false
    }

    mutating func setUnsentMark(_ seq: Int64?) {
        changes.append(.unsentMark(seq))
    }

    /// Adds a send, or moves it to the end.
    mutating func add(_ draft: ChatDraft, at: Int64) {
        sends.insert(draft.clientMessageID)
        changes.append(.send(StoredSend(draft: draft, at: at)))
    }

    mutating func refuse(_ id: String, code: String) {
        guard sends.contains(id) else { return }
        changes.append(.refused(clientMessageID: id, code: code))
    }

    mutating func remove(_ id: String) {
        guard sends.remove(id) != nil else { return }
        changes.append(.removeSend(clientMessageID: id))
    }

    /// Removes the stored send of this message, if there is one.
    private mutating func land(_ message: ChatMessage) {
        guard !sends.isEmpty, let id = message.clientMessageID, message.senderID == me else { return }
        remove(id)
    }

    private mutating func endFrames() {
        guard let position, !frames.isEmpty || position > framesFrom else { return }
        changes.append(
            .frames(
                from: framesFrom, to: position, epoch: epoch, frames.values.sorted { $0.seq < $1.seq }))
        frames = [:]
        framesFrom = position
    }
}

extension StoreChange {
    /// Number of messages in the change.
    fileprivate var messageCount: Int {
        switch self {
        case .page(_, _, let messages), .frames(_, _, _, let messages): messages.count
        case .snapshot: 1
        default: 0
        }
    }

    /// True if the change is nothing without the messages of others.
    fileprivate var concernsMessages: Bool {
        switch self {
        case .page, .frames, .snapshot, .forget: true
        default: false
        }
    }
}
