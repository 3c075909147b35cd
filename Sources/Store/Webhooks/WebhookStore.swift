public import Chat
public import Wire

/// The webhooks of a log, the rooms that their receivers lack, and what is delivered of them.
///
/// Calls block, so a thread of its own makes them. They throw a ``Problem`` for what is refused, and another error if the
/// database fails, with nothing changed.
public protocol WebhookStore: PushStore {
    /// The epoch of the history.
    var epoch: String { get }
    /// True if this process delivers. Of several nodes the one with the caretaker's lock does.
    var isDeliverer: Bool { get }

    /// Returns all webhooks, by their ids.
    func webhooks() throws -> [Webhook]
    /// Returns what a webhook's receiver lacks.
    func backlog(of webhook: Int64) throws -> WebhookBacklog

    /// Creates or changes a webhook.
    ///
    /// - Parameter secret: The secret of a new webhook.
    /// - Returns: True if the webhook is new.
    func set(_ id: WebhookID, _ settings: WebhookSettings, secret: String, at time: Timestamp) throws -> Bool
    /// Deletes a webhook.
    func remove(_ id: WebhookID) throws
    /// Replaces the secrets of a webhook.
    func setSecrets(_ secrets: [Webhook.Secret], of id: WebhookID) throws
    /// Moves a room's cursor, so that what follows `rev` is delivered.
    ///
    /// A skip moves the cursors that are stopped at `rev`: that of messages, that of pushes, or both. If neither is, it
    /// moves that of messages if it is stopped before. In a deleted room it moves only what is stopped there, and a deletion
    /// that is refused there ends the room.
    ///
    /// - Parameter skips: True to move it only forward.
    /// - Throws: ``Problem/roomDeleted`` for a deleted room, unless a stop there is skipped.
    func moveCursor(of id: WebhookID, in room: RoomID, to rev: Int64, skips: Bool, at time: Timestamp) throws
    /// Moves the cursors back, so that messages stored at `since` or later are delivered again.
    ///
    /// - Parameter room: The room; `nil` for all rooms, which ``scan(_:at:)`` then searches.
    func replay(_ id: WebhookID, in room: RoomID?, since: Timestamp, at time: Timestamp) throws
    /// Searches the next rooms of a webhook's ``Webhook/scan``, at most 500.
    func scan(_ webhook: Webhook, at time: Timestamp) throws

    /// Removes events of a room that the receiver refuses, up to a number, and lets the room go on.
    ///
    /// - Parameter room: The room; `nil` for the events of the whole server.
    /// - Throws: ``Problem/roomDeleted`` for a deleted room that is not stopped.
    func skipEvents(of id: WebhookID, in room: RoomID?, upTo number: Int64) throws

    /// Returns the first event of a room after a number that a receiver lacks.
    func event(of webhook: Int64, in room: Int64, after number: Int64) throws -> PendingEvent?
    /// Returns rooms that a receiver lacks, by their numbers, without stopped ones and those that a scan has not reached.
    ///
    /// - Parameter room: The number after which they begin; 0 for the first ones.
    func behind(_ webhook: Webhook, after room: Int64, limit: Int) throws -> [BehindRoom]
    /// Returns what a delivery contains.
    ///
    /// - Parameter until: The last revision that it may contain; `nil` for no limit.
    func delivery(of room: RoomID, since: Int64, until: Int64?, bounds: DeliveryBounds) throws -> DeliveryContent
    /// Stores how far receivers have come, and deletes the rows of rooms of which they have everything.
    ///
    /// - Returns: A result for each.
    func advance(_ advances: [CursorAdvance]) throws -> [CursorAdvance.Result]
    /// Stops a room at a delivery that ends with a revision, or at an event.
    func stop(_ room: Int64, of webhook: Int64, at place: WebhookSkip.Place) throws
    /// Stores what deliveries have brought about, and the epoch that the receiver knows.
    func save(_ health: Webhook.Health, epoch: String, of webhook: Int64) throws
    /// Closes the connection.
    func close()
}

