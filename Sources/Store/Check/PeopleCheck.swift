import Chat
import Wire

/// Checks the rows of rooms that are not messages: settings, read marks, members, bans and expiry marks; and blocks. Mentions
/// are also here, because those of unfiled messages do not lie beside them.
final class PeopleCheck<DB: SQLDatabase> {
    private let findings: Findings
    /// The highest `seq` of each room with unfiled messages.
    private let heads: [Int64: Int64]
    private let selectMarks: DB.Prepared
    private let selectExpired: DB.Prepared
    private let selectMentions: DB.Prepared
    private let selectMembers: DB.Prepared
    private let selectOwnerless: DB.Prepared
    private let selectNotify: DB.Prepared
    private let selectBans: DB.Prepared
    private let selectErasures: DB.Prepared
    private let selectDirect: DB.Prepared
    private let selectBlocks: DB.Prepared
    private let selectReports: DB.Prepared
    private let selectManners: DB.Prepared
    private let selectSlowSends: DB.Prepared
    private let selectProfiles: DB.Prepared

    init(_ db: DB, _ findings: Findings, _ heads: [Int64: Int64]) throws {
        self.findings = findings
        self.heads = heads
        func statement(_ columns: String, _ table: String, rows: String? = nil) throws -> DB.Prepared {
            try db.prepare(
                """
                SELECT \(table).room, rooms.name, \(columns), (SELECT max(messages.id) FROM messages
                    WHERE \(StoredTable.isMessage("messages.id", of: "\(table).room")))
                FROM \(rows.map { "(\($0)) AS " } ?? "")\(table) LEFT JOIN rooms ON rooms.id = \(table).room
                """, isLong: true)
        }
        selectMarks = try statement("\"user\", seq", "read_marks")
        selectExpired = try statement("NULL, seq", "expired")
        selectMentions = try statement(
            "NULL, seq", "mentions",
            rows:
                "SELECT message >> 36 AS room, max(message & \(RowKey.maximumOrdinal)) AS seq FROM mentions GROUP BY 1")
        selectMembers = try db.prepare(
            """
            SELECT members.room, rooms.name, "user", owner FROM members LEFT JOIN rooms ON rooms.id = members.room
            """, isLong: true)
        selectProfiles = try db.prepare(
            "SELECT \"user\", data FROM profiles WHERE data IS NOT NULL AND data <> ''", isLong: true)
        selectErasures = try db.prepare(
            "SELECT 1 FROM erasures UNION ALL SELECT 1 FROM meta WHERE key = 'imported' LIMIT 1")
        selectReports = try db.prepare(
            """
            SELECT room, seq FROM reports WHERE NOT EXISTS (SELECT 1 FROM rooms WHERE rooms.id = reports.room)
            UNION SELECT room, seq FROM reporters WHERE NOT EXISTS (
                SELECT 1 FROM reports WHERE reports.room = reporters.room AND reports.seq = reporters.seq)
            """, isLong: true)
        selectBlocks = try db.prepare("SELECT \"user\" FROM blocks WHERE \"user\" = blocked", isLong: true)
        selectDirect = try db.prepare(
            """
            SELECT name, direct_first, direct_second, private,
                (SELECT count(*) FROM members WHERE members.room = rooms.id),
                (SELECT count(*) FROM members WHERE members.room = rooms.id AND owner = 1 AND hidden IN (0, 1)
                    AND "user" IN (rooms.direct_first, rooms.direct_second))
            FROM rooms WHERE deleted = 0 AND (direct_first IS NOT NULL OR substr(name, 1, 1) = '@')
            """, isLong: true)
        selectNotify = try db.prepare(
            """
            SELECT notify.room, "user" FROM notify LEFT JOIN rooms ON rooms.id = notify.room
            WHERE rooms.id IS NULL OR level NOT IN ('all', 'mentions', 'none') OR room_mentions NOT IN (0, 1)
            """)
        selectBans = try db.prepare(
            """
            SELECT bans.room, "user", reads FROM bans LEFT JOIN rooms ON rooms.id = bans.room
            WHERE (rooms.id IS NULL AND bans.room <> \(RowKey.server)) OR reads NOT IN (0, 1)
            """)
        selectManners = try db.prepare(
            """
            SELECT name FROM rooms WHERE posting NOT IN (0, 1) OR pinning NOT IN (0, 1) OR searchable NOT IN (0, 1)
                OR slow_seconds NOT BETWEEN 0 AND \(Limits.slowSeconds)
                OR keep_days NOT BETWEEN 1 AND \(Limits.keepDays)
            """, isLong: true)
        selectSlowSends = try db.prepare(
            "SELECT room, \"user\" FROM slow_sends WHERE room NOT IN (SELECT id FROM rooms)", isLong: true)
        selectOwnerless = try db.prepare(
            """
            SELECT name, private FROM rooms
            WHERE deleted = 0 AND NOT EXISTS (SELECT 1 FROM members WHERE members.room = rooms.id AND owner = 1)
            """, isLong: true)
    }

