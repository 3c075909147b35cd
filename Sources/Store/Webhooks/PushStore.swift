public import Chat
public import Wire

/// The record of pushes to members of rooms, and of their badges.
///
/// The cursors of push events are rows of `webhook_rooms` under the webhook's ``Webhook/pushNumber``. A row of `pushed` says
/// up to which message a member got a push that is outstanding. A row of `pushed_badges` has the badge that a user was told,
/// until it is 0. Commits that may lower a badge (a read mark, a setting, a membership, a ban) add a row to `push_changes`.
public protocol PushStore: AnyObject {
    /// Returns what is new in a room; `nil` if the room was deleted.
    ///
    /// - Parameters:
    ///   - rev: The room's cursor.
    ///   - seq: The last message sent up to that revision; `nil` if it is not known yet.
    ///   - seen: The revision after which deletions are searched.
    ///   - look: The members to look at in a large room.
    func pushFacts(
        of room: RoomID, _ webhook: Webhook, since rev: Int64, after seq: Int64?, seen: Int64, _ look: LargeRoomLook,
        at time: Timestamp
    ) throws -> RoomPushes?
    /// Returns the room's revision after which the message after `seq` was sent.
    func pushRevision(of room: RoomID, through seq: Int64) throws -> Int64
    /// Returns what members of rooms have not read. Those who left, and those of deleted rooms, have no ``PushState/read``.
    func pushStates(of pairs: [PushPair], at time: Timestamp) throws -> [PushPair: PushState]
    /// Stores what was told, or is about to be.
    func store(_ changes: PushChanges, of webhook: Webhook) throws
    /// Takes what commits have added, at most 1,000 rows, and marks what it concerns of users who were told a badge.
    ///
    /// - Returns: The number of rows.
    func takePushChanges(of webhook: Webhook) throws -> Int
    /// Marks the rooms of users who were told a badge, and may not have read a message that was deleted.
    func markDeletion(through seq: Int64, in room: Int64, of webhook: Webhook) throws
    /// Returns what was marked, at most `limit` rows.
    func markedPushes(of webhook: Webhook, limit: Int) throws -> [MarkedPush]
}

extension Webhook {
    /// The number under which its push events have their cursors.
    public var pushNumber: Int64 { -number }
    /// The numbers under which commits list rooms for it: one for its push events, one for all other kinds.
    func cursors(ofDeletion isDeletion: Bool) -> [Int64] {
        let getsChange = isDeletion ? getsDeletions : events.contains(.message)
        return (getsChange ? [number] : []) + (events.contains(.push) ? [pushNumber] : [])
    }
}

/// The bounds of push events.
public enum PushBounds {
    /// Maximum number of recipients of a delivery.
    public static let recipients = 500
    /// Maximum number of messages of a room that are looked at together, and of changes.
    public static let messages = 1000
    /// Maximum number of members of a room in which not only mentions are pushed.
    public static let members = 10_000
    /// Number of members of a larger room that are looked at together, because a message mentions the room.
    public static let page = 1000
    /// The highest badge.
    public static let badge: Int64 = 1000
    /// Number of users whose badges are read together.
    static let users = 20
    /// Maximum number of rows of `push_changes` that are taken at once.
    static let changes = 1000
}

/// The members to look at in a room with more than ``PushBounds/members``, besides those whom a message mentions by name.
public struct LargeRoomLook: Sendable {
    /// Maximum number of members of other rooms, whose members are looked at all together.
    public var bound = PushBounds.members
    /// Number of members of a page.
    public var page = PushBounds.page
    /// A page of all members is read if a message after this one mentions the room.
    public var seq: Int64 = 0
    /// The last member of the page before; `nil` for the first page.
    public var member: UserID?
    /// Members to look at in any case.
    public var users: [UserID] = []

    /// Creates a look at the first page.
    public init() {}
}

/// The new messages of a room, with the facts about who is due for them.
public struct RoomPushes: Sendable {
    /// The room's number.
    public var number: Int64
    /// The facts of the decision.
    public var facts: PushFacts
    /// The `seq` up to which ``facts`` has the messages.
    public var end: Int64
    /// The room's highest `seq` and revision.
    public var state: RoomState
    /// The highest `seq` of a message that was deleted; 0 for none.
    public var deleted: Int64
    /// The revision up to which deletions were searched.
    public var seen: Int64
    /// The snapshots of the messages by their `seq`.
    public var snapshots: [Int64: [UInt8]]
    /// The page of a large room's members; `nil` if none was read.
    public var page: Page?

