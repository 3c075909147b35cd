import GRDB

/// Checks deleted rooms and pending jobs.
struct JobCheck {
    private let db: Database
    private let findings: Findings

    init(_ db: Database, _ findings: Findings) {
        self.db = db
        self.findings = findings
    }

    /// The tables that may have rows of a room, each with the expression for the room's number.
    private static let tables = [
        ("members", "members.room = rooms.id"), ("read_marks", "read_marks.room = rooms.id"),
        ("expired", "expired.room = rooms.id"), ("bans", "bans.room = rooms.id"),
        ("reactions", ofMessages("reactions.message")),
        ("first_contents", ofMessages("first_contents.message")), ("messages", ofMessages("messages.id")),
    ]

    private static func ofMessages(_ key: String) -> String {
        "\(key) > rooms.id << 36 AND \(key) < (rooms.id + 1) << 36"
    }

    /// Runs the check.
    func run() throws {
        for row in try Row.fetchAll(db, sql: "SELECT id, kind FROM jobs")
        where !["room", "reactions", "user", "activity"].contains(row[1] as String) {
            findings.add("job \(row[0] as Int64) has the unknown kind \(row[1] as String)")
        }
        let alive =
            "SELECT number FROM jobs WHERE kind = 'room' AND number NOT IN (SELECT id FROM rooms WHERE deleted = 1)"
        for number in try Int64.fetchAll(db, sql: alive) {
            findings.add("a job removes this room, but the room is not marked as deleted", room: "#\(number)")
        }
        for (table, ofRoom) in Self.tables where try db.tableExists(table) {
            let names = try String.fetchAll(
                db,
                sql: """
                    SELECT name FROM rooms WHERE deleted = 1
                        AND id NOT IN (SELECT number FROM jobs WHERE kind = 'room')
                        AND EXISTS (SELECT 1 FROM \(table) WHERE \(ofRoom))
                    """)
            for name in names { findings.add("this room is deleted, but no job removes its \(table)", room: name) }
        }
        let idle = """
            SELECT count(*) FROM erasures WHERE erased = 0 AND user NOT IN (SELECT user FROM jobs WHERE kind = 'user')
            """
        if try db.tableExists("erasures"), let count = try Int.fetchOne(db, sql: idle), count > 0 {
            findings.add("users that should be erased, but have no job: \(count)")
        }
        let wrong = """
            SELECT count(*) FROM rooms WHERE deleted = 0 AND bytes <> (SELECT ifnull(sum(length(body)), 0) FROM messages
                WHERE messages.id > rooms.id << 36 AND messages.id < (rooms.id + 1) << 36)
            """
        if let count = try Int.fetchOne(db, sql: wrong), count > 0 {
            findings.note("rooms whose stored size is wrong in the admin list: \(count)")
        }
        let deleted = try Int.fetchOne(db, sql: "SELECT count(*) FROM rooms WHERE deleted = 1") ?? 0
        if deleted > 0 { findings.note("deleted rooms, whose names stay reserved: \(deleted)") }
        let jobs = try Int.fetchOne(db, sql: "SELECT count(*) FROM jobs") ?? 0
        if jobs > 0 { findings.note("unfinished jobs, which the server continues when it starts: \(jobs)") }
    }
}
