import Chat
import Wire

/// The statements that store a ``SendBatch``, and look up what it must know.
///
/// Confined to the writer's connection.
final class SendStatements {
    /// The answer to a batch.
    enum Answer {
        /// The batch is durable.
        case stored([SendBatch.Stored])
        /// Nothing was stored, because the node does not know of the latest revocation.
        case outdated
        /// Nothing was stored, because a client message id was used before.
        case repeated
        /// Nothing was stored, because a room was just deleted, or is full.
        case refused
    }

    private let connection: PostgresConnection
    private let store: PostgresConnection.Statement
    private let engage: EngagementStatement
    private let check: PostgresConnection.Statement
    private let selectRooms: PostgresConnection.Statement
    private let selectRepeated: PostgresConnection.Statement
    private let selectLocked: PostgresConnection.Statement

    /// Prepares the statements, and sets how the connection plans.
    init(_ connection: PostgresConnection) throws(PostgresError) {
        self.connection = connection
        // The only plan left finds the rooms by their numbers, in the order of the array.
        try connection.planOnceByIndexes()
        store = connection.statement(Self.storing)
        engage = EngagementStatement(connection)
        // `storing` sees the number of revocations from before it waited for the locks of rooms. A commit that removes
        // a member, bans a user from a room or deletes a room holds the room's lock until its end. This statement
        // begins when all rooms are locked, so it sees the new number. The square root of -1 then rolls back what
        // `storing` has stored.
        check = connection.statement(
            """
            SELECT sqrt((revocations = $1 OR pg_current_xact_id_if_assigned() IS NULL)::int - 1) FROM server
            """)
        // Like `storing`, these statements allow only one plan, which stays good while the tables grow.
        selectRooms = connection.statement(
            """
            SELECT a.place, rooms.id, head, private, deleted,
                (SELECT owner FROM members WHERE members.room = rooms.id AND members."user" = a.sender),
                (SELECT revocations FROM server)
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a (name, sender, place)
                JOIN rooms ON rooms.name = ANY (ARRAY[a.name])
            """)
        // A room that does not exist is locked by its name's advisory lock, see WriterStatements.
        selectLocked = connection.statement(
            """
            WITH free AS (SELECT name FROM rooms WHERE name = ANY ($1::text[]) FOR NO KEY UPDATE SKIP LOCKED)
            SELECT a.name FROM unnest($1::text[]) AS a (name)
            WHERE NOT EXISTS (SELECT 1 FROM free WHERE free.name = a.name)
                AND CASE WHEN EXISTS (SELECT 1 FROM rooms WHERE rooms.name = a.name) THEN true
                    ELSE NOT pg_try_advisory_xact_lock(hashtextextended(a.name, 0)) END
            """)
        selectRepeated = connection.statement(
            """
            SELECT a.place FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS a (room, sender, id, place)
            WHERE (SELECT 1 FROM messages WHERE messages.id >> 36 = a.room AND messages.sender = a.sender
                AND client_message_id = a.id) IS NOT NULL
            """)
    }

    // Only an index scan can use `ANY (ARRAY[…])`, not a hash or merge join, so rooms are locked in the order of the
    // array. If some rooms of a batch are missing, a division by zero rolls it back.
    private static let storing = """
        WITH clock AS MATERIALIZED (
            SELECT coalesce($11, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
        ), raised AS (
            UPDATE rooms SET head = rooms.head + a.count, rev = rooms.rev + a.count,
                active_at = greatest((SELECT now FROM clock), rooms.active_at),
                bytes = rooms.bytes + a.bytes + CASE
                    WHEN length((rooms.head + 1)::text) = length((rooms.head + a.count)::text)
                        AND length((rooms.rev + 1)::text) = length((rooms.rev + a.count)::text)
                    THEN a.count * (length((rooms.head + 1)::text) + length((rooms.rev + 1)::text))
                    ELSE (SELECT sum(length((rooms.head + i)::text) + length((rooms.rev + i)::text))::bigint
                        FROM generate_series(1, a.count) AS i) END
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS a (id, count, bytes, place)
            WHERE rooms.id = ANY (ARRAY[a.id]) AND rooms.deleted = 0
                AND rooms.head + a.count <= \(RowKey.maximumPlace) AND rooms.rev + a.count <= \(RowKey.maximumPlace)
                AND (SELECT revocations FROM server) = $10
            RETURNING a.place, rooms.id, rooms.head - a.count AS head, rooms.rev - a.count AS rev, active_at
        ), ordered AS MATERIALIZED (
            SELECT array_agg(id << 36 | head) AS keys, array_agg(head) AS heads, array_agg(rev) AS revs,
                array_agg(active_at) AS times,
                array_agg(to_char(to_timestamp(active_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.')
                    || lpad((active_at % 1000)::text, 3, '0') || 'Z"}') AS endings,
                1 / (count(*) = cardinality($1) OR count(*) = 0)::int AS is_whole
            FROM (SELECT * FROM raised ORDER BY place) AS raised
        ), added AS (
            INSERT INTO messages (id, rev, created_at, sender, client_message_id, body)
            SELECT keys[a.room] + a.place, revs[a.room] + a.place, times[a.room], a.sender, a.client_message_id,
                convert_to(a.first || (heads[a.room] + a.place)::text || ',"rev":' || (revs[a.room] + a.place)::text
                    || a.rest || endings[a.room], 'UTF8')
            FROM ordered, unnest($4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[])
                AS a (room, place, sender, client_message_id, first, rest)
            WHERE is_whole = 1 AND keys IS NOT NULL
        )
        SELECT head, rev, active_at FROM raised ORDER BY place
        """