    /// A page of members.
    public struct Page: Sendable {
        /// The last one.
        public var end: UserID
        /// True if there are no further members.
        public var isLast: Bool
    }
}

/// A user and a room.
public struct PushPair: Sendable, Hashable {
    /// The user.
    public var user: UserID
    /// The room's number.
    public var room: Int64

    /// Creates a pair.
    public init(_ user: UserID, _ room: Int64) { (self.user, self.room) = (user, room) }
}

/// The unread messages of a user.
public struct PushState: Sendable, Hashable {
    /// The user's state in the room; `nil` if it does not count for the badge: the user is no member, may not read
    /// it, or has muted it.
    public var read: ReadState?
    /// The number of unread messages over all rooms but muted ones, at most ``PushBounds/badge``.
    public var badge: Int64
}

/// A room in which a user who was told a badge may have less unread than then.
public struct MarkedPush: Sendable, Hashable {
    /// The user and the room.
    public var pair: PushPair
    /// The room's id.
    public var id: RoomID
    /// The `seq` of the newest message that was pushed; 0 if nothing is outstanding.
    public var seq: Int64
    /// A number that rises with each mark.
    public var mark: Int64
    /// The badge that the user was told.
    public var badge: Int64
}

/// Changes of the record of pushes.
public struct PushChanges: Sendable {
    /// Badges that users are about to be told. They replace lower ones.
    public var badgesAhead: [(user: UserID, badge: Int64)] = []
    /// Badges that users were told.
    public var badges: [(user: UserID, badge: Int64)] = []
    /// Messages that were pushed.
    public var pushed: [(pair: PushPair, seq: Int64)] = []
    /// Marks that are settled, unless there is a newer one. Nothing is outstanding of those that are over.
    public var settled: [(push: MarkedPush, isOver: Bool)] = []

    /// Creates no changes.
    public init() {}

    /// True if there is nothing to store.
    public var isEmpty: Bool { badgesAhead.isEmpty && badges.isEmpty && pushed.isEmpty && settled.isEmpty }

    /// Adds other changes, which come later.
    public mutating func add(_ other: PushChanges) {
        badgesAhead += other.badgesAhead
        badges += other.badges
        pushed += other.pushed
        settled += other.settled
    }
}

extension WebhookAccess {
    func pushFacts(
        of room: RoomID, _ webhook: Webhook, since rev: Int64, after seq: Int64?, seen: Int64, _ look: LargeRoomLook,
        at time: Timestamp
    ) throws -> RoomPushes? {
        try read([room]) { view in
            guard let found = try view.room(room), !found.isDeleted else { return nil }
            let db = view.statements.db
            let first = try seq.map { $0 + 1 } ?? found.firstSeq(after: rev)
            let end = min(first + Int64(PushBounds.messages) - 1, found.state.head)
            var (messages, snapshots): ([Message], [Int64: [UInt8]]) = ([], [:])
            if first <= end {
                for message in try found.newest(from: first, before: end + 1, most: PushBounds.messages).reversed() {
                    guard let decoded = try? Message(decoding: message.body) else { continue }
                    messages.append(decoded)
                    snapshots[decoded.seq] = message.body
                }
            }
            var (deleted, changes): (Int64, Int) = (0, 0)
            let last = try found.forEachChange(since: seen) { _, snapshot in
                changes += 1
                if UnreadMessages.isTombstone(snapshot), let message = try? Message(decoding: snapshot) {
                    deleted = max(deleted, message.seq)
                }
                return changes < PushBounds.messages
            }
            var facts = PushFacts(messages: messages, members: [])
            facts.isDirect = found.direct != nil
            var page: RoomPushes.Page?
            if messages.contains(where: { !$0.deleted && !$0.content.silent }) {
                func members(_ first: UserID? = nil, _ last: UserID? = nil) throws -> [PushMember] {
                    try db.pushMembers(
                        of: found.number, from: first, through: last, webhook: webhook.number, before: end, at: time)
                }
                facts.isLarge = try db.hasMembers(found.number, moreThan: look.bound)
                if facts.isLarge {
                    var users = Set(look.users + messages.flatMap(\.content.mentions.users))
                    if messages.contains(where: {
                        $0.seq > look.seq && $0.content.mentions.room && !$0.content.silent
                    }) {
                        let next = try db.pushPage(of: found.number, after: look.member, limit: look.page)
                        if let first = next.first, let last = next.last {
                            facts.members = try members(first, last)
                            users.subtract(next)
                            page = RoomPushes.Page(end: last, isLast: next.count < look.page)
                        } else if let member = look.member {
                            page = RoomPushes.Page(end: member, isLast: true)
                        }
                    }
                    for user in users { facts.members += try members(user, user) }
                } else {
                    facts.members = try members()
                }
                for sender in Set(messages.map(\.sender)) { facts.blocks[sender] = try db.blocked(around: sender) }
            }
            return RoomPushes(
                number: found.number, facts: facts, end: end, state: found.state, deleted: deleted,
                seen: changes < PushBounds.messages ? found.state.rev : last, snapshots: snapshots, page: page)
        }
    }

