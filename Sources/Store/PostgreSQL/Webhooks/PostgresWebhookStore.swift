import Chat
import Wire

/// The webhooks of a log in PostgreSQL, on one connection.
///
/// Commits list rooms by a trigger, see ``PostgresSchema``. It is on while there are webhooks.
///
/// Confined to one thread.
final class PostgresWebhookStore: WebhookAccess {
    typealias Reader = PostgresReader

    static let latest = "rooms.rev"
    static let mayHaveMessages = "coalesce(active_at, 0) >= $2"

    private var reader: PostgresReader
    private let delivers: () -> Bool

    init(_ reader: PostgresReader, delivers: @escaping () -> Bool) {
        self.reader = reader
        self.delivers = delivers
    }

    var epoch: String { reader.context.epoch }
    var isDeliverer: Bool { delivers() }

    func close() { reader.close() }

    func read<R>(_ body: (PostgresConnection) throws -> R) throws -> R {
        var result: R?
        try reader.withDatabase { result = try body($0) }
        return result!
    }

    func read<R>(
        showing rooms: (PostgresConnection) throws -> [RoomID], _ body: (PostgresView) throws -> R
    ) throws -> R {
        var result: R?
        try reader.transaction { result = try body($0.store) }
        return result!
    }

    func change<R>(isOfListing: Bool, _ body: (PostgresConnection) throws -> R) throws -> R {
        try transaction { db in
            if isOfListing {
                // A commit that is under way when the webhooks change would list rooms by the old ones.
                try db.run("SET LOCAL lock_timeout = '5s'")
                try db.run("LOCK TABLE rooms IN SHARE ROW EXCLUSIVE MODE")
            }
            let result = try body(db)
            if isOfListing { try db.listWebhookRooms() }
            return result
        }
    }

    func advance(_ advances: [CursorAdvance]) throws -> [CursorAdvance.Result] {
        if advances.isEmpty { return [] }
        return try transaction { db in
            // If a crash loses it, something is delivered again. Rooms are locked for a shorter time.
            try db.run("SET LOCAL synchronous_commit = 'off'")
            // A room that is locked is changing, so its receiver has not everything.
            var revs: [Int64: Int64] = [:]
            var parameters = PostgresParameters()
            parameters.append(advances.map(\.room))
            let result = try db.run(
                "SELECT id, rev FROM rooms WHERE id = ANY ($1::bigint[]) AND deleted = 0 FOR NO KEY UPDATE SKIP LOCKED",
                parameters)
            for row in 0..<result.count { revs[result.integer(row, 0)] = result.integer(row, 1) }
            if let server = advances.first(where: { $0.room == RowKey.server }),
                try db.run("SELECT 1 FROM server FOR NO KEY UPDATE SKIP LOCKED").count > 0
            {
                revs[RowKey.server] = server.rev
            }
            return try advances.map { try db.store($0, latest: revs[$0.room]) }
        }
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    private func transaction<R>(_ body: (PostgresConnection) throws -> R) throws -> R {
        try read { db in
            try db.run("BEGIN")
            do {
                let result = try body(db)
                try db.run("COMMIT")
                return result
            } catch {
                if db.isInTransaction { _ = try? db.run("ROLLBACK") }
                throw error
            }
        }
    }
}

extension PostgresConnection {
    /// Lets commits list the rooms that they change if there are webhooks, and only then.
    func listWebhookRooms() throws {
        let webhooks = try webhooks()
        try turn("webhook_rooms", of: "rooms", on: !webhooks.isEmpty)
        for table in ["read_marks", "notify", "members"] {
            try turn("push_changes", of: table, on: webhooks.contains { $0.events.contains(.push) })
        }
    }

    private func turn(_ trigger: String, of table: String, on isOn: Bool) throws {
        let wasOn =
            try first(
                """
                SELECT count(*) FROM pg_trigger WHERE tgrelid = to_regclass($1) AND tgname = $2 AND tgenabled <> 'D'
                """, table, trigger
            ) { $0.integer(0) > 0 } ?? false
        if isOn != wasOn { try run("ALTER TABLE \(table) \(isOn ? "ENABLE" : "DISABLE") TRIGGER \(trigger)") }
    }
}
