import Chat
import Wire

/// The read marks of a commit that one statement moves together, see ``PostgresConnection/store(_:engaging:revocations:at:)``.
///
/// A mark takes part under the conditions of a send, see ``SendBatch``. It does not take part if it comes after another
/// submission to its room, which may store the message that was read.
struct MarkBatch {
    /// A user's mark in a room, and the submissions that move it.
    struct Mark {
        let person: KnownRooms.Person
        let id: RoomID
        /// The number of restrictions in the room for which the decision holds.
        let access: Int64
        /// The highest `seq` that one of them has.
        var seq: Int64
        /// The submission with that `seq`.
        var ticket: Ticket
        /// The others.
        var others: [Ticket] = []
    }

    /// The marks, in the order in which the statement locks them, so that two nodes do not wait for each other.
    private(set) var marks: [Mark] = []

    /// Decides which submissions take part.
    init(_ submissions: ArraySlice<Submission>, knowing known: KnownRooms, bans: BanTable, erasing: Set<UserID>) {
        var left: Set<RoomID> = []
        var indices: [KnownRooms.Person: Int] = [:]
        for submission in submissions {
            let user = submission.sender
            // A change of a user may concern every room.
            guard let id = submission.room else { break }
            guard case .read(let seq) = submission.change, seq > 0, !left.contains(id),
                let room = known.room(
                    permitting: submission, bans: bans.bans(of: user, in: id), erasing: erasing),
                room.facts.head > 0
            else {
                left.insert(id)
                continue
            }
            let person = KnownRooms.Person(room: room.number, user: user)
            guard let index = indices[person] else {
                indices[person] = marks.count
                marks.append(
                    Mark(person: person, id: id, access: room.access, seq: seq, ticket: submission.ticket))
                continue
            }
            if seq > marks[index].seq {
                marks[index].others.append(marks[index].ticket)
                (marks[index].seq, marks[index].ticket) = (seq, submission.ticket)
            } else {
                marks[index].others.append(submission.ticket)
            }
        }
        marks.sort { ($0.person.user.string, $0.person.room) < ($1.person.user.string, $1.person.room) }
    }

    /// The position of a mark after the batch, and true if the batch has moved it.
    typealias Moved = (seq: Int64, hasMoved: Bool)

    /// Returns the outcomes of the submissions that were stored.
    ///
    /// - Parameter moved: The statement's answer for each mark; `nil` for one that it has left.
    func outcomes(_ moved: [Moved?]) -> [Outcome] {
        zip(marks, moved).flatMap { mark, moved -> [Outcome] in
            guard let moved else { return [] }
            return [
                Outcome(
                    ticket: mark.ticket, result: .success(.readMark(seq: moved.seq, hasMoved: moved.hasMoved)))
            ]
                + mark.others.map { Outcome(ticket: $0, result: .success(.readMark(seq: moved.seq, hasMoved: false))) }
        }
    }
}

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
