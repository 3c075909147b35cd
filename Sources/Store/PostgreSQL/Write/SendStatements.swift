import Chat
import Nodes
import Wire

extension SendBatch {
    /// Returns the parameters of the statement that stores the batch.
    ///
    /// - Parameters:
    ///   - revocations: The number of revocations for which the decisions hold.
    ///   - time: The time of the messages; `nil` for the database's.
    func parameters(revocations: Int64, at time: Timestamp?) -> PostgresParameters {
        var bytes: [Int64] = []
        var indices: [Int64] = []
        var items: [Int64] = []
        indices.reserveCapacity(sends.count)
        items.reserveCapacity(sends.count)
        var senders = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 16)
        var ids = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 40)
        var starts = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 48)
        var rests = PostgresParameters.TextArray(count: sends.count, bytes: sends.count * 256)
        let fixedBytes = Message.Pieces.beforeRev.count + Timestamp.byteCount + Message.Pieces.afterTime.count
        for (index, room) in rooms.enumerated() {
            var count = 0
            for (item, send) in room.sends.enumerated() {
                let (submission, draft) = sends[send]
                let pieces = Message.Pieces(room: room.id, sender: submission.sender, draft: draft)
                starts.append(pieces.beforeSeq[...])
                rests.append(pieces.afterRev[...])
                senders.append(submission.sender.string)
                ids.append(draft.clientMessageID)
                indices.append(Int64(index + 1))
                items.append(Int64(item + 1))
                count += pieces.beforeSeq.count + pieces.afterRev.count + fixedBytes
            }
            bytes.append(Int64(count))
        }
        var parameters = PostgresParameters()
        parameters.append(rooms.map(\.number))
        parameters.append(rooms.map(\.access))
        parameters.append(rooms.map { Int64($0.sends.count) })
        parameters.append(bytes)
        parameters.append(indices)
        parameters.append(items)
        for texts in [senders, ids, starts, rests] { parameters.append(texts.bytes, as: .textArray) }
        parameters.append(Message.Pieces.beforeRev, as: .text)
        parameters.append(Message.Pieces.afterTime, as: .text)
        parameters.append(time.map { PostgresParameters.bytes(of: $0.milliseconds) }, as: .integer)
        parameters.append(revocations)
        return parameters
    }

    // Only an index scan can use `ANY (ARRAY[…])`, not a hash or merge join, so rooms are locked in the order of the
    // array. The statement sees other rows as they were before it waited for the lock of a room. Only the locked row is
    // read again after the wait, so it has the number that every loss of a right in the room raises. The number in
    // `server` counts all losses of rights, also those by nodes of an earlier version, which raise no other. A ban from the
    // whole server or an erasure that comes during the wait is not seen.
    fileprivate static let storing = """
        WITH clock AS MATERIALIZED (
            SELECT coalesce($13, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
        ), raised AS (
            UPDATE rooms SET head = rooms.head + a.count, rev = rooms.rev + a.count,
                active_at = greatest((SELECT now FROM clock), rooms.active_at),
                bytes = rooms.bytes + a.bytes
                    + (SELECT sum(length((rooms.head + i)::text) + length((rooms.rev + i)::text))::bigint
                        FROM generate_series(1, a.count) AS i)
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
                WITH ORDINALITY AS a (id, access, count, bytes, item)
            WHERE rooms.id = ANY (ARRAY[a.id]) AND rooms.access = a.access
                AND (SELECT revocations FROM server) = $14
            RETURNING a.item, rooms.id, rooms.head - a.count AS head, rooms.rev - a.count AS rev, active_at
        ), ordered AS MATERIALIZED (
            SELECT array_agg(id << 36 | head) AS keys, array_agg(head) AS heads, array_agg(rev) AS revs,
                array_agg(active_at) AS times,
                array_agg(to_char(to_timestamp(active_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.')
                    || lpad((active_at % 1000)::text, 3, '0') || 'Z' || $12) AS endings
            FROM (
                SELECT raised.* FROM unnest($1::bigint[]) WITH ORDINALITY AS a (id, item)
                    LEFT JOIN raised ON raised.item = a.item ORDER BY a.item
            ) AS rooms
        ), added AS (
            INSERT INTO messages (id, rev, created_at, sender, client_message_id, body)
            SELECT keys[a.room] + a.item, revs[a.room] + a.item, times[a.room], a.sender, a.client_message_id,
                convert_to(a.start || (heads[a.room] + a.item)::text || $11 || (revs[a.room] + a.item)::text
                    || a.rest || endings[a.room], 'UTF8')
            FROM ordered, unnest($5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[], $10::text[])
                AS a (room, item, sender, client_message_id, start, rest)
            WHERE keys[a.room] IS NOT NULL
        )
        SELECT item, head, rev, active_at FROM raised
        """
}

