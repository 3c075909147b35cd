/// Checks deleted rooms and pending jobs.
struct JobCheck<DB: SQLDatabase> {
    let db: DB
    let findings: Findings

    func run() throws {
        try db.forEach("SELECT id, kind FROM jobs") { row in
            let kind = row.text(1)
            if !["room", "reactions", "user", "activity"].contains(kind) {
                findings.add("job \(row.integer(0)) has the unknown kind \(kind)")
            }
        }
        let alive =
            "SELECT number FROM jobs WHERE kind = 'room' AND number NOT IN (SELECT id FROM rooms WHERE deleted = 1)"
        try db.forEach(alive) { row in
            findings.add("a job removes this room, but the room is not marked as deleted", room: "#\(row.integer(0))")
        }
        let tables =
            StoredTable.ofRooms.map { ($0.name, $0.isOfRoom("rooms.id")) }
            + [
                ("messages", StoredTable.isMessage("messages.id", of: "rooms.id")),
                ("indexed", "indexed.room = rooms.id"),
            ]
        for (table, isOfRoom) in tables {
            guard try db.hasTable(table) else { continue }
            let names = """
                SELECT name FROM rooms WHERE deleted = 1
                    AND id NOT IN (SELECT number FROM jobs WHERE kind = 'room')
                    AND EXISTS (SELECT 1 FROM \(table) WHERE \(isOfRoom))
                """
            try db.forEach(names) { row in
                findings.add("this room is deleted, but no job removes its \(table)", room: row.text(0))
            }
        }
        let idle = """
            SELECT count(*) FROM erasures WHERE erased = 0 AND "user" NOT IN (SELECT "user" FROM jobs WHERE kind = 'user')
            """
        if try db.hasTable("erasures") {
            let count = try count(idle)
            if count > 0 { findings.add("users marked for erasure without a job: \(count)") }
        }
        for table in ["webhook_rooms", "webhook_events", "pushed", "pushed_badges", "push_changes"]
        where try db.hasTable(table) {
            // Push events have their cursors under the negative number of the webhook.
            let lost = try count("SELECT count(*) FROM \(table) WHERE abs(webhook) NOT IN (SELECT id FROM webhooks)")
            if lost > 0 { findings.add("rows of \(table) for webhooks that do not exist: \(lost)") }
            if table == "pushed_badges" { continue }
            // Events of the whole server have no room.
            let homeless = try count(
                """
                SELECT count(*) FROM \(table)
                WHERE room <> \(RowKey.server) AND room NOT IN (SELECT id FROM rooms)
                """)
            if homeless > 0 { findings.add("rows of \(table) for rooms that do not exist: \(homeless)") }
        }
        let wrong = try count(
            """
            SELECT count(*) FROM rooms WHERE deleted = 0 AND bytes <> (SELECT coalesce(sum(length(body)), 0) FROM messages
                WHERE \(StoredTable.isMessage("messages.id", of: "rooms.id")))
            """)
        if wrong > 0 { findings.note("rooms whose stored size is wrong in the admin list: \(wrong)") }
        let deleted = try count("SELECT count(*) FROM rooms WHERE deleted = 1")
        if deleted > 0 { findings.note("deleted rooms, whose names stay reserved: \(deleted)") }
        let jobs = try count("SELECT count(*) FROM jobs")
        if jobs > 0 { findings.note("unfinished jobs, which the server continues when it starts: \(jobs)") }
    }

    private func count(_ sql: String) throws -> Int64 {
        try db.first(sql) { $0.integer(0) } ?? 0
    }
}
