import Wire

/// The number of days for which messages are kept, as the nodes of a database were started with.
///
/// Each node reports its `--keep-days` to the database, again and again. Messages expire by the longest time that was
/// reported lately, and by the database's clock. So a node that was started with a wrong option, or whose clock is
/// wrong, deletes nothing that another node keeps. A new value takes effect once all nodes have it.
///
/// Confined to its connection's thread.
struct Retention {
    /// Time for which a report counts: 5 minutes.
    private static let validity = Duration.seconds(300)
    /// The number of days that stands for keeping messages for ever.
    private static let forever = 0

    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) {
        self.connection = connection
    }

    /// Reports for how long this node keeps messages.
    ///
    /// - Parameter days: The number of days; `nil` for ever.
    /// - Returns: The other values that nodes have reported lately.
    @discardableResult
    func report(_ days: Int?) throws -> [Int?] {
        // Read before it is written, so the statement does not see its own row.
        try connection.all(
            """
            WITH clock AS MATERIALIZED (SELECT \(Self.now) AS now), written AS (
                INSERT INTO retention (days, at) SELECT $1::bigint, now FROM clock
                ON CONFLICT (days) DO UPDATE SET at = excluded.at
            )
            SELECT days FROM retention, clock WHERE days <> $1::bigint AND at > now - \(Self.validity.milliseconds)
            ORDER BY days
            """, days ?? Self.forever
        ) { row in
            let days = Int(row.integer(0))
            return days == Self.forever ? nil : days
        }
    }

    private static let now = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

    /// Selects the time of the database, and the number of days for which messages are kept; NULL for ever.
    static let select = """
        SELECT now, (SELECT CASE WHEN min(days) > \(forever) THEN max(days) END FROM retention
            WHERE at > now - \(validity.milliseconds))
        FROM (SELECT \(now) AS now) AS clock
        """
}
