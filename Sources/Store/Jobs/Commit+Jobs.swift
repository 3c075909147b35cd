import Chat
import Wire

/// Parts of jobs.
extension Commit {
    /// Does a part of a job, and remembers how far it has come.
    ///
    /// - Returns: the job as it is now; `nil` when it is done.
    mutating func work(on job: Job) throws -> Job? {
        var next: Job?
        switch job.kind {
        case .room(let room): next = try removeRows(of: room) ? nil : job
        }
        guard let next else {
            try statements.jobs.delete(job)
            return nil
        }
        if next != job { try statements.jobs.update(next) }
        return next
    }

    /// Removes some of the rows of a deleted room.
    ///
    /// - Returns: whether they are all gone.
    private func removeRows(of room: Int64) throws -> Bool {
        let jobs = statements.jobs
        // What refers to messages goes before these do.
        if try jobs.deleteMembers(of: room, most: Job.rows) > 0 { return false }
        if try jobs.deleteMarks(of: room, most: Job.rows) > 0 { return false }
        if try jobs.deleteReactions(in: room, most: Job.rows) > 0 { return false }
        try jobs.deleteExpired(of: room)
        return try jobs.deleteMessages(of: room, most: Job.rows, bytes: Job.bytes) == 0
    }
}