    func pushRevision(of room: RoomID, through seq: Int64) throws -> Int64 {
        try read([room]) { view in
            guard let found = try view.room(room), !found.isDeleted else { return 0 }
            return seq < found.state.head ? try found.sentRevision(of: seq + 1) - 1 : found.state.rev
        }
    }

    func pushStates(of pairs: [PushPair], at time: Timestamp) throws -> [PushPair: PushState] {
        var states: [PushPair: PushState] = [:]
        let wanted = Dictionary(grouping: pairs, by: \.user).map { (user: $0, rooms: Set($1.map(\.room))) }
        for start in stride(from: 0, to: wanted.count, by: PushBounds.users) {
            let part = wanted[start..<min(start + PushBounds.users, wanted.count)]
            // A room that a user has joined since is left out, as if the query had come just before.
            var known: Set<RoomID>?
            try read(showing: { db in
                let rooms = Set(try part.flatMap { try db.pushRooms(of: $0.user, at: time).map(\.id) })
                known = rooms
                return Array(rooms)
            }) { view in
                let db = view.statements.db
                try db.sendAhead { for next in part { _ = try db.pushRooms(of: next.user, at: time) } }
                let own = try part.map { next in
                    try db.pushRooms(of: next.user, at: time).filter { known?.contains($0.id) ?? true }
                }
                try view.prepare(zip(part, own).map { ($0.user, $1.map { OwnRoom($0) }[...]) })
                for (next, rooms) in zip(part, own) {
                    var (badge, reads): (Int64, [Int64: ReadState]) = (0, [:])
                    for room in rooms where badge < PushBounds.badge || next.rooms.contains(room.number) {
                        guard let found = try view.room(room.id), !found.isDeleted else { continue }
                        let read = try found.readState(of: next.user)
                        badge = min(PushBounds.badge, badge + read.unread)
                        reads[room.number] = read
                    }
                    for room in next.rooms {
                        states[PushPair(next.user, room)] = PushState(read: reads[room], badge: badge)
                    }
                }
            }
        }
        return states
    }

    func store(_ changes: PushChanges, of webhook: Webhook) throws {
        if changes.isEmpty { return }
        let number = webhook.number
        try change(isOfListing: false) { db in
            // In one order. Only one node delivers, so nobody else changes these rows.
            for (user, badge) in changes.badgesAhead { try db.setBadge(badge, of: user, webhook: number, raises: true) }
            for (user, badge) in changes.badges { try db.setBadge(badge, of: user, webhook: number, raises: false) }
            for (pair, seq) in changes.pushed { try db.setPushed(seq, pair, webhook: number) }
            for (push, isOver) in changes.settled { try db.settle(push, isOver: isOver, webhook: number) }
        }
    }

    func takePushChanges(of webhook: Webhook) throws -> Int {
        let rows = try read { db in
            try db.all(
                "SELECT id, \"user\", room FROM push_changes WHERE webhook = $1 ORDER BY id LIMIT \(PushBounds.changes)",
                webhook.number
            ) { (id: $0.integer(0), pair: PushPair(UserID(trusted: $0.text(1)), $0.integer(2))) }
        }
        if rows.isEmpty { return 0 }
        try change(isOfListing: false) { db in
            for pair in Set(rows.map(\.pair)) { try db.markPush(pair, webhook: webhook.number) }
            for row in rows { try db.runSoon("DELETE FROM push_changes WHERE id = $1", row.id) }
        }
        return rows.count
    }

