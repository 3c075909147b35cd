import Wire

/// Statements about jobs.
extension SQLDatabase {
    /// Returns the unfinished jobs, oldest first. Jobs of an unknown kind are left alone.
    func jobs() throws -> [Job] {
        try all("SELECT id, kind, number, \"user\", phase, place FROM jobs ORDER BY id") { row in
            Job.Kind(row.text(1), number: row.integer(2), user: row.isNull(3) ? nil : row.text(3))
                .map { Job(id: row.integer(0), kind: $0, phase: row.integer(4), cursor: row.integer(5)) }
        }.compactMap(\.self)
    }

    /// Adds a job. It starts once its commit is durable.
    func insertJob(_ kind: Job.Kind) throws -> Job {
        let id = try first(
            "INSERT INTO jobs (kind, number, \"user\", phase, place) VALUES ($1, $2, $3, 0, 0) RETURNING id", kind.name,
            kind.number, kind.user
        ) { $0.integer(0) }
        // An insertion with RETURNING always has a row.
        return Job(id: id!, kind: kind)
    }

    /// Stores the progress of a job.
    func update(_ job: Job) throws {
        try runSoon("UPDATE jobs SET phase = $1, place = $2 WHERE id = $3", job.phase, job.cursor, job.id)
    }

    /// Deletes the job of this kind and user, before another one replaces it. Does nothing for kinds without a user.
    func deleteJob(_ kind: Job.Kind) throws {
        try runSoon("DELETE FROM jobs WHERE kind = $1 AND \"user\" = $2", kind.name, kind.user)
    }

    /// Deletes a job that is done.
    func delete(_ job: Job) throws {
        try runSoon("DELETE FROM jobs WHERE id = $1", job.id)
    }
}

/// Statements that remove the rows of deleted rooms.
extension SQLDatabase {
    /// Deletes at most `most` rows of a room, from the first of ``StoredTable/ofRooms`` that has any.
    ///
    /// - Returns: false once all are gone.
    func deleteRows(of room: Int64, most: Int) throws -> Bool {
        for table in StoredTable.ofRooms {
            if try runCounting(table.deletionOfRoom, room, most) > 0 { return true }
        }
        return false
    }

    /// Deletes at most `most` messages of a room, and stops once they have `bytes` bytes. The last messages go first,
    /// so that the rest have no gaps.
    ///
    /// - Parameter before: Called with the first and the last message before they are deleted.
    /// - Returns: the number deleted.
    func deleteMessages(
        of room: Int64, most: Int, bytes: Int, before: (RowKey, RowKey) throws -> Void
    ) throws -> Int {
        let select = try prepare(
            "SELECT id, length(body) FROM messages WHERE id > $1 AND id <= $2 ORDER BY id DESC LIMIT $3")
        try select.bind(RowKey(room: room, 0).rawValue, at: 1)
        try select.bind(RowKey(room: room, RowKey.maximumOrdinal).rawValue, at: 2)
        try select.bind(Int64(most), at: 3)
        var (first, last, size, count) = (Int64(0), Int64(0), 0, 0)
        try select.withRows { row in
            while row.hasRow, size < bytes {
                first = row.integer(0)
                last = max(last, first)
                size += Int(row.integer(1))
                count += 1
                try row.next()
            }
        }
        guard count > 0 else { return 0 }
        try before(RowKey(rawValue: first), RowKey(rawValue: last))
        try runSoon("DELETE FROM messages WHERE id >= $1 AND id <= $2", first, last)
        return count
    }
}

extension Job.Kind {
    /// The kind's name in its row.
    fileprivate var name: String {
        switch self {
        case .room: "room"
        case .reactions: "reactions"
        case .user: "user"
        case .activity: "activity"
        }
    }

    /// The number of the room or message that the job is about; 0 if there is none.
    fileprivate var number: Int64 {
        switch self {
        case .room(let number), .reactions(let number), .activity(let number): number
        case .user: 0
        }
    }

    /// The user that the job is about, if any.
    fileprivate var user: UserID? {
        if case .user(let user) = self { user } else { nil }
    }

    fileprivate init?(_ name: String, number: Int64, user: String?) {
        switch (name, user) {
        case ("room", _): self = .room(number)
        case ("user", let user?): self = .user(UserID(trusted: user))
        case ("reactions", _): self = .reactions(number)
        case ("activity", _): self = .activity(number)
        default: return nil
        }
    }
}
