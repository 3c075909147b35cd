import Chat
import Nodes
import Wire

extension MarkBatch {
    // The order in which it locks marks is that of the arrays.
    fileprivate static let moving = """
        WITH found AS MATERIALIZED (
            SELECT a.item, a.reader, a.room, least(a.seq, rooms.head) AS seq
            FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[])
                WITH ORDINALITY AS a (room, access, reader, seq, item)
                JOIN rooms ON rooms.id = ANY (ARRAY[a.room]) AND rooms.access = a.access
            WHERE (SELECT revocations FROM server) = $5
        ), moved AS (
            INSERT INTO read_marks AS marks ("user", room, seq, moved_at)
            SELECT reader, room, seq, coalesce($6, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)
            FROM found ORDER BY item
            ON CONFLICT ("user", room) DO UPDATE SET seq = excluded.seq, moved_at = excluded.moved_at
                WHERE excluded.seq > marks.seq
            RETURNING "user", room, seq
        )
        SELECT item, coalesce(moved.seq, (SELECT seq FROM read_marks
                WHERE read_marks."user" = found.reader AND read_marks.room = found.room), 0),
            (moved.seq IS NOT NULL)::int
        FROM found LEFT JOIN moved ON moved.room = found.room AND moved."user" = found.reader
        """
}

/// Statements that store a ``MarkBatch``.
extension PostgresConnection {
    /// Stores a batch that has at least one mark, in one round trip and one transaction.
    ///
    /// - Parameter time: The time when the marks move; `nil` for the database's.
    /// - Returns: For each mark its position; `nil` if somebody has lost rights in the room since it was decided.
    /// - Throws: ``UnknownCommit`` if the connection was lost. A mark may be moved again.
    func store(
        _ batch: MarkBatch, engaging people: [KnownRooms.Person], revocations: Int64, at time: Timestamp?
    ) throws -> [MarkBatch.Moved?] {
        do throws(PostgresError) {
            var parameters = PostgresParameters()
            parameters.append(batch.marks.map(\.person.room))
            parameters.append(batch.marks.map(\.access))
            parameters.append(batch.marks.map { $0.person.user.string as String? })
            parameters.append(batch.marks.map(\.seq))
            parameters.append(revocations)
            parameters.append(time.map { PostgresParameters.bytes(of: $0.milliseconds) }, as: .integer)
            try send(MarkBatch.moving, parameters)
            try sendEngagement(of: people)
            // Each statement has a result, or `results` has thrown.
            let result = try results()[0]
            var moved: [MarkBatch.Moved?] = Array(repeating: nil, count: batch.marks.count)
            for row in 0..<result.count {
                moved[Int(result.integer(row, 0)) - 1] = (result.integer(row, 1), result.integer(row, 2) == 1)
            }
            return moved
        } catch {
            if error.kind == .connection { throw UnknownCommit(cause: error, tickets: []) }
            throw error
        }
    }

    /// Queues a statement that marks users as engaged in rooms of which they are members; not at all without users.
    func sendEngagement(of people: some Collection<KnownRooms.Person>) throws(PostgresError) {
        if people.isEmpty { return }
        // In one order, so that two nodes do not wait for each other.
        let people = people.sorted { ($0.room, $0.user.string) < ($1.room, $1.user.string) }
        var parameters = PostgresParameters()
        parameters.append(people.map(\.room))
        parameters.append(people.map { $0.user.string as String? })
        try send(
            """
            UPDATE members SET engaged = 1 FROM unnest($1::bigint[], $2::text[]) AS a (room, sender)
            WHERE members.room = ANY (ARRAY[a.room]) AND members."user" = ANY (ARRAY[a.sender]) AND engaged = 0
            """, parameters)
    }
}
