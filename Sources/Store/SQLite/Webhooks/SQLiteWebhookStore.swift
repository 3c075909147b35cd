import Chat
import Wire

/// The webhooks of a log in SQLite: a reading connection, and changes by the writer's thread.
///
/// Confined to one thread.
final class SQLiteWebhookStore: WebhookAccess {
    typealias Reader = SQLiteReader

    static let latest = "NULL"
    // The time of a room's newest message may be in the journal only.
    static let mayHaveMessages = "$2 IS NOT NULL"

    private var reader: SQLiteReader
    private let writer: LogWriter

    init(_ reader: SQLiteReader, _ writer: LogWriter) {
        self.reader = reader
        self.writer = writer
    }

    var epoch: String { reader.context.epoch }
    var isDeliverer: Bool { true }

    func close() { reader.close() }

    func read<R>(_ body: (SQLiteConnection) throws -> R) throws -> R {
        try reader.check()
        var result: R?
        try reader.withDatabase { result = try body($0) }
        return result!
    }

    func read<R>(
        showing rooms: (SQLiteConnection) throws -> [RoomID], _ body: (SQLiteView) throws -> R
    ) throws -> R {
        try reader.check()
        var result: R?
        try reader.transaction(showing: rooms) { result = try body($0.store) }
        return result!
    }

    func change<R>(isOfListing: Bool, _ body: (SQLiteConnection) throws -> R) throws -> R {
        try writer.perform { try body($0.db) }
    }

    func advance(_ advances: [CursorAdvance]) throws -> [CursorAdvance.Result] {
        if advances.isEmpty { return [] }
        return try writer.perform { commit in
            var results: [CursorAdvance.Result] = []
            for advance in advances {
                // Only the writer changes rooms, so this is the latest revision.
                var latest: Int64?
                if advance.room == RowKey.server {
                    latest = advance.rev
                } else if let room = try commit.room(advance.id), !room.facts.isDeleted {
                    latest = room.rev
                }
                results.append(try commit.db.store(advance, latest: latest))
            }
            return results
        }
    }
}

extension SQLiteConnection {
    /// Lets commits of this connection add what may lower badges to `push_changes`, or no longer.
    ///
    /// The triggers belong to the writer's connection, so a database without it has none.
    func listPushChanges(_ isOn: Bool) throws {
        let events = [
            ("push_marks_new", "INSERT ON main.read_marks", "new"),
            ("push_marks_moved", "UPDATE OF seq ON main.read_marks", "new"),
            ("push_notify_new", "INSERT ON main.notify", "new"),
            ("push_notify_changed", "UPDATE ON main.notify", "new"),
            ("push_members_gone", "DELETE ON main.members", "old"),
            ("push_members_hidden", "UPDATE OF hidden ON main.members WHEN new.hidden = 1", "new"),
            ("push_bans_new", "INSERT ON main.bans WHEN new.reads = 1", "new"),
            ("push_bans_changed", "UPDATE ON main.bans WHEN new.reads = 1", "new"),
        ]
        for (name, event, row) in events {
            guard isOn else {
                try execute("DROP TRIGGER IF EXISTS temp.\(name)")
                continue
            }
            try execute(
                """
                CREATE TEMP TRIGGER IF NOT EXISTS \(name) AFTER \(event) BEGIN
                    INSERT INTO push_changes (webhook, user, room)
                    SELECT id, \(row).user, \(row).room FROM webhooks WHERE ' ' || events || ' ' LIKE '% push %';
                END
                """)
        }
    }
}
