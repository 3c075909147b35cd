import Chat
import Wire

/// Statements about webhooks.
extension SQLDatabase {
    func webhooks() throws -> [Webhook] {
        try all("SELECT \(Webhook.columns) FROM webhooks ORDER BY name") { Webhook($0) }
    }

    func webhook(_ id: WebhookID) throws -> Webhook? {
        try first("SELECT \(Webhook.columns) FROM webhooks WHERE name = $1", id.string) { Webhook($0) }
    }

    /// Returns a webhook.
    ///
    /// - Throws: ``Problem/webhookNotFound``.
    func knownWebhook(_ id: WebhookID) throws -> Webhook {
        guard let webhook = try webhook(id) else { throw Problem.webhookNotFound }
        return webhook
    }

    func insertWebhook(_ webhook: Webhook) throws {
        try run(
            """
            INSERT INTO webhooks (name, version, url, rooms, events, secrets, enabled, created_at, epoch, scan_room, scan_since)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
            """, webhook.id.string, webhook.version, webhook.url, Webhook.text(webhook.rooms.map(\.string)),
            Webhook.text(webhook.events.map(\.rawValue)), Webhook.text(webhook.secrets), webhook.isEnabled,
            webhook.createdAt, webhook.epoch, webhook.scan?.room, webhook.scan?.since)
    }

    /// Stores what an admin has changed, and raises the version.
    func updateWebhook(_ webhook: Webhook) throws {
        try run(
            """
            UPDATE webhooks SET version = version + 1, url = $1, rooms = $2, events = $3, secrets = $4, enabled = $5,
                pause = $6, failing_since = $7, next_attempt = $8, scan_room = $9, scan_since = $10
            WHERE id = $11
            """, webhook.url, Webhook.text(webhook.rooms.map(\.string)),
            Webhook.text(webhook.events.map(\.rawValue)), Webhook.text(webhook.secrets), webhook.isEnabled,
            webhook.health.pause?.rawValue, webhook.health.failingSince, webhook.health.nextAttempt,
            webhook.scan?.room, webhook.scan?.since, webhook.number)
    }

    func saveHealth(_ health: Webhook.Health, epoch: String, of webhook: Int64) throws {
        try run(
            """
            UPDATE webhooks SET pause = $1, failing_since = $2, error_at = $3, error_status = $4, error_detail = $5,
                next_attempt = $6, epoch = $7
            WHERE id = $8
            """, health.pause?.rawValue, health.failingSince, health.failure?.at,
            health.failure?.status.map(Int64.init), health.failure?.detail, health.nextAttempt, epoch, webhook)
    }

    /// Removes rows of rooms and of events, at most `most` of each.
    ///
    /// - Returns: Their number.
    func removeWebhookRooms(of webhook: Int64, most: Int) throws -> Int {
        try runCounting(
            """
            DELETE FROM webhook_rooms WHERE webhook = $1
                AND room IN (SELECT room FROM webhook_rooms WHERE webhook = $1 LIMIT $2)
            """, webhook, most)
            + runCounting(
                """
                DELETE FROM webhook_events WHERE id IN (SELECT id FROM webhook_events WHERE webhook = $1 LIMIT $2)
                """, webhook, most)
    }

    /// Moves a room's cursor back to a revision, and lets a stopped room go on.
    func lowerCursor(of webhook: Int64, in room: Int64, to rev: Int64, at time: Timestamp) throws {
        try runSoon(
            """
            INSERT INTO webhook_rooms (webhook, room, rev, at) VALUES ($1, $2, $3, $4)
            ON CONFLICT (webhook, room) DO UPDATE SET stopped = NULL,
                rev = CASE WHEN excluded.rev < webhook_rooms.rev THEN excluded.rev ELSE webhook_rooms.rev END
            """, webhook, room, rev, time)
    }

    /// Lets a webhook go on in a room after what it refuses at a revision: messages, pushes, or the room's deletion.
    ///
    /// - Returns: The number of stops that were there.
    func skipStops(at rev: Int64, in room: Int64, isDeleted: Bool, of webhook: Webhook) throws -> Int {
        var count = 0
        if isDeleted {
            // A deletion is refused where the cursor is, messages beyond it. Nothing follows a deletion.
            count = try runCounting(
                """
                DELETE FROM webhook_rooms WHERE webhook IN ($1, $2) AND room = $3 AND stopped = $4 AND rev >= $4
                """, webhook.number, webhook.pushNumber, room, rev)
        }
        count += try runCounting(
            """
            UPDATE webhook_rooms SET rev = CASE WHEN rev < $1 THEN $1 ELSE rev END, stopped = NULL
            WHERE webhook IN ($2, $3) AND room = $4 AND stopped = $1
            """, rev, webhook.number, webhook.pushNumber, room)
        return count
    }

    /// Lets a room whose messages are stopped before a revision go on after it. The numbers of stopped events are negative.
    func raiseCursor(of webhook: Int64, in room: Int64, to rev: Int64) throws {
        try run(
            """
            UPDATE webhook_rooms SET rev = CASE WHEN rev < $1 THEN $1 ELSE rev END, stopped = NULL
            WHERE webhook = $2 AND room = $3 AND stopped BETWEEN 0 AND $1
            """, rev, webhook, room)
    }

