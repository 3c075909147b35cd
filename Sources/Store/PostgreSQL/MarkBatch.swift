import Chat
import Wire

/// The read marks of a commit that one statement moves together, see ``MarkStatements``.
///
/// A mark takes part under the conditions of a send, see ``SendBatch``. It does not take part if it comes after another
/// submission to its room, which may store the message that was read.
struct MarkBatch {
    /// A user's mark in a room, and the submissions that move it.
    struct Mark {
        let person: KnownRooms.Person
        /// The highest `seq` that one of them has.
        var seq: Int64
        /// The submission with that `seq`.
        var ticket: Ticket
        /// The others.
        var others: [Ticket] = []
    }

    /// The marks, in the order in which the statement locks them, so that two nodes do not wait for each other.
    private(set) var marks: [Mark] = []
    /// The submissions that are left, in order.
    private(set) var rest: [Submission] = []

    /// Decides which submissions take part.
    init(_ submissions: ArraySlice<Submission>, knowing known: KnownRooms, bans: BanTable, erasing: Set<UserID>) {
        var left: Set<RoomID> = []
        var leavesAll = false
        var indices: [KnownRooms.Person: Int] = [:]
        for submission in submissions {
            let user = submission.sender
            guard let id = submission.room, !leavesAll else {
                leavesAll = true
                rest.append(submission)
                continue
            }
            guard case .read(let seq) = submission.change, seq > 0, !left.contains(id),
                let room = known.room(
                    permitting: submission, bans: bans.bans(of: user, in: id), erasing: erasing)
            else {
                left.insert(id)
                rest.append(submission)
                continue
            }
            let person = KnownRooms.Person(room: room.number, user: user)
            guard let index = indices[person] else {
                indices[person] = marks.count
                marks.append(Mark(person: person, seq: seq, ticket: submission.ticket))
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

    /// Returns the outcomes.
    ///
    /// - Parameter moved: The position of each mark, and true if the batch has moved it.
    func outcomes(_ moved: [(seq: Int64, hasMoved: Bool)]) -> [Outcome] {
        zip(marks, moved).flatMap { mark, moved in
            [
                Outcome(
                    ticket: mark.ticket, result: .success(.readMark(seq: moved.seq, hasMoved: moved.hasMoved)))
            ]
                + mark.others.map { Outcome(ticket: $0, result: .success(.readMark(seq: moved.seq, hasMoved: false))) }
        }
    }
}

/// The statements that store a ``MarkBatch``.
///
/// Confined to the writer's connection.
final class MarkStatements {
    private let connection: PostgresConnection
    private let raise: PostgresConnection.Statement
    private let engage: EngagementStatement

    init(_ connection: PostgresConnection) {
        self.connection = connection
        engage = EngagementStatement(connection)
        raise = connection.statement(
            """
            WITH moved AS (
                INSERT INTO read_marks AS marks ("user", room, seq)
                SELECT a.reader, a.room, least(a.seq, rooms.head)
                FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS a (room, reader, seq)
                    JOIN rooms ON rooms.id = ANY (ARRAY[a.room])
                WHERE rooms.head > 0 AND rooms.deleted = 0 AND (SELECT revocations FROM server) = $4
                ON CONFLICT ("user", room) DO UPDATE SET seq = excluded.seq WHERE excluded.seq > marks.seq
                RETURNING "user", room, seq
            )
            SELECT coalesce(moved.seq,
                    (SELECT seq FROM read_marks WHERE read_marks."user" = a.reader AND read_marks.room = a.room), 0),
                (moved.seq IS NOT NULL)::int
            FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS a (room, reader, place)
                LEFT JOIN moved ON moved.room = a.room AND moved."user" = a.reader
            WHERE (SELECT revocations FROM server) = $4 ORDER BY place
            """)
    }

    /// Stores a batch that has at least one mark, in one round trip and one transaction.
    ///
    /// - Returns: The position of each mark, and true if the batch has moved it; `nil`, with nothing stored, if the
    ///   node does not know of the latest revocation.
    /// - Throws: ``UnknownCommit`` if the connection was lost. A mark may be moved again.
    func store(_ batch: MarkBatch, engaging people: [KnownRooms.Person], revocations: Int64) throws
        -> [(seq: Int64, hasMoved: Bool)]?
    {
        do throws(PostgresError) {
            var parameters = PostgresParameters()
            parameters.append(batch.marks.map(\.person.room))
            parameters.append(batch.marks.map { $0.person.user.string as String? })
            parameters.append(batch.marks.map(\.seq))
            parameters.append(revocations)
            try connection.send(raise, parameters)
            try engage.send(people)
            // Each statement has a result, or `results` has thrown.
            let result = try connection.results()[0]
            if result.count == 0 { return nil }
            return (0..<result.count).map { (result.integer($0, 0), result.integer($0, 1) == 1) }
        } catch {
            if error.kind == .connection { throw UnknownCommit(cause: error, tickets: []) }
            throw error
        }
    }
}

/// The statement that marks members as engaged, as part of the transaction of another.
///
/// Confined to the writer's connection.
final class EngagementStatement {
    private let connection: PostgresConnection
    private let update: PostgresConnection.Statement

    init(_ connection: PostgresConnection) {
        self.connection = connection
        update = connection.statement(
            """
            UPDATE members SET engaged = 1 FROM unnest($1::bigint[], $2::text[]) AS a (room, sender)
            WHERE members.room = ANY (ARRAY[a.room]) AND members."user" = ANY (ARRAY[a.sender]) AND engaged = 0
            """)
    }

    /// Queues it for users in rooms, who need not be members; not at all without users.
    func send(_ people: some Collection<KnownRooms.Person>) throws(PostgresError) {
        if people.isEmpty { return }
        // In one order, so that two nodes do not wait for each other.
        let people = people.sorted { ($0.room, $0.user.string) < ($1.room, $1.user.string) }
        var parameters = PostgresParameters()
        parameters.append(people.map(\.room))
        parameters.append(people.map { $0.user.string as String? })
        try connection.send(update, parameters)
    }
}