/// A room of which a receiver lacks changes.
public struct BehindRoom: Sendable, Hashable {
    /// Its number in the database.
    public var number: Int64
    /// Its id; ``Chat/RoomID/server`` for the events of the whole server.
    public var id: RoomID
    /// The receiver has everything up to this revision.
    public var rev: Int64
    /// The time of the oldest change that the receiver lacks, as far as it is known.
    public var since: Timestamp
    /// The room's latest revision if the row has it, with PostgreSQL; `nil` with SQLite.
    public var latest: Int64?
    /// The number of the latest event that the receiver lacks; 0 without one.
    public var event: Int64 = 0
    /// True if the room was deleted.
    public var isDeleted: Bool
}

/// The bounds of a delivery.
public struct DeliveryBounds: Sendable, Hashable {
    /// Maximum number of messages.
    public var messages = 100
    /// Maximum number of bytes of messages, unless one message is longer: 256 KiB.
    public var bytes = 256 * 1024

    /// Creates the default bounds.
    public init() {}
}

/// The content of a delivery.
public enum DeliveryContent: Sendable, Hashable {
    /// The room was deleted.
    case deleted
    /// Changed messages.
    case messages(DeliveredMessages)
}

/// Changed messages of a room.
public struct DeliveredMessages: Sendable, Hashable {
    /// The snapshots in ascending `rev`, joined by commas.
    public var messages: [UInt8] = []
    /// The number of messages.
    public var count = 0
    /// The revision up to which the receiver then has everything.
    public var rev: Int64
    /// True if more messages have changed.
    public var hasMore = false
    /// The time of the last message if more have changed; `nil` otherwise.
    public var last: Timestamp?
}

/// The progress of a receiver in a room.
public struct CursorAdvance: Sendable, Hashable {
    /// The result of storing a progress.
    public enum Result: Sendable, Hashable {
        /// The row is deleted, because the receiver has everything.
        case caughtUp
        /// The row has the new revision.
        case stored
        /// The row had another revision than `from`, or there is none. Nothing was changed.
        case moved
    }

    /// The number of the webhook.
    public var webhook: Int64
    /// The number of the room.
    public var room: Int64
    /// The room.
    public var id: RoomID
    /// The revision in the row.
    public var from: Int64
    /// The revision up to which the receiver has everything.
    public var rev: Int64
    /// The time of the oldest change that the receiver lacks then, as far as it is known.
    public var since: Timestamp
    /// True to delete the row in any case: the receiver knows that the room was deleted, or the webhook no longer covers
    /// it.
    public var isOver = false
    /// The number of the last event that the receiver has; 0 for none.
    public var event: Int64 = 0
    /// True if the webhook gets messages.
    public var isOfMessages = true
    /// True if the webhook gets events.
    public var isOfEvents = false

    /// Creates a progress.
    public init(
        webhook: Int64, room: Int64, id: RoomID, from: Int64, to rev: Int64, since: Timestamp, isOver: Bool = false
    ) {
        self.webhook = webhook
        self.room = room
        self.id = id
        self.from = from
        self.rev = rev
        self.since = since
        self.isOver = isOver
    }
}

/// The common part of both stores. Each has its connection, its transactions and its way to advance cursors.
protocol WebhookAccess: WebhookStore {
    associatedtype Reader: ReaderConnection

    /// An expression for the latest revision in the row of a room; NULL with SQLite.
    static var latest: String { get }
    /// A condition for rooms that may have messages at `$2` or later.
    static var mayHaveMessages: String { get }

    /// Reads outside of a transaction.
    func read<R>(_ body: (Reader.View.DB) throws -> R) throws -> R
    /// Reads rooms in one transaction.
    ///
    /// - Parameter rooms: Returns the rooms, if the store must know them before. PostgreSQL need not.
    func read<R>(showing rooms: (Reader.View.DB) throws -> [RoomID], _ body: (Reader.View) throws -> R) throws -> R
    /// Makes a change in a transaction of its own.
    ///
    /// - Parameter isOfListing: True if it changes which rooms later commits list.
    func change<R>(isOfListing: Bool, _ body: (Reader.View.DB) throws -> R) throws -> R
}