/// Statements that store a ``SendBatch``, and look up what it must know. They allow only one plan, which stays good while
/// the tables grow, see ``PostgresConnection/planOnceByIndexes()``.
extension PostgresConnection {
    /// Stores a batch that has at least one send, in one round trip and one transaction.
    ///
    /// - Throws: ``UnknownCommit`` if the connection was lost; else ``PostgresError``, with nothing stored.
    func store(_ batch: SendBatch, revocations: Int64, at time: Timestamp?) throws -> SendAnswer {
        do throws(PostgresError) {
            try send(SendBatch.storing, batch.parameters(revocations: revocations, at: time))
            try sendEngagement(of: batch.newlyEngaged)
            // Each statement has a result, or `results` has thrown.
            let result = try results()[0]
            var stored: [SendBatch.Stored?] = Array(repeating: nil, count: batch.rooms.count)
            for row in 0..<result.count {
                stored[Int(result.integer(row, 0)) - 1] = SendBatch.Stored(
                    head: result.integer(row, 1), rev: result.integer(row, 2),
                    time: Timestamp(milliseconds: result.integer(row, 3)))
            }
            return .stored(stored)
        } catch {
            if error.kind == .connection, !error.isReadOnly {
                throw UnknownCommit(cause: error, tickets: Set(batch.sends.map(\.submission.ticket)))
            }
            // The unique index of client message ids has refused one.
            if error.state == "23505" { return .repeated }
            throw error
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
        let result = try run(
            """
            SELECT a.item, rooms.id, access, head, rev,
                (SELECT owner FROM members WHERE members.room = rooms.id AND members."user" = a.sender),
                (SELECT revocations FROM server), direct_first, direct_second, \(DirectPair.state), \(RoomFacts.columns)
            FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS a (name, sender, item)
                JOIN rooms ON rooms.name = ANY (ARRAY[a.name])
            """, parameters)
        if result.count == 0 { return nil }
        let answers = (0..<result.count).map { row in
            var facts = RoomFacts { result.integer(row, 10 + Int($0)) }
            (facts.head, facts.rev) = (result.integer(row, 3), result.integer(row, 4))
            if !result.isNull(row, 7) {
                facts.direct = DirectPair(UserID(trusted: result.text(row, 7)), UserID(trusted: result.text(row, 8)))
                    .room(state: result.integer(row, 9))
            }
            return KnownRooms.Answer(
                question: questions[Int(result.integer(row, 0)) - 1],
                room: KnownRooms.Room(number: result.integer(row, 1), access: result.integer(row, 2), facts: facts),
                role: result.isNull(row, 5) ? nil : RoomMember.Role(result.integer(row, 5)))
        }
        return (answers, result.integer(0, 6))
    }

    /// Returns those of the rooms that another transaction has locked, or is making.
    func locked(among rooms: [RoomID]) throws(PostgresError) -> Set<RoomID> {
        var parameters = PostgresParameters()
        parameters.append(rooms.map { $0.string as String? })
        // A room that does not exist is locked by its name's advisory lock, see PostgresCommits.
        let result = try run(
            """
            WITH free AS (SELECT name FROM rooms WHERE name = ANY ($1::text[]) FOR NO KEY UPDATE SKIP LOCKED)
            SELECT a.name FROM unnest($1::text[]) AS a (name)
            WHERE NOT EXISTS (SELECT 1 FROM free WHERE free.name = a.name)
                AND CASE WHEN EXISTS (SELECT 1 FROM rooms WHERE rooms.name = a.name) THEN true
                    ELSE NOT pg_try_advisory_xact_lock(hashtextextended(a.name, 0)) END
            """, parameters)
        return Set((0..<result.count).map { RoomID(trusted: result.text($0, 0)) })
    }

    /// Returns those of the client message ids that were used before.
    func repeated(_ keys: [SendBatch.Key]) throws(PostgresError) -> [SendBatch.Key] {
        var parameters = PostgresParameters()
        parameters.append(keys.map(\.room))
        parameters.append(keys.map { $0.sender.string as String? })
        parameters.append(keys.map { $0.id as String? })
        let result = try run(
            """
            SELECT a.item FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY AS a (room, sender, id, item)
            WHERE (SELECT 1 FROM messages WHERE messages.id >> 36 = a.room AND messages.sender = a.sender
                AND client_message_id = a.id) IS NOT NULL
            """, parameters)
        return (0..<result.count).map { keys[Int(result.integer($0, 0)) - 1] }
    }
}
