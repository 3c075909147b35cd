/// The list of the user's rooms as a value. It merges the server's list, look-ups of single rooms, and frames, and
/// decides which rooms must be looked up.
///
/// A frame has a message, but not the number of unread messages, so the list counts new messages itself. The count is
/// exact if the list has seen every change of the room since the server counted. Otherwise the room is ``stale``, and a
/// look-up makes its count exact again.
struct RoomList {
    /// Maximum number of messages of a room to keep while an answer about it is awaited. Further messages make it
    /// stale.
    static let keptMessages = 100

    /// The place of a room in the list: the latest first. The server's order is the same.
    private struct Rank: Comparable {
        var milliseconds: Int64
        /// The order of rooms without a message. Answers do not contain the time of their creation.
        var place = 0
        let room: String

        static func < (one: Rank, other: Rank) -> Bool {
            if one.milliseconds != other.milliseconds { return one.milliseconds > other.milliseconds }
            return (one.place, one.room) < (other.place, other.room)
        }
    }

    private struct Entry {
        var room: RoomSummary
        var rank: Rank
    }

    /// What came of a room while an answer was awaited. The answer may lack it.
    private struct Kept {
        var messages: [ChatMessage] = []
        /// The user's settings for what may disturb.
        var notify: NotifySettings?
        var lacksSome = false
    }

    /// A list that is being loaded.
    private struct Listing {
        /// The rooms so far.
        var ids: [String] = []
        /// Rooms that a request or a look-up has added meanwhile. The list may lack them.
        var further: Set<String> = []
        /// The time of the nearest message above the next room, and the number of rooms without a message below it.
        var above: Int64?
        var place = 0
        /// The rooms at the top that have no message.
        var leading: [String] = []
    }

    let me: String
    /// Maximum number of rooms.
    let limit: Int

    private var entries: [String: Entry] = [:]
    /// The rooms that must be looked up.
    private(set) var stale: Set<String> = []
    /// The rooms that are being looked up.
    private var lookedUp: Set<String> = []
    /// The list that is being loaded; nil if none is.
    private var listing: Listing?
    private var kept: [String: Kept] = [:]
    /// By room, the revision after which this socket reports every change.
    private var starts: [String: Int64] = [:]
    /// Rooms of this socket that the user is not a member of.
    private var others: Set<String> = []
    /// The users whose mentions do not count; nil if they are not known.
    private var blocked: BlockedUsers?
    /// True if the user has more rooms.
    private(set) var hasMore = false

    init(me: String, limit: Int) {
        self.me = me
        self.limit = limit
    }

    // MARK: What is shown

    /// The rooms, latest activity first.
    var rooms: [RoomSummary] {
        entries.values.sorted { $0.rank < $1.rank }.map(\.room)
    }

    func room(_ id: String) -> RoomSummary? { entries[id]?.room }

    /// The rooms by id, as a store keeps them.
    var stored: [String: StoredInboxRoom] {
        entries.mapValues { StoredInboxRoom(room: $0.room, latest: $0.rank.milliseconds, place: $0.rank.place) }
    }

    /// Adds the stored rooms, before any list is loaded.
    mutating func restore(_ rooms: [StoredInboxRoom]) {
        for stored in rooms {
            let rank = Rank(milliseconds: stored.latest, place: stored.place, room: stored.room.id)
            entries[stored.room.id] = Entry(room: stored.room, rank: rank)
        }
    }

    // MARK: Lists

    /// Forgets the state of an earlier socket.
    mutating func connected() {
        starts = [:]
        others = []
        kept = [:]
    }

    /// Begins to load the list.
    mutating func beginListing() {
        listing = Listing()
        hasMore = false
    }

    /// Adds the next part of the list. Returns false if no more rooms are needed.
    mutating func add(_ rooms: [RoomSummary]) -> Bool {
        guard var listing else { return false }
        // Without a second reference, the changes below need no copy. It is assigned again at the end.
        self.listing = nil
        let space = limit - listing.ids.count
        if rooms.count > space { hasMore = true }
        for room in rooms.prefix(space) {
            listing.ids.append(room.id)
            put(room)
            if let message = entries[room.id]?.room.lastMessage {
                // The rooms above it without a message were created later than that message.
                for (index, id) in listing.leading.enumerated() {
                    let place = index - listing.leading.count
                    entries[id]?.rank = Rank(milliseconds: message.createdMilliseconds, place: place, room: id)
                }
                listing.leading = []
                listing.above = message.createdMilliseconds
                listing.place = 0
                continue
            }
            listing.place += 1
            if listing.above == nil { listing.leading.append(room.id) }
            entries[room.id]?.rank = Rank(
                milliseconds: listing.above ?? 0, place: listing.place, room: room.id)
        }
        self.listing = listing
        return listing.ids.count < limit
    }