extension WebhookAccess {
    func read<R>(_ rooms: [RoomID], _ body: (Reader.View) throws -> R) throws -> R {
        try read(showing: { _ in rooms }, body)
    }

    func webhooks() throws -> [Webhook] { try read { try $0.webhooks() } }

    func backlog(of webhook: Int64) throws -> WebhookBacklog { try read { try $0.webhookBacklog(of: webhook) } }

    func set(_ id: WebhookID, _ settings: WebhookSettings, secret: String, at time: Timestamp) throws -> Bool {
        let epoch = epoch
        return try change(isOfListing: true) { db in
            if var known = try db.webhook(id) {
                known.url = settings.url ?? known.url
                known.rooms = settings.rooms ?? known.rooms
                known.events = settings.events ?? known.events
                known.isEnabled = settings.isEnabled ?? known.isEnabled
                if settings.isEnabled == true {
                    (known.health.pause, known.health.failingSince, known.health.nextAttempt) = (nil, nil, nil)
                }
                try db.updateWebhook(known)
                if settings.events != nil { try db.removeWebhookEvents(of: known.number, without: known.events) }
                if !known.deliversChanges { _ = try db.removeWebhookRooms(of: known.number, most: .max) }
                if !known.events.contains(.push) {
                    _ = try db.removeWebhookRooms(of: known.pushNumber, most: .max)
                    try db.removePushes(of: known.number)
                }
                return false
            }
            guard let url = settings.url else { throw Problem.invalidField("url", must: "given for a new webhook") }
            guard try db.webhooks().count < Limits.webhooks else { throw Problem.tooManyWebhooks }
            var webhook = Webhook(
                number: 0, id: id, version: 1, url: url, rooms: settings.rooms ?? [RoomPattern("*")!],
                events: settings.events ?? [.message], isEnabled: settings.isEnabled ?? true,
                secrets: [Webhook.Secret(secret)], createdAt: time, epoch: epoch)
            // Pushes begin with the next message in any case.
            if settings.start == .start, webhook.deliversChanges {
                webhook.scan = Webhook.Scan(since: Timestamp(milliseconds: 0))
            }
            try db.insertWebhook(webhook)
            return true
        }
    }

    func remove(_ id: WebhookID) throws {
        let webhook = try read { try $0.knownWebhook(id) }
        // In parts, so that no other change waits for long.
        for number in [webhook.number, webhook.pushNumber] {
            while try change(isOfListing: false, { try $0.removeWebhookRooms(of: number, most: 5000) > 0 }) {}
        }
        try change(isOfListing: true) { db in
            for number in [webhook.number, webhook.pushNumber] {
                while try db.removeWebhookRooms(of: number, most: 5000) > 0 {}
            }
            try db.removePushes(of: webhook.number)
            try db.run("DELETE FROM webhooks WHERE id = $1", webhook.number)
        }
    }

    func setSecrets(_ secrets: [Webhook.Secret], of id: WebhookID) throws {
        try change(isOfListing: false) { db in
            var webhook = try db.knownWebhook(id)
            webhook.secrets = secrets
            try db.updateWebhook(webhook)
        }
    }

    func moveCursor(of id: WebhookID, in room: RoomID, to rev: Int64, skips: Bool, at time: Timestamp) throws {
        let (number, latest, isDeleted) = try read([room]) { view in
            guard let found = try view.room(room) else { throw Problem.roomNotFound }
            return (found.number, found.state.rev, found.isDeleted)
        }
        guard skips || !isDeleted else { throw Problem.roomDeleted }
        // The revision of a deleted room may be gone with its messages.
        guard isDeleted || rev <= latest else {
            throw Problem.invalidField(skips ? "rev" : "since", must: "at most \(latest), the room's latest revision")
        }
        try change(isOfListing: false) { db in
            let webhook = try db.knownWebhook(id)
            guard isDeleted || webhook.covers(room) else {
                throw Problem.invalidField("room", must: "a room that the webhook covers")
            }
            try db.updateWebhook(webhook)
            if skips {
                if try db.skipStops(at: rev, in: number, isDeleted: isDeleted, of: webhook) > 0 { return }
                guard !isDeleted else { throw Problem.roomDeleted }
                try db.raiseCursor(of: webhook.number, in: number, to: rev)
            } else {
                guard webhook.deliversChanges else { throw Problem.pushesCannotBeReplayed }
                try db.lowerCursor(of: webhook.number, in: number, to: rev, at: time)
            }
        }
    }