    func markDeletion(through seq: Int64, in room: Int64, of webhook: Webhook) throws {
        try change(isOfListing: false) { try $0.markDeletion(through: seq, in: room, webhook: webhook.number) }
    }

    func markedPushes(of webhook: Webhook, limit: Int) throws -> [MarkedPush] {
        try read { db in
            try db.all(
                """
                SELECT pushed."user", room, name, seq, marked, badge FROM pushed
                    JOIN rooms ON rooms.id = room
                    JOIN pushed_badges ON pushed_badges.webhook = pushed.webhook AND pushed_badges."user" = pushed."user"
                WHERE pushed.webhook = $1 AND marked > 0 ORDER BY pushed."user", room LIMIT $2
                """, webhook.number, limit
            ) { row in
                MarkedPush(
                    pair: PushPair(UserID(trusted: row.text(0)), row.integer(1)), id: RoomID(trusted: row.text(2)),
                    seq: row.integer(3), mark: row.integer(4), badge: row.integer(5))
            }
        }
    }
}

/// A room that counts for a user's badge.
private struct PushRoom {
    var number: Int64
    var id: RoomID
}

extension OwnRoom {
    /// Creates a room to prepare for reading.
    fileprivate init(_ room: PushRoom) {
        self.init(
            number: room.number, activity: InboxCursor.Activity(milliseconds: 0, room: room.id), isEngaged: false)
    }
}

extension SQLDatabase {
    /// Returns the condition that no ban keeps a user from reading a room at a time.
    private static func mayRead(_ user: String, in room: String, at time: String) -> String {
        """
        NOT EXISTS (SELECT 1 FROM bans WHERE bans.room IN (\(RowKey.server), \(room)) AND bans."user" = \(user)
            AND reads = 1 AND (bans.until IS NULL OR bans.until > \(time)))
        """
    }

    /// Returns the ids of a room's members, in their order.
    fileprivate func pushPage(of room: Int64, after user: UserID?, limit: Int) throws -> [UserID] {
        try all(
            "SELECT \"user\" FROM members WHERE room = $1 AND \"user\" > $2 ORDER BY \"user\" LIMIT $3", room,
            user?.string ?? "", limit
        ) { UserID(trusted: $0.text(0)) }
    }

    /// Returns the members of a room, all or those from one through another, who may have something due among the messages
    /// through `end`. Those who must not read the room, and those who have left a direct room, are left out.
    fileprivate func pushMembers(
        of room: Int64, from first: UserID?, through last: UserID?, webhook: Int64, before end: Int64,
        at time: Timestamp
    ) throws -> [PushMember] {
        try all(
            """
            SELECT members."user", coalesce(read_marks.seq, 0), coalesce(pushed.seq, 0), level, until, room_mentions
            FROM members
                LEFT JOIN pushed ON pushed.webhook = $1 AND pushed.room = members.room AND pushed."user" = members."user"
                LEFT JOIN read_marks ON read_marks."user" = members."user" AND read_marks.room = members.room
                LEFT JOIN notify ON notify."user" = members."user" AND notify.room = members.room
            WHERE members.room = $2 AND hidden = 0
                AND coalesce(read_marks.seq, 0) < $3 AND coalesce(pushed.seq, 0) < $3
                AND members."user" >= $4 AND members."user" <= $5
                AND \(Erasures.isPresent("members.\"user\"", in: "$2"))
                AND \(Self.mayRead("members.\"user\"", in: "$2", at: "$6"))
            ORDER BY members."user"
            """, webhook, room, end, first?.string ?? " ", last?.string ?? "\u{10FFFF}", time
        ) { row in
            PushMember(
                user: UserID(trusted: row.text(0)), mark: row.integer(1), pushed: row.integer(2),
                notify: NotifySettings(row, from: 3))
        }
    }

    /// Returns the users who block a user, and those whom the user blocks.
    fileprivate func blocked(around user: UserID) throws -> Set<UserID> {
        Set(
            try all(
                "SELECT \"user\" FROM blocks WHERE blocked = $1 UNION ALL SELECT blocked FROM blocks WHERE \"user\" = $1",
                user
            ) { UserID(trusted: $0.text(0)) })
    }