    /// Ends loading the list, and drops the rooms that it lacks. Rooms of this socket may have moved to the front
    /// meanwhile, so these are looked up instead.
    mutating func endListing(hasMore: Bool) {
        guard let listing else { return }
        self.listing = nil
        if hasMore { self.hasMore = true }
        let present = Set(listing.ids)
        for id in Set(entries.keys).union(starts.keys).union(kept.keys) where !present.contains(id) {
            if starts[id] != nil || kept[id] != nil || listing.further.contains(id) {
                if !others.contains(id) { stale.insert(id) }
            } else {
                remove(id)
            }
        }
        kept = kept.filter { lookedUp.contains($0.key) }
    }

    /// Gives up the list that is being loaded.
    mutating func abandonListing() {
        listing = nil
        kept = kept.filter { lookedUp.contains($0.key) }
    }

    // MARK: Look-ups

    /// Begins to look up a room.
    mutating func beginLookUp(_ id: String) {
        stale.remove(id)
        lookedUp.insert(id)
    }

    /// Adds the result of a look-up.
    mutating func endLookUp(_ room: RoomSummary, at now: Int64) {
        lookedUp.remove(room.id)
        put(room, at: now)
        if listing == nil { kept[room.id] = nil }
    }

    /// Handles the temporary failure of a look-up.
    mutating func failLookUp(_ id: String) {
        lookedUp.remove(id)
        stale.insert(id)
    }

    /// Adds or updates a room from the answer to a request, such as one that creates or joins the room.
    ///
    /// - Parameter now: The time in milliseconds since 1970. A new room without a message is placed at this time. If
    ///   this device's clock is wrong, the next list corrects the place.
    mutating func put(_ room: RoomSummary, at now: Int64 = 0) {
        var room = room
        let known = entries[room.id]
        guard room.role != nil else {
            remove(room.id)
            others.insert(room.id)
            return
        }
        others.remove(room.id)
        stale.remove(room.id)
        listing?.further.insert(room.id)
        if room.lastMessage == nil, room.head > 0, let known, known.room.epoch == room.epoch {
            room.lastMessage = known.room.lastMessage
        }
        let isNew = known == nil && room.lastMessage == nil
        var rank = known?.rank ?? Rank(milliseconds: 0, room: room.id)
        if isNew { rank.milliseconds = max(now, (entries.values.map(\.rank.milliseconds).max() ?? 0) + 1) }
        if let message = room.lastMessage { rank = Rank(milliseconds: message.createdMilliseconds, room: room.id) }
        entries[room.id] = Entry(room: room, rank: rank)
        if let kept = kept[room.id] {
            for message in kept.messages { apply(message) }
            if let notify = kept.notify { entries[room.id]?.room.notify = notify.isDefault ? nil : notify }
            if kept.lacksSome { stale.insert(room.id) }
        }
        if var known, known.room.epoch == room.epoch, known.room.rev > entries[room.id]!.room.rev {
            // Frames that are newer than the answer came before it.
            known.room.title = room.title
            known.room.visibility = room.visibility
            known.room.manners = room.manners
            known.room.role = room.role
            entries[room.id] = known
            moveMark(room.id, upTo: room.read)
            stale.insert(room.id)
        }
        if let start = starts[room.id], start > room.rev { stale.insert(room.id) }
    }

    /// Updates only a room's title, visibility and manners. Returns true if they have changed.
    mutating func updateSettings(_ room: RoomSummary) -> Bool {
        guard var known = entries[room.id]?.room, known.epoch == room.epoch else { return false }
        guard known.title != room.title || known.visibility != room.visibility || known.manners != room.manners else {
            return false
        }
        known.title = room.title
        known.visibility = room.visibility
        known.manners = room.manners
        entries[room.id]?.room = known
        return true
    }

