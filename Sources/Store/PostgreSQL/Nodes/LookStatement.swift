import Chat
import Nodes
import Wire

/// The statement that reads what has changed in many rooms at once, in one snapshot.
///
/// Confined to its connection's thread.
final class LookStatement {
    /// Maximum number of rooms in one run.
    static let maximumRooms = 128
    /// Maximum number of messages of a room in one answer.
    static let maximumMessages: Int64 = 512
    /// Maximum number of bytes of a room's messages in one answer, unless one message is longer: 128 KiB.
    static let maximumBytes: Int64 = 128 * 1024

    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// Reads what has changed in rooms.
    ///
    /// - Parameter looks: At most ``maximumRooms``.
    /// - Returns: For each look its answer; `nil` if nothing has changed, or if the room is gone.
    /// - Throws: ``PostgresError``.
    func answers(
        to looks: [FeedPositions.Look]
    ) throws(PostgresError) -> [(look: FeedPositions.Look, answer: FeedPositions.Answer?)] {
        var parameters = PostgresParameters()
        parameters.append(looks.map { Optional($0.room.string) })
        parameters.append(looks.map(\.since.head))
        parameters.append(looks.map(\.since.rev))
        parameters.append(Self.maximumMessages)
        parameters.append(Self.maximumBytes)
        let result = try connection.run(Self.changesSQL, parameters)
        var answers: [FeedPositions.Answer?] = Array(repeating: nil, count: looks.count)
        var row = 0
        while row < result.count {
            let item = result.integer(row, 0)
            let start = row
            while row < result.count, result.integer(row, 0) == item { row += 1 }
            let index = Int(item) - 1
            answers[index] = Self.answer(result, start..<row, looks[index])
        }
        return zip(looks, answers).map { (look: $0, answer: $1) }
    }

    private static func answer(
        _ result: PostgresResult, _ rows: Range<Int>, _ look: FeedPositions.Look
    ) -> FeedPositions.Answer {
        let state = RoomState(head: result.integer(rows.lowerBound, 1), rev: result.integer(rows.lowerBound, 2))
        // A room whose changed messages no longer exist has one row without a message.
        let rows = result.isNull(rows.lowerBound, 3) ? rows.prefix(0) : rows[...]
        var revs: [Int64] = []
        var messages: [[UInt8]] = []
        var head = look.since.head
        var oldest: Int64?
        for row in rows {
            let seq = RowKey(rawValue: result.integer(row, 3)).ordinal
            // A change of an older message has no time of its own.
            if seq > look.since.head { oldest = min(oldest ?? .max, result.integer(row, 7)) }
            head = max(head, seq)
            revs.append(result.integer(row, 4))
            messages.append(result.bytes(row, 5))
        }
        let hasMore = rows.last.map { result.integer($0, 6) > Int64(rows.count) } ?? false
        return FeedPositions.Answer(
            batch: Batch(
                room: look.room, since: look.since.rev, revs: revs,
                // The messages of later revisions no longer exist.
                rev: hasMore ? revs.last! : max(state.rev, revs.last ?? 0), head: hasMore ? head : state.head,
                messages: messages),
            hasMore: hasMore,
            delay: oldest.map { .milliseconds(max(0, result.integer(rows.lowerBound, 8) - $0)) })
    }

    /// Returns hints about the rooms whose revision is higher than a position's.
    ///
    /// - Parameter positions: At most ``roomsOfSweep``.
    /// - Throws: ``PostgresError``.
    func hints(beyond positions: ArraySlice<FeedPositions.Look>) throws(PostgresError) -> Hints {
        var parameters = PostgresParameters()
        parameters.append(positions.map { Optional($0.room.string) })
        parameters.append(positions.map(\.since.rev))
        return try hints(Self.revisionsSQL, parameters)
    }

    /// Maximum number of rooms that one statement compares.
    static let roomsOfSweep = 2_000

    /// Returns the present horizon.
    func horizon() throws(PostgresError) -> ListenerTurns.Horizon {
        let result = try connection.run(
            "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, pg_relation_size('rooms') / 8192")
        return ListenerTurns.Horizon(transaction: result.integer(0, 0), pages: Int(result.integer(0, 1)))
    }

    /// Returns hints about all rooms that have changed since a horizon, with one scan of the table of rooms. A page of
    /// it takes about as long as one room in ``hints(beyond:)``.
    ///
    /// - Throws: ``PostgresError``.
    func hints(since horizon: ListenerTurns.Horizon) throws(PostgresError) -> Hints {
        var parameters = PostgresParameters()
        parameters.append(horizon.transaction)
        // A row's xmin is the transaction that has changed it last. Transactions before the horizon had ended, so the
        // earlier sweep has seen what they changed. xmin has the low 32 bits of a transaction's number, so ages are compared.
        return try hints(
            """
            SELECT name, rev FROM rooms
            WHERE age(xmin) <= age(($1::bigint & 4294967295)::text::xid) AND deleted = 0
            """, parameters)
    }

    private func hints(_ sql: String, _ parameters: PostgresParameters) throws(PostgresError) -> Hints {
        let result = try connection.run(sql, parameters)
        var hints = Hints()
        for row in 0..<result.count { hints.add(RoomID(trusted: result.text(row, 0)), rev: result.integer(row, 1)) }
        return hints
    }

    // Two indexes have messages in the order of their revisions: `id` those that were never changed, `changed` all
    // others. Each is read up to one message beyond the limit. `total` is the number of messages read, so it shows if
    // there are more than the limits allow.
    private static let changesSQL = """
        WITH looked AS (
            SELECT w.item, r.id AS room, r.head, r.rev, w.head AS known_head, w.rev AS known_rev
            FROM unnest($1::text[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS w (name, head, rev, item)
            JOIN rooms r ON r.name = w.name
            WHERE r.rev > w.rev AND r.deleted = 0
        )
        SELECT l.item, l.head, l.rev, m.id, m.rev, m.body, m.total, m.created_at,
            floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint
        FROM looked l LEFT JOIN LATERAL (
            SELECT id, rev, body, created_at, total FROM (
                SELECT id, rev, body, created_at, count(*) OVER () AS total, row_number() OVER (ORDER BY rev) AS number,
                    sum(octet_length(body)) OVER (ORDER BY rev) - octet_length(body) AS before
                FROM (
                    (SELECT id, rev, body, created_at FROM messages
                        WHERE id > l.room << 36 | l.known_head AND id <= (l.room << 36 | \(RowKey.maximumOrdinal))
                            AND changed IS NULL
                        ORDER BY id LIMIT $4 + 1)
                    UNION ALL
                    (SELECT id, changed & ((1::bigint << 36) - 1), body, created_at FROM messages
                        WHERE changed > l.room << 36 | l.known_rev
                            AND changed <= (l.room << 36 | \(RowKey.maximumOrdinal))
                        ORDER BY changed LIMIT $4 + 1)
                    ORDER BY 2 LIMIT $4 + 1
                ) AS found
            ) AS counted
            WHERE before < $5 AND number <= $4
        ) AS m ON true
        ORDER BY l.item, m.rev
        """

    private static let revisionsSQL = """
        SELECT r.name, r.rev FROM unnest($1::text[], $2::bigint[]) AS w (name, rev) JOIN rooms r ON r.name = w.name
        WHERE r.rev > w.rev AND r.deleted = 0
        """
}
