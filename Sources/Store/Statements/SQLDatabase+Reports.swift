import Chat
import Wire

/// Statements about reports.
extension SQLDatabase {
    /// Adds a user's report of a message. The first report keeps the snapshot; one of a closed report opens it again.
    func addReport(_ entry: ReportEntry, room: Int64, seq: Int64, sender: UserID, snapshot: [UInt8]) throws {
        try runSoon(
            """
            INSERT INTO reports (room, seq, sender, body, created_at) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (room, seq) DO UPDATE SET closed_at = NULL, action = NULL, closed_by = NULL,
                created_at = CASE WHEN reports.closed_at IS NULL THEN reports.created_at ELSE excluded.created_at END
            """, room, seq, sender, snapshot, entry.createdAt)
        try runSoon(
            """
            INSERT INTO reporters (room, seq, "user", reason, note, created_at) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT DO NOTHING
            """, room, seq, entry.user, entry.reason.rawValue, entry.note, entry.createdAt)
    }

    func closeReport(_ closing: Report.Closing, room: Int64, seq: Int64) throws {
        try runSoon(
            "UPDATE reports SET closed_at = $1, action = $2, closed_by = $3 WHERE room = $4 AND seq = $5", closing.at,
            closing.action.rawValue, closing.by, room, seq)
    }

    /// Returns a user's report of a message; `nil` if there is none.
    func reportEntry(of user: UserID, room: Int64, seq: Int64) throws -> ReportEntry? {
        try first(
            """
            SELECT "user", reason, note, created_at FROM reporters WHERE room = $1 AND seq = $2 AND "user" = $3
            """, room, seq, user
        ) { ReportEntry($0) }
    }

    /// Returns the times of a user's reports after `time`, oldest first: at most as many as a minute may have.
    func reportTimes(of user: UserID, after time: Int64) throws -> [Timestamp] {
        try all(
            """
            SELECT created_at FROM reporters WHERE "user" = $1 AND created_at > $2
            ORDER BY created_at LIMIT \(Limits.reportsPerMinute)
            """, user, time
        ) { Timestamp(milliseconds: $0.integer(0)) }
    }

    /// Returns the report of a message; `nil` if there is none.
    func report(of seq: Int64, in room: Int64) throws -> Report? {
        let found = try first(
            "SELECT \(Report.columns) \(Report.tables) WHERE reports.room = $1 AND reports.seq = $2", room, seq
        ) { (room: $0.integer(1), report: Report($0)) }
        return try found.map { try completed($0.report, $0.room) }
    }

    /// Returns at most `limit` reports after a position, by the time of the report: open ones oldest first, or closed ones
    /// latest first.
    func reports(isOpen: Bool, after cursor: ReportCursor?, limit: Int) throws -> [Report] {
        let found =
            isOpen
            ? try all(
                """
                SELECT \(Report.columns) \(Report.tables) WHERE closed_at IS NULL
                    AND (reports.created_at, reports.id) > ($1, $2)
                ORDER BY reports.created_at, reports.id LIMIT $3
                """, cursor?.milliseconds ?? .min, cursor?.number ?? 0, limit
            ) { (room: $0.integer(1), report: Report($0)) }
            : try all(
                """
                SELECT \(Report.columns) \(Report.tables) WHERE closed_at IS NOT NULL
                    AND (reports.created_at, reports.id) < ($1, $2)
                ORDER BY reports.created_at DESC, reports.id DESC LIMIT $3
                """, cursor?.milliseconds ?? .max, cursor?.number ?? .max, limit
            ) { (room: $0.integer(1), report: Report($0)) }
        return try found.map { try completed($0.report, $0.room) }
    }

    /// Returns a report with those who made it.
    private func completed(_ report: Report, _ room: Int64) throws -> Report {
        var report = report
        for (reason, count) in try all(
            "SELECT reason, count(*) FROM reporters WHERE room = $1 AND seq = $2 GROUP BY reason", room, report.seq,
            row: { (ReportDraft.Reason(rawValue: $0.text(0)) ?? .other, $0.integer(1)) })
        {
            report.reasons[reason] = count
        }
        report.entries = try all(
            """
            SELECT "user", reason, note, created_at FROM reporters WHERE room = $1 AND seq = $2
            ORDER BY created_at, "user" LIMIT \(Limits.reportEntries)
            """, room, report.seq
        ) { ReportEntry($0) }
        return report
    }

    // MARK: Erasure

    /// Removes the name of a user who is being erased from the decisions on reports.
    func eraseName(fromReportsOf user: UserID) throws {
        try runSoon("UPDATE reports SET closed_by = '\(UserID.deleted)' WHERE closed_by = $1", user)
    }

    /// Deletes at most `most` reports of a user's messages, and at most `most` reports by the user. Those of messages beyond the
    /// user's boundary in the room belong to a new user of the name.
    ///
    /// - Returns: False if there may be more.
    func deleteReports(of user: UserID, most: Int) throws -> Bool {
        func isOfNewUser(_ table: String) -> String {
            """
            EXISTS (SELECT 1 FROM returns
                WHERE returns."user" = $1 AND returns.room = \(table).room AND returns.seq < \(table).seq)
            """
        }
        let found = try all(
            "SELECT room, seq FROM reports WHERE sender = $1 AND NOT \(isOfNewUser("reports")) LIMIT $2", user, most
        ) {
            ($0.integer(0), $0.integer(1))
        }
        for (room, seq) in found {
            try runSoon("DELETE FROM reporters WHERE room = $1 AND seq = $2", room, seq)
            try runSoon("DELETE FROM reports WHERE room = $1 AND seq = $2", room, seq)
        }
        let own = try runCounting(
            """
            DELETE FROM reporters WHERE "user" = $1 AND (room, seq) IN (
                SELECT room, seq FROM reporters AS found WHERE "user" = $1 AND NOT \(isOfNewUser("found")) LIMIT $2)
            """, user, most)
        return found.count < most && own < most
    }
}

extension ReportEntry {
    /// Creates the entry of a row with the columns `user, reason, note, created_at`.
    fileprivate init(_ row: some SQLStatement) {
        self.init(
            user: UserID(trusted: row.text(0)), reason: ReportDraft.Reason(rawValue: row.text(1)) ?? .other,
            note: row.isNull(2) ? nil : row.text(2), createdAt: Timestamp(milliseconds: row.integer(3)))
    }
}

extension Report {
    fileprivate static let columns = """
        reports.id, reports.room, rooms.name, reports.seq, reports.body, reports.created_at, closed_at, action, closed_by
        """
    fileprivate static let tables = "FROM reports JOIN rooms ON rooms.id = reports.room"

    /// Creates the report of a row with ``columns``, without those who made it.
    fileprivate init(_ row: some SQLStatement) {
        self.init(
            number: row.integer(0), room: RoomID(trusted: row.text(2)), seq: row.integer(3), message: row.bytes(4),
            reportedAt: Timestamp(milliseconds: row.integer(5)), reasons: [:], entries: [],
            closing: row.isNull(6)
                ? nil
                : Closing(
                    action: ReportAction(rawValue: row.text(7)) ?? .none, at: Timestamp(milliseconds: row.integer(6)),
                    by: UserID(trusted: row.text(8))))
    }
}