    /// Lists a room that a commit has changed, unless it is listed.
    func listWebhookRoom(_ room: Int64, of webhook: Int64, since rev: Int64, at time: Timestamp) throws {
        try run(
            "INSERT INTO webhook_rooms (webhook, room, rev, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
            webhook, room, rev, time)
    }

    /// Returns what a webhook's receiver lacks; push events have rows under a number of their own.
    func webhookBacklog(of webhook: Int64) throws -> WebhookBacklog {
        var backlog =
            try first(
                """
                SELECT count(*), min(at) FROM (
                    SELECT at FROM webhook_rooms WHERE webhook IN ($1, $2) LIMIT $3
                ) AS behind
                """, webhook, -webhook, WebhookBacklog.maximumCount
            ) { row in
                WebhookBacklog(
                    rooms: row.integer(0),
                    since: row.isNull(1) ? nil : Timestamp(milliseconds: row.integer(1)))
            } ?? WebhookBacklog()
        backlog.stopped = try all(
            """
            SELECT DISTINCT room, name, stopped FROM webhook_rooms LEFT JOIN rooms ON rooms.id = room
            WHERE webhook IN ($1, $2) AND stopped IS NOT NULL
            ORDER BY room, stopped LIMIT $3
            """, webhook, -webhook, WebhookBacklog.maximumStopped
        ) { row in
            let stopped = row.integer(2)
            return WebhookBacklog.Stopped(
                room: row.isNull(1) ? nil : RoomID(trusted: row.text(1)),
                at: stopped < 0 ? .event(-stopped) : .rev(stopped))
        }
        return backlog
    }
}

extension SQLDatabase {
    /// Stores a receiver's progress in a room.
    ///
    /// - Parameter latest: The room's latest revision, if no commit can change the room before this one ends.
    func store(_ advance: CursorAdvance, latest: Int64?) throws -> CursorAdvance.Result {
        if advance.event > 0 || advance.isOver {
            try removeWebhookEvents(
                of: advance.webhook, in: advance.room, upTo: advance.isOver ? .max : advance.event)
        }
        var isCaughtUp = advance.isOver
        if !isCaughtUp, let latest, latest == advance.rev || !advance.isOfMessages {
            isCaughtUp = try !advance.isOfEvents || !hasWebhookEvents(of: advance.webhook, in: advance.room)
        }
        if isCaughtUp {
            let count = try runCounting(
                "DELETE FROM webhook_rooms WHERE webhook = $1 AND room = $2 AND rev = $3", advance.webhook,
                advance.room,
                advance.from)
            return count > 0 ? .caughtUp : .moved
        }
        let count = try runCounting(
            """
            UPDATE webhook_rooms SET rev = $1, at = $2, stopped = NULL WHERE webhook = $3 AND room = $4 AND rev = $5
            """, advance.rev, advance.since, advance.webhook, advance.room, advance.from)
        return count > 0 ? .stored : .moved
    }
}

extension Webhook {
    /// The columns of ``init(_:)``.
    fileprivate static let columns = """
        id, name, version, url, rooms, events, secrets, enabled, created_at, epoch, pause, failing_since, error_at, \
        error_status, error_detail, next_attempt, scan_room, scan_since
        """

    fileprivate init(_ row: some SQLStatement) {
        func time(_ column: Int32) -> Timestamp? {
            row.isNull(column) ? nil : Timestamp(milliseconds: row.integer(column))
        }
        func words(_ column: Int32) -> [String] { row.text(column).split(separator: " ").map(String.init) }
        self.init(
            number: row.integer(0), id: WebhookID(trusted: row.text(1)), version: row.integer(2), url: row.text(3),
            rooms: words(4).compactMap(RoomPattern.init), events: words(5).compactMap(WebhookEvent.init),
            isEnabled: row.integer(7) == 1, secrets: words(6).map(Secret.init(stored:)),
            createdAt: Timestamp(milliseconds: row.integer(8)), epoch: row.text(9))
        health.pause = row.isNull(10) ? nil : Pause(rawValue: row.text(10))
        health.failingSince = time(11)
        health.failure = time(12).map { at in
            Failure(
                at: at, status: row.isNull(13) ? nil : Int(row.integer(13)),
                detail: row.isNull(14) ? "" : row.text(14))
        }
        health.nextAttempt = time(15)
        if let since = time(17), !row.isNull(16) { scan = Scan(after: row.integer(16), since: since) }
    }

    /// Returns a column's text.
    fileprivate static func text(_ words: [String]) -> String { words.joined(separator: " ") }

    fileprivate static func text(_ secrets: [Secret]) -> String {
        text(secrets.map { secret in secret.text + (secret.until.map { "@\($0.milliseconds)" } ?? "") })
    }
}

extension Webhook.Secret {
    /// Reads a secret of a column. Base64 has no `@`.
    fileprivate init(stored text: String) {
        let parts = text.split(separator: "@")
        let until = parts.count > 1 ? Int64(parts[1]).map { Timestamp(milliseconds: $0) } : nil
        self.init(String(parts[0]), until: until)
    }
}