    /// Returns the rooms of a user that count for the badge: all in the user's list but muted ones. Bans from
    /// reading keep rooms out of the list.
    fileprivate func pushRooms(of user: UserID, at time: Timestamp) throws -> [PushRoom] {
        try all(
            """
            SELECT members.room, rooms.name
            FROM members JOIN rooms ON rooms.id = members.room AND rooms.deleted = 0
            WHERE members."user" = $1 AND hidden = 0 AND \(Erasures.isPresent("$1", in: "members.room"))
                AND \(Self.mayRead("$1", in: "members.room", at: "$2"))
                AND NOT EXISTS (SELECT 1 FROM notify WHERE notify."user" = $1 AND notify.room = members.room
                    AND level = '\(NotifySettings.Level.none.rawValue)' AND (until IS NULL OR until > $2))
            ORDER BY members.room
            """, user, time
        ) { PushRoom(number: $0.integer(0), id: RoomID(trusted: $0.text(1))) }
    }

    fileprivate func setBadge(_ badge: Int64, of user: UserID, webhook: Int64, raises: Bool) throws {
        if badge == 0 {
            if raises { return }
            return try runSoon("DELETE FROM pushed_badges WHERE webhook = $1 AND \"user\" = $2", webhook, user)
        }
        try runSoon(
            """
            INSERT INTO pushed_badges (webhook, "user", badge) VALUES ($1, $2, $3)
            ON CONFLICT (webhook, "user") DO UPDATE SET badge = excluded.badge
            \(raises ? "WHERE excluded.badge > pushed_badges.badge" : "")
            """, webhook, user, badge)
    }

    fileprivate func setPushed(_ seq: Int64, _ pair: PushPair, webhook: Int64) throws {
        try runSoon(
            """
            INSERT INTO pushed (webhook, room, "user", seq, marked) VALUES ($1, $2, $3, $4, 0)
            ON CONFLICT (webhook, room, "user") DO UPDATE SET seq = excluded.seq WHERE excluded.seq > pushed.seq
            """, webhook, pair.room, pair.user, seq)
    }

    /// Marks a room of a user who was told a badge; for a ban from the whole server all that were pushed.
    fileprivate func markPush(_ pair: PushPair, webhook: Int64) throws {
        if pair.room == RowKey.server {
            return try runSoon(
                "UPDATE pushed SET marked = marked + 1 WHERE webhook = $1 AND \"user\" = $2", webhook, pair.user)
        }
        try runSoon(
            """
            INSERT INTO pushed (webhook, room, "user", seq, marked)
            SELECT webhook, CAST($1 AS BIGINT), "user", 0, 1 FROM pushed_badges WHERE webhook = $2 AND "user" = $3
            ON CONFLICT (webhook, room, "user") DO UPDATE SET marked = pushed.marked + 1
            """, pair.room, webhook, pair.user)
    }

    fileprivate func markDeletion(through seq: Int64, in room: Int64, webhook: Int64) throws {
        try runSoon(
            """
            INSERT INTO pushed (webhook, room, "user", seq, marked)
            SELECT webhook, members.room, members."user", 0, 1
            FROM members JOIN pushed_badges ON pushed_badges."user" = members."user"
                LEFT JOIN read_marks ON read_marks."user" = members."user" AND read_marks.room = members.room
            WHERE webhook = $1 AND members.room = $2 AND coalesce(read_marks.seq, 0) < $3
            ON CONFLICT (webhook, room, "user") DO UPDATE SET marked = pushed.marked + 1
            """, webhook, room, seq)
    }

    fileprivate func settle(_ push: MarkedPush, isOver: Bool, webhook: Int64) throws {
        if isOver {
            try runSoon(
                "DELETE FROM pushed WHERE webhook = $1 AND room = $2 AND \"user\" = $3 AND marked = $4", webhook,
                push.pair.room, push.pair.user, push.mark)
        } else {
            try runSoon(
                "UPDATE pushed SET marked = 0 WHERE webhook = $1 AND room = $2 AND \"user\" = $3 AND marked = $4",
                webhook,
                push.pair.room, push.pair.user, push.mark)
        }
    }

    /// Removes what was pushed by a webhook that no longer exists, or no longer has push events.
    func removePushes(of webhook: Int64) throws {
        for table in ["pushed", "pushed_badges", "push_changes"] {
            try run("DELETE FROM \(table) WHERE webhook = $1", webhook)
        }
    }

    /// Removes what was pushed to a user.
    func removePushes(to user: UserID) throws {
        for table in ["pushed", "pushed_badges", "push_changes"] {
            try runSoon("DELETE FROM \(table) WHERE \"user\" = $1", user)
        }
    }
}