    /// Drops a room that the user has left or may not read.
    mutating func remove(_ id: String) {
        entries[id] = nil
        stale.remove(id)
        kept[id] = nil
        starts[id] = nil
    }

    // MARK: Frames

    /// Records the start of a subscription that reports every change after `start`. Returns false if the room has
    /// another history than the known one.
    mutating func recordStart(of id: String, after start: Int64, epoch: String?) -> Bool {
        starts[id] = start
        guard let known = entries[id]?.room else {
            if listing == nil, !others.contains(id) { stale.insert(id) }
            return true
        }
        if let epoch, epoch != known.epoch { return false }
        if start > known.rev { stale.insert(id) }
        return true
    }

    /// Applies a new or changed message.
    mutating func receive(_ message: ChatMessage) {
        let id = message.room
        if listing != nil || lookedUp.contains(id) {
            if kept[id, default: Kept()].messages.count < Self.keptMessages {
                kept[id, default: Kept()].messages.append(message)
            } else {
                kept[id]?.lacksSome = true
            }
        }
        guard entries[id] != nil else {
            if listing == nil, !lookedUp.contains(id), !others.contains(id) { stale.insert(id) }
            return
        }
        apply(message)
    }

    private mutating func apply(_ message: ChatMessage) {
        let id = message.room
        guard var entry = entries[id], message.rev > entry.room.rev else { return }
        // A replay and a slow socket leave out changes that a later one includes; a deletion may be among them.
        if message.rev > entry.room.rev + 1 { stale.insert(id) }
        entry.room.rev = message.rev
        let isUnread = message.senderID != me && message.seq > entry.room.read
        let isMention = message.mentionsRoom || message.mentions.contains { $0.string.utf8.elementsEqual(me.utf8) }
        if message.seq > entry.room.head {
            entry.room.head = message.seq
            if isUnread, !message.isDeleted {
                entry.room.unread = min(entry.room.unread + 1, RoomSummary.countedUnread)
                if entry.room.firstUnread == nil { entry.room.firstUnread = message.seq }
                if isMention { countMention(&entry.room, message) }
            }
        } else if isUnread,
            message.isDeleted || (message.editedAt != nil && (isMention || entry.room.unreadMentions > 0))
        {
            // It was counted, unless it had been deleted before. An edit may have made it a mention, or have ended it.
            stale.insert(id)
        }
        if message.seq >= entry.room.lastMessage?.seq ?? 0 {
            entry.room.lastMessage = message
            entry.rank = Rank(milliseconds: message.createdMilliseconds, room: id)
        }
        entries[id] = entry
    }

    /// Counts a new mention. If the blocked users are not known, only the server can count.
    private mutating func countMention(_ room: inout RoomSummary, _ message: ChatMessage) {
        guard let blocked else {
            stale.insert(room.id)
            return
        }
        if blocked.contains(message.senderID) { return }
        room.unreadMentions = min(room.unreadMentions + 1, RoomSummary.countedUnread)
        if room.firstUnreadMention == nil { room.firstUnreadMention = message.seq }
    }

    /// Takes the blocked users. Unread mentions by users who were blocked, or are no longer, are counted again.
    mutating func setBlocked(_ users: BlockedUsers) {
        guard users != blocked else { return }
        let isFirst = blocked == nil
        blocked = users
        if isFirst { return }
        for (id, entry) in entries where entry.room.unread > 0 { stale.insert(id) }
    }

    /// Applies the user's settings for what may disturb in a room.
    mutating func setNotify(_ id: String, _ settings: NotifySettings) {
        if listing != nil || lookedUp.contains(id) { kept[id, default: Kept()].notify = settings }
        entries[id]?.room.notify = settings.isDefault ? nil : settings
    }

    /// Applies a notice that the user has read a room.
    mutating func moveMark(_ id: String, upTo seq: Int64) {
        guard var room = entries[id]?.room, seq > room.read else { return }
        room.read = seq
        if seq >= room.head {
            (room.unread, room.unreadMentions) = (0, 0)
            (room.firstUnread, room.firstUnreadMention) = (nil, nil)
        } else if let first = room.firstUnread, seq >= first {
            stale.insert(id)
        }
        entries[id]?.room = room
    }

    /// Returns the rooms with the oldest activity, oldest first.
    func oldest() -> [String] {
        entries.values.sorted { $1.rank < $0.rank }.map(\.room.id)
    }
}
