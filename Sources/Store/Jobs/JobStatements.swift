import Wire

/// The writer's statements for jobs and the rows that they remove.
///
/// Confined to its connection.
final class JobStatements {
    private let select: PreparedStatement
    private let insert: PreparedStatement
    private let update: PreparedStatement
    private let delete: PreparedStatement
    private let deleteOfUser: PreparedStatement
    private let selectLastMessages: PreparedStatement
    private let deleteMessages: PreparedStatement
    private let deleteFirstContents: PreparedStatement
    private let deleteExpired: PreparedStatement
    /// The statements that delete some rows of a room, one for each table.
    private let deleteRows: [PreparedStatement]

    init(_ db: Connection) throws {
        select = try PreparedStatement("SELECT id, kind, number, user, phase, place FROM jobs ORDER BY id", db)
        insert = try PreparedStatement(
            "INSERT INTO jobs (kind, number, user, phase, place) VALUES (?, ?, ?, 0, 0) RETURNING id", db)
        update = try PreparedStatement("UPDATE jobs SET phase = ?, place = ? WHERE id = ?", db)
        delete = try PreparedStatement("DELETE FROM jobs WHERE id = ?", db)
        deleteOfUser = try PreparedStatement("DELETE FROM jobs WHERE kind = ? AND user = ?", db)
        selectLastMessages = try PreparedStatement(
            "SELECT id, length(body) FROM messages WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT ?", db)
        deleteMessages = try PreparedStatement("DELETE FROM messages WHERE id >= ? AND id <= ?", db)
        deleteFirstContents = try PreparedStatement(
            "DELETE FROM first_contents WHERE message >= ? AND message <= ?", db)
        deleteExpired = try PreparedStatement("DELETE FROM expired WHERE room = ?", db)
        deleteRows = try [
            "DELETE FROM members WHERE (room, user) IN (SELECT room, user FROM members WHERE room = ?1 LIMIT ?2)",
            "DELETE FROM read_marks WHERE (user, room) IN (SELECT user, room FROM read_marks WHERE room = ?1 LIMIT ?2)",
            "DELETE FROM bans WHERE (room, user) IN (SELECT room, user FROM bans WHERE room = ?1 LIMIT ?2)",
            """
            DELETE FROM reactions WHERE (message, key, user) IN (SELECT message, key, user FROM reactions
                WHERE message > ?1 << 36 AND message <= (?1 << 36 | \(RowKey.maximumPlace)) LIMIT ?2)
            """,
        ].map { try PreparedStatement($0, db) }
    }

    // MARK: Jobs

    /// Returns the unfinished jobs, oldest first. Jobs of an unknown kind are left alone.
    func all() throws -> [Job] {
        var jobs: [Job] = []
        try select.forEachRow { row in
            guard let kind = Job.Kind(row.text(1), number: row.integer(2), user: row.isNull(3) ? nil : row.text(3))
            else { return }
            jobs.append(Job(id: row.integer(0), kind: kind, phase: row.integer(4), place: row.integer(5)))
        }
        return jobs
    }

    /// Adds a job. It starts once its commit is durable.
    func insert(_ kind: Job.Kind) throws -> Job {
        try insert.bind(kind.name, at: 1)
        try insert.bind(kind.number, at: 2)
        try insert.bind(kind.user?.string, at: 3)
        // An insertion with RETURNING always has a row.
        return Job(id: try insert.firstRow { $0.integer(0) }!, kind: kind)
    }

    /// Stores the progress of a job.
    func update(_ job: Job) throws {
        try update.bind(job.phase, at: 1)
        try update.bind(job.place, at: 2)
        try update.bind(job.id, at: 3)
        try update.run()
    }

    /// Deletes the job of this kind and user, before another one replaces it. Does nothing for kinds without a user.
    func delete(_ kind: Job.Kind) throws {
        try deleteOfUser.bind(kind.name, at: 1)
        try deleteOfUser.bind(kind.user?.string, at: 2)
        try deleteOfUser.run()
    }

    /// Deletes a job that is done.
    func delete(_ job: Job) throws {
        try delete.bind(job.id, at: 1)
        try delete.run()
    }

    // MARK: Rows to remove

    /// Deletes at most `most` rows of a room from the first table that has any: members, read marks, bans, or reactions
    /// to its messages.
    ///
    /// - Returns: false once all are gone.
    func deleteRows(of room: Int64, most: Int) throws -> Bool {
        for statement in deleteRows {
            try statement.bind(room, at: 1)
            try statement.bind(Int64(most), at: 2)
            if try statement.runCounting() > 0 { return true }
        }
        return false
    }

    /// Deletes at most `most` messages of a room, and stops once they have `bytes` bytes. The last messages go first,
    /// so that the rest have no gaps.
    ///
    /// - Returns: the number deleted.
    func deleteMessages(of room: Int64, most: Int, bytes: Int) throws -> Int {
        let (low, high) = (RowKey(room: room, 0).rawValue, RowKey(room: room, RowKey.maximumPlace).rawValue)
        try selectLastMessages.bind(low, at: 1)
        try selectLastMessages.bind(high, at: 2)
        try selectLastMessages.bind(Int64(most), at: 3)
        var (first, last, size, count) = (Int64(0), Int64(0), 0, 0)
        try selectLastMessages.withRows { rows in
            while rows.hasRow, size < bytes {
                first = rows.row.integer(0)
                last = max(last, first)
                size += Int(rows.row.integer(1))
                count += 1
                try rows.next()
            }
        }
        guard count > 0 else { return 0 }
        for statement in [deleteMessages, deleteFirstContents] {
            try statement.bind(first, at: 1)
            try statement.bind(last, at: 2)
            try statement.run()
        }
        return count
    }

    /// Deletes a room's expiry mark.
    func deleteExpired(of room: Int64) throws {
        try deleteExpired.bind(room, at: 1)
        try deleteExpired.run()
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