    func skipEvents(of id: WebhookID, in room: RoomID?, upTo number: Int64) throws {
        var (place, isDeleted) = (RowKey.server, false)
        if let room {
            (place, isDeleted) = try read([room]) { view in
                guard let found = try view.room(room) else { throw Problem.roomNotFound }
                return (found.number, found.isDeleted)
            }
        }
        try change(isOfListing: false) { db in
            let webhook = try db.knownWebhook(id)
            try db.updateWebhook(webhook)
            try db.removeWebhookEvents(of: webhook.number, in: place, upTo: number)
            let count = try db.runCounting(
                "UPDATE webhook_rooms SET stopped = NULL WHERE webhook = $1 AND room = $2 AND stopped < 0",
                webhook.number, place)
            if isDeleted, count == 0 { throw Problem.roomDeleted }
        }
    }

    func event(of webhook: Int64, in room: Int64, after number: Int64) throws -> PendingEvent? {
        try read { try $0.webhookEvent(of: webhook, in: room, after: number) }
    }

    func replay(_ id: WebhookID, in room: RoomID?, since: Timestamp, at time: Timestamp) throws {
        guard let room else {
            return try change(isOfListing: false) { db in
                var webhook = try db.knownWebhook(id)
                guard webhook.deliversChanges else { throw Problem.pushesCannotBeReplayed }
                let earliest = webhook.scan.map { min($0.since, since) } ?? since
                webhook.scan = Webhook.Scan(since: earliest)
                try db.updateWebhook(webhook)
            }
        }
        let rev = try read([room]) { view in
            guard let found = try view.room(room) else { throw Problem.roomNotFound }
            guard !found.isDeleted else { throw Problem.roomDeleted }
            return try found.revision(before: since)
        }
        try moveCursor(of: id, in: room, to: rev, skips: false, at: time)
    }

    func scan(_ webhook: Webhook, at time: Timestamp) throws {
        guard let scan = webhook.scan else { return }
        let limit = 500
        let rooms = try read { db in
            try db.all(
                """
                SELECT id, name FROM rooms WHERE id > $1 AND deleted = 0 AND (\(Self.mayHaveMessages)) ORDER BY id LIMIT $3
                """, scan.room, scan.since, limit
            ) { (number: $0.integer(0), id: RoomID(trusted: $0.text(1))) }
        }
        let covered = rooms.filter { webhook.covers($0.id) }
        var lower: [(number: Int64, rev: Int64)] = covered.map { ($0.number, 0) }
        if scan.since.milliseconds > 0 {
            lower = try read(covered.map(\.id)) { view in
                try covered.compactMap { room in
                    guard let found = try view.room(room.id) else { return nil }
                    let rev = try found.revision(before: scan.since)
                    return rev < found.state.rev ? (room.number, rev) : nil
                }
            }
        }
        try change(isOfListing: false) { db in
            for (number, rev) in lower { try db.lowerCursor(of: webhook.number, in: number, to: rev, at: time) }
            try db.run(
                "UPDATE webhooks SET scan_room = $1 WHERE id = $2 AND version = $3",
                rooms.count < limit ? nil : rooms.last!.number, webhook.number, webhook.version)
        }
    }

