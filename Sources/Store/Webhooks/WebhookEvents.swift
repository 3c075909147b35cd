public import Chat
public import Wire

/// An event of a room, or of the whole server, that a webhook's receiver lacks.
public struct PendingEvent: Sendable, Hashable {
    /// Its number, which rises in the room.
    public var number: Int64
    /// The room's revision when it happened.
    public var rev: Int64
    /// The time when it happened.
    public var at: Timestamp
    /// The change.
    public var event: LoggedEvent
}

extension Commit {
    /// Notes what a decision does, for webhooks. A deleted room has no further events.
    ///
    /// - Parameters:
    ///   - rev: The room's revision before the decision; `nil` for the one at the end of the commit.
    ///   - by: The user who made the change; `nil` for a part of an erasure.
    mutating func noteEvents(of writes: [Write], in room: RoomID?, at rev: Int64?, by: UserID?) {
        for event in LoggedEvent.of(writes, by: by) where eventKinds.contains(event.kind) {
            events.append(NotedEvent(room: room, rev: rev, event: event))
        }
    }

    /// Stores the noted events for the webhooks that want them. The rooms' locks are held, so the numbers of a room's events
    /// rise in the order of its commits.
    mutating func storeEvents(for webhooks: [Webhook]) throws {
        for noted in events {
            var (number, rev) = (RowKey.server, noted.rev ?? 0)
            var latest = rev
            if let id = noted.room {
                guard let room = try room(id) else { continue }
                (number, rev, latest) = (room.number, noted.rev ?? room.rev, room.rev)
            }
            for webhook in webhooks where webhook.events.contains(noted.event.kind) {
                guard webhook.covers(noted.room ?? .server) else { continue }
                try db.insertWebhookEvent(noted.event, of: webhook.number, in: number, rev: rev, at: time)
                // A room with new messages is listed already.
                try db.listWebhookRoom(number, of: webhook.number, since: latest, at: time)
            }
        }
    }
}

/// An event of a commit.
struct NotedEvent {
    let room: RoomID?
    let rev: Int64?
    let event: LoggedEvent
}

/// Statements about events that receivers lack.
extension SQLDatabase {
    func insertWebhookEvent(
        _ event: LoggedEvent, of webhook: Int64, in room: Int64, rev: Int64, at time: Timestamp
    ) throws {
        try runSoon(
            """
            INSERT INTO webhook_events (webhook, room, rev, at, kind, type, "user", "by", details)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
            """, webhook, room, rev, time, event.kind.rawValue, event.type, event.user, event.by,
            String(decoding: event.details, as: UTF8.self))
    }

    /// Returns the first event that a receiver lacks in a room.
    func webhookEvent(of webhook: Int64, in room: Int64, after number: Int64) throws -> PendingEvent? {
        try first(
            """
            SELECT id, rev, at, kind, type, "user", "by", details FROM webhook_events
            WHERE webhook = $1 AND room = $2 AND id > $3 ORDER BY id LIMIT 1
            """, webhook, room, number
        ) { row in
            func user(_ column: Int32) -> UserID? {
                row.isNull(column) ? nil : UserID(trusted: row.text(column))
            }
            return PendingEvent(
                number: row.integer(0), rev: row.integer(1), at: Timestamp(milliseconds: row.integer(2)),
                event: LoggedEvent(
                    WebhookEvent(rawValue: row.text(3)) ?? .room, row.text(4), of: user(5), by: user(6),
                    details: Array(row.text(7).utf8)))
        }
    }

    /// Removes the events of a room up to a number.
    func removeWebhookEvents(of webhook: Int64, in room: Int64, upTo number: Int64) throws {
        try runSoon(
            "DELETE FROM webhook_events WHERE webhook = $1 AND room = $2 AND id <= $3", webhook, room, number)
    }

    /// Removes the events of a webhook that are of other kinds.
    func removeWebhookEvents(of webhook: Int64, without kinds: [WebhookEvent]) throws {
        for kind in [WebhookEvent.room, .member, .report] where !kinds.contains(kind) {
            try runSoon("DELETE FROM webhook_events WHERE webhook = $1 AND kind = $2", webhook, kind.rawValue)
        }
    }

    func hasWebhookEvents(of webhook: Int64, in room: Int64) throws -> Bool {
        try first("SELECT 1 FROM webhook_events WHERE webhook = $1 AND room = $2 LIMIT 1", webhook, room) { _ in true }
            ?? false
    }

    /// Removes events of a user who is being erased that no receiver has got yet, and the user's name from others.
    func eraseName(fromWebhookEventsOf user: UserID) throws {
        try runSoon("DELETE FROM webhook_events WHERE \"user\" = $1", user)
        try runSoon("UPDATE webhook_events SET \"by\" = NULL WHERE \"by\" = $1", user)
    }
}
