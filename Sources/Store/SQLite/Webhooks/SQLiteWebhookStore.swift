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

    func read<R>(_ rooms: [RoomID], _ body: (SQLiteView) throws -> R) throws -> R {
        try reader.check()
        var result: R?
        try reader.transaction(showing: { _ in rooms }) { result = try body($0.store) }
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