    /// Returns the statement of ``behind(_:after:limit:)``. Without a room's name it is the server, whose number is 0.
    static func behindQuery(ofEvents: Bool) -> String {
        let event = """
            (SELECT max(webhook_events.id) FROM webhook_events
                WHERE webhook_events.webhook = webhook_rooms.webhook AND webhook_events.room = webhook_rooms.room)
            """
        return """
            SELECT webhook_rooms.room, rooms.name, webhook_rooms.rev, webhook_rooms.at, deleted, \(latest),
                \(ofEvents ? event : "NULL")
            FROM webhook_rooms LEFT JOIN rooms ON rooms.id = webhook_rooms.room
            WHERE webhook = $1 AND webhook_rooms.room > $2 AND webhook_rooms.room <= $3 AND stopped IS NULL
            ORDER BY webhook_rooms.room LIMIT $4
            """
    }

    func behind(_ webhook: Webhook, after room: Int64, limit: Int) throws -> [BehindRoom] {
        try read { db in
            try db.all(
                Self.behindQuery(ofEvents: webhook.getsEvents), webhook.number, room == 0 ? -1 : room,
                webhook.scan?.room ?? .max, limit
            ) { row in
                BehindRoom(
                    number: row.integer(0), id: row.isNull(1) ? .server : RoomID(trusted: row.text(1)),
                    rev: row.integer(2),
                    since: Timestamp(milliseconds: row.integer(3)), latest: row.isNull(5) ? nil : row.integer(5),
                    event: row.isNull(6) ? 0 : row.integer(6), isDeleted: !row.isNull(4) && row.integer(4) == 1)
            }
        }
    }

    func delivery(of room: RoomID, since: Int64, until: Int64?, bounds: DeliveryBounds) throws -> DeliveryContent {
        try read([room]) { view in
            guard let found = try view.room(room), !found.isDeleted else { return .deleted }
            var content = DeliveredMessages(rev: since)
            // The place of the last message.
            var newest = 0
            var isFull = false
            let end = try found.forEachChange(since: since) { rev, snapshot in
                let isLonger = content.messages.count + snapshot.count > bounds.bytes
                guard rev <= until ?? .max, content.count < bounds.messages, content.count == 0 || !isLonger else {
                    isFull = true
                    return false
                }
                if content.count > 0 { content.messages.append(UInt8(ascii: ",")) }
                newest = content.messages.count
                // The pointer is used only inside the closure, while the span's owner is alive.
                snapshot.withUnsafeBufferPointer { content.messages.append(contentsOf: $0) }
                content.count += 1
                content.rev = rev
                return true
            }
            // Expiry may have removed the messages of the last revisions.
            if !isFull { content.rev = max(content.rev, end, found.state.rev) }
            // The messages of a delivery that is tried again may all have changed again.
            if let until, isFull, content.rev < until { content.rev = until }
            content.hasMore = content.rev < found.state.rev
            if content.hasMore { content.last = try? Message(decoding: Array(content.messages[newest...])).createdAt }
            return .messages(content)
        }
    }

    func stop(_ room: Int64, of webhook: Int64, at place: WebhookSkip.Place) throws {
        let stopped: Int64 =
            switch place {
            case .rev(let rev): rev
            case .event(let number): -number
            }
        try change(isOfListing: false) { db in
            try db.run(
                "UPDATE webhook_rooms SET stopped = $1 WHERE webhook = $2 AND room = $3", stopped, webhook, room)
        }
    }

    func save(_ health: Webhook.Health, epoch: String, of webhook: Int64) throws {
        try change(isOfListing: false) { try $0.saveHealth(health, epoch: epoch, of: webhook) }
    }
}

extension Problem {
    fileprivate static var pushesCannotBeReplayed: Problem {
        .invalidField("since", must: "absent: this webhook has only push events, which are not replayed")
    }
}

extension RoomView {
    /// Returns the revision before that of the first message stored at `time` or later; the latest one if there is none.
    fileprivate func revision(before time: Timestamp) throws -> Int64 {
        let first = try firstSeq(at: time)
        if first <= 1 { return 0 }
        guard first <= state.head else { return state.rev }
        // The message before it was sent with a lower revision, and each message takes at least one.
        return try sentRevision(of: first) - 1
    }
}