    func run() throws {
        try checkManners()
        try checkPlaces(selectMarks) { "the read mark of \($0)" }
        try checkPlaces(selectExpired) { _ in "the mark of expired messages" }
        try checkPlaces(selectMentions) { _ in "the last mention" }
        try selectMembers.forEachRow { row in
            let (user, owner) = (row.text(2), row.integer(3))
            if row.isNull(1) {
                findings.add(
                    "\(user) is a member of this room number, but there is no such room", room: "#\(row.integer(0))")
            } else if !(0...1).contains(owner) {
                findings.add("\(user) has the unknown role \(owner)", room: row.text(1))
            }
        }
        try selectNotify.forEachRow { row in
            findings.add(
                "what may disturb \(row.text(1)) has an unknown room or level", room: "#\(row.integer(0))")
        }
        try selectBans.forEachRow { row in
            findings.add("the ban of \(row.text(1)) has an unknown room or scope", room: "#\(row.integer(0))")
        }
        try selectReports.forEachRow { row in
            findings.add("a report of message \(row.integer(1)) has no room or no message", room: "#\(row.integer(0))")
        }
        try selectBlocks.forEachRow { row in findings.add("\(row.text(0)) blocks themselves") }
        try selectDirect.forEachRow { row in checkDirect(row) }
        try selectProfiles.forEachRow { row in
            let body = Array("{\"data\":\(row.text(1))}".utf8)
            if (try? ProfileSettings.decode(body)) == nil {
                findings.add("the profile of \(row.text(0)) cannot be read")
            }
        }
        // The owners may have been erased, also before an export that the room came from, and rooms of an early version may
        // have none. Only an admin can appoint one.
        let someAreErased = try selectErasures.firstRow { _ in true } ?? false
        var (open, hidden) = (0, 0)
        try selectOwnerless.forEachRow { row in
            if row.integer(1) == 0 {
                open += 1
            } else if someAreErased {
                hidden += 1
            } else {
                findings.add("this room is private, but has no owner", room: row.text(0))
            }
        }
        if open > 0 { findings.note("open rooms without an owner: \(open)") }
        if hidden > 0 { findings.note("private rooms without an owner: \(hidden)") }
    }

    /// Checks that a direct room is private and has the two members that its id follows from, without those who were
    /// erased.
    private func checkDirect(_ row: DB.Prepared) {
        let name = row.text(0)
        guard let pair = DirectPair(row, from: 1) else {
            return findings.add("this room has the id of a direct room, but not its two users", room: name)
        }
        let count = Int64([pair.first, pair.second].count { $0 != .deleted })
        if count == 2, RoomID.direct(pair.first, pair.second).string != name {
            findings.add("the id of this direct room is not that of \(pair.first) and \(pair.second)", room: name)
        }
        if row.integer(3) != 1 { findings.add("this direct room is not private", room: name) }
        if row.integer(4) != count || row.integer(5) != count {
            findings.add("the members of this direct room are not its two users", room: name)
        }
    }

    private func checkManners() throws {
        try selectManners.forEachRow { row in
            findings.add("this room has settings out of their ranges", room: row.text(0))
        }
        try selectSlowSends.forEachRow { row in
            findings.add(
                "\(row.text(1)) has a time of slow mode in this room number, but there is no such room",
                room: "#\(row.integer(0))")
        }
    }

    private func checkPlaces(_ statement: DB.Prepared, _ name: (String) -> String) throws {
        try statement.forEachRow { row in
            let (number, seq) = (row.integer(0), row.integer(3))
            let what = name(row.text(2))
            if row.isNull(1) {
                return findings.add("there is \(what) for this room number, but no such room", room: "#\(number)")
            }
            let head = max(heads[number] ?? 0, RowKey(rawValue: row.integer(4)).ordinal)
            if !(0...head).contains(seq) {
                findings.add("\(what) is at \(seq), but the room ends at \(head)", room: row.text(1))
            }
        }
    }
}
