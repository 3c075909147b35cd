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

    /// A page that was read together with its room.
    struct Page {
        let isPrivate: Bool
        let isDeleted: Bool
        /// True if the reader is a member of the room. Only known of private rooms.
        let isForMember: Bool
        let slice: PageSlice
    }

    /// Returns the bounds of the page that a query asks for; `nil` if it asks for something else, or if the bounds
    /// depend on the room's messages or the reader's mark.
    private static func bounds(of query: Query) -> PageBounds? {
        guard case .room(_, .page(let request, _)) = query.kind, request.limit <= Limits.pageMessages else {
            return nil
        }
        let seq: Int64
        switch request.anchor {
        case .newest: seq = 0
        case .before(.seq(let number)), .after(.seq(let number)), .around(.seq(let number)): seq = number
        case .before(.first), .after(.first), .around(.first): seq = 1
        case .after(.last): seq = .max
        case .before, .after, .around: return nil
        }
        return request.anchor.bounds(limit: request.limit) { _ in seq }
    }

    /// Reads the pages that queries ask for, in one round trip.
    ///
    /// - Parameter limit: Maximum number of bytes of an answer.
    /// - Returns: For each query its page; `nil` if it has to be read in a transaction, or if there is no room.
    /// - Throws: ``PostgresError``.
    func pages(of queries: ArraySlice<Query>, within limit: Int) throws(PostgresError) -> [Page?] {
        var pages: [Page?] = Array(repeating: nil, count: queries.count)
        var asked: [(index: Int, query: Query, bounds: PageBounds)] = []
        for (index, query) in queries.enumerated() {
            if let bounds = Self.bounds(of: query) { asked.append((index, query, bounds)) }
        }
        if asked.isEmpty { return pages }
        var parameters = PostgresParameters()
        parameters.append(asked.map(\.query.room?.string))
        // An admin needs no membership, and a caller without a name has none.
        parameters.append(asked.map { $0.query.isAdmin ? nil : $0.query.user?.string })
        // No row has a larger key.
        parameters.append(asked.map { min($0.bounds.first, RowKey.maximumOrdinal + 1) })
        parameters.append(asked.map(\.bounds.past))
        parameters.append(asked.map { Int64($0.bounds.limit) })
        parameters.append(Self.maximumBytes)
        let result = try connection.run(select, parameters)
        for row in 0..<result.count {
            let asked = asked[Int(result.integer(row, 0)) - 1]
            let state = RoomState(head: result.integer(row, 3), rev: result.integer(row, 4))
            let window = asked.bounds.window(head: state.head)
            let messages = result.bytes(row, 6)
            // Too many bytes; the statement does not count commas.
            if window.count > 0, result.isNull(row, 6) || messages.count > limit { continue }
            pages[asked.index] = Page(
                isPrivate: result.integer(row, 1) == 1, isDeleted: result.integer(row, 2) == 1,
                isForMember: !result.isNull(row, 5), slice: PageSlice(window, messages, state))
        }
        return pages
    }

    // The range is that of ``PageBounds/window(head:)``. With a number as LIMIT, PostgreSQL expects few messages, and reads
    // them by their index, in order.
    private static let sql = """
        SELECT a.item, r.private, r.deleted, r.head, r.rev,
            CASE WHEN r.private = 1 THEN (SELECT m.owner FROM members m WHERE m.room = r.id AND m."user" = a.reader
                AND \(Erasures.isPresent("a.reader", in: "r.id"))) END,
            page.messages
        FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[])
                WITH ORDINALITY AS a (name, reader, first, past, size, item)
            JOIN rooms r ON r.name = ANY (ARRAY[a.name])
            CROSS JOIN LATERAL (SELECT least(a.past, r.head + 1) AS past) AS e
            CROSS JOIN LATERAL (
                SELECT CASE WHEN sum(octet_length(body)) <= $6 THEN string_agg(body, ','::bytea) END AS messages
                FROM (
                    SELECT body FROM messages
                    WHERE id >= (r.id << 36) + greatest(a.first, e.past - a.size) AND id < (r.id << 36) + e.past
                    ORDER BY id LIMIT \(Limits.pageMessages)
                ) AS found
            ) AS page
        """
}
