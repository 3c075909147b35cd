import Chat
import Wire

/// The statement that reads pages of many rooms at once, with the access to them. Each page shows one snapshot.
///
/// Confined to its connection's thread.
final class PageStatement {
    /// Maximum number of bytes of a page's messages: 128 KiB. A larger page is read in a transaction, which bounds it.
    static let maximumBytes: Int64 = 128 * 1024

    private let connection: PostgresConnection
    private let select: PostgresConnection.Statement

    init(_ connection: PostgresConnection) {
        self.connection = connection
        select = connection.statement(Self.sql)
    }

    /// The direction in which a page extends from its gap, see ``PageWindow``.
    private enum Direction: Int64 {
        case before = 0
        case after = 1
        case around = 2
    }

    /// A page that the statement can read.
    private struct Asked {
        /// The index of the query.
        let index: Int
        let room: RoomID
        /// The reader whose membership matters; `nil` for an admin, who needs none, and for a caller without a name,
        /// who has none.
        let reader: UserID?
        let direction: Direction
        /// The `seq` after the gap, or that of the middle.
        let gap: Int64
        let limit: Int

        /// `nil` if the query is not for a page, or if its gap depends on the room's messages or the reader's mark.
        init?(_ query: Query, at index: Int) {
            guard case .room(let room, .page(let request, _)) = query.kind, request.limit <= Limits.pageMessages else {
                return nil
            }
            switch request.anchor {
            case .newest: (direction, gap) = (.before, .max)
            case .before(.seq(let seq)): (direction, gap) = (.before, seq)
            case .before(.first): (direction, gap) = (.before, 1)
            case .after(.seq(let seq)): (direction, gap) = (.after, seq == .max ? seq : seq + 1)
            case .after(.first): (direction, gap) = (.after, 2)
            case .after(.last): (direction, gap) = (.after, .max)
            case .around(.seq(let seq)): (direction, gap) = (.around, seq)
            case .around(.first): (direction, gap) = (.around, 1)
            case .before, .after, .around: return nil
            }
            self.index = index
            self.room = room
            reader = query.isAdmin ? nil : query.user
            limit = request.limit
        }

        /// Returns the page's range in a room.
        func window(head: Int64) -> PageWindow {
            switch direction {
            case .before: .before(gap: gap, head: head, limit: limit)
            case .after: .after(gap: gap, head: head, limit: limit)
            case .around: .around(gap, head: head, limit: limit)
            }
        }
    }

    /// Reads the rooms of queries for pages, with these pages, in one round trip.
    ///
    /// - Parameter limit: Maximum number of bytes of an answer.
    /// - Returns: For each query its room; `nil` if it has to be read in a transaction, or does not exist.
    /// - Throws: ``PostgresError``.
    func rooms(
        of queries: ArraySlice<Query>, within limit: Int, _ statements: ReaderStatements
    ) throws(PostgresError) -> [RoomView?] {
        var rooms: [RoomView?] = Array(repeating: nil, count: queries.count)
        var asked: [Asked] = []
        for (index, query) in queries.enumerated() {
            if let page = Asked(query, at: index) { asked.append(page) }
        }
        if asked.isEmpty { return rooms }
        var parameters = PostgresParameters()
        parameters.append(asked.map { Optional($0.room.string) })
        parameters.append(asked.map { $0.reader?.string })
        parameters.append(asked.map(\.direction.rawValue))
        parameters.append(asked.map(\.gap))
        parameters.append(asked.map { Int64($0.limit) })
        parameters.append(Self.maximumBytes)
        let result = try connection.run(select, parameters)
        for row in 0..<result.count {
            let asked = asked[Int(result.integer(row, 0)) - 1]
            let state = RoomState(head: result.integer(row, 4), rev: result.integer(row, 5))
            let window = asked.window(head: state.head)
            let messages = result.bytes(row, 7)
            // Too many bytes; the statement does not count commas.
            if window.count > 0, result.isNull(row, 7) || messages.count > limit { continue }
            let page = RoomView.Page(isForMember: !result.isNull(row, 6), window: window, messages: messages)
            rooms[asked.index] = RoomView(
                number: result.integer(row, 1), isPrivate: result.integer(row, 2) == 1,
                isDeleted: result.integer(row, 3) == 1, state, page, statements)
        }
        return rooms
    }

    // The range is that of PageWindow. With a number as LIMIT, PostgreSQL expects few messages, and reads them by their
    // index, in order.
    private static let sql = """
        SELECT a.place, r.id, r.private, r.deleted, r.head, r.rev,
            CASE WHEN r.private = 1 THEN (SELECT m.owner FROM members m WHERE m.room = r.id AND m."user" = a.reader
                AND \(ErasureStatements.isPresent("a.reader", in: "r.id"))) END,
            page.messages
        FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
                WITH ORDINALITY AS a (name, reader, direction, gap, size, place)
            JOIN rooms r ON r.name = ANY (ARRAY[a.name])
            CROSS JOIN LATERAL (SELECT least(greatest(a.gap, 1), r.head + 1) AS gap) AS g
            CROSS JOIN LATERAL (
                SELECT CASE a.direction WHEN 0 THEN g.gap WHEN 1 THEN least(g.gap + a.size, r.head + 1)
                    ELSE least(greatest(g.gap - a.size / 2, 1) + a.size, r.head + 1) END AS past
            ) AS e
            CROSS JOIN LATERAL (
                SELECT CASE a.direction WHEN 1 THEN g.gap ELSE greatest(e.past - a.size, 1) END AS start
            ) AS s
            CROSS JOIN LATERAL (
                SELECT CASE WHEN sum(octet_length(body)) <= $6 THEN string_agg(body, ','::bytea) END AS messages
                FROM (
                    SELECT body FROM messages
                    WHERE id >= (r.id << 36) + s.start AND id < (r.id << 36) + e.past
                    ORDER BY id LIMIT \(Limits.pageMessages)
                ) AS found
            ) AS page
        """
}