    /// Stores a batch that has at least one send, in one round trip and one transaction.
    ///
    /// - Throws: ``UnknownCommit`` if the connection was lost; else ``PostgresError``, with nothing stored.
    func store(_ batch: SendBatch, revocations: Int64, at time: Timestamp?) throws -> Answer {
        do throws(PostgresError) {
            try connection.send(store, batch.parameters(revocations: revocations, at: time))
            try engage.send(batch.newlyEngaged)
            var parameters = PostgresParameters()
            parameters.append(revocations)
            try connection.send(check, parameters)
            // Each statement has a result, or `results` has thrown.
            let result = try connection.results()[0]
            if result.count == 0 { return .outdated }
            return .stored(
                (0..<result.count).map {
                    SendBatch.Stored(
                        head: result.integer($0, 0), rev: result.integer($0, 1),
                        time: Timestamp(milliseconds: result.integer($0, 2)))
                })
        } catch {
            switch (error.kind, error.state) {
            case (.connection, _) where !error.isReadOnly:
                throw UnknownCommit(cause: error, tickets: Set(batch.sends.map(\.submission.ticket)))
            case (_, "23505"): return .repeated
            case (_, "22012"): return .refused
            case (_, "2201F"): return .outdated
            default: throw error
            }
        }
    }

    /// Looks up rooms and their senders.
    ///
    /// - Returns: The answers for rooms that exist, and the number of revocations for which they hold; `nil` if there
    ///   are none.
    func answers(to questions: [KnownRooms.Question]) throws(PostgresError)
        -> (answers: [KnownRooms.Answer], revocations: Int64)?
    {
        var parameters = PostgresParameters()
        parameters.append(questions.map { $0.room.string as String? })
        parameters.append(questions.map { $0.user.string as String? })
        let result = try connection.run(selectRooms, parameters)
        if result.count == 0 { return nil }
        let answers = (0..<result.count).map { row in
            KnownRooms.Answer(
                question: questions[Int(result.integer(row, 0)) - 1],
                room: KnownRooms.Room(
                    number: result.integer(row, 1),
                    facts: RoomFacts(
                        head: result.integer(row, 2), isPrivate: result.integer(row, 3) == 1,
                        isDeleted: result.integer(row, 4) == 1)),
                role: result.isNull(row, 5) ? nil : result.integer(row, 5) == 1 ? .owner : .member)
        }
        return (answers, result.integer(0, 6))
    }

    /// Returns those of the rooms that another transaction has locked, or is making.
    func locked(among rooms: [RoomID]) throws(PostgresError) -> Set<RoomID> {
        var parameters = PostgresParameters()
        parameters.append(rooms.map { $0.string as String? })
        let result = try connection.run(selectLocked, parameters)
        return Set((0..<result.count).map { RoomID(trusted: result.text($0, 0)) })
    }

    /// Returns those of the client message ids that were used before.
    func repeated(_ keys: [SendBatch.Key]) throws(PostgresError) -> [SendBatch.Key] {
        var parameters = PostgresParameters()
        parameters.append(keys.map(\.room))
        parameters.append(keys.map { $0.sender.string as String? })
        parameters.append(keys.map { $0.id as String? })
        let result = try connection.run(selectRepeated, parameters)
        return (0..<result.count).map { keys[Int(result.integer($0, 0)) - 1] }
    }
}
