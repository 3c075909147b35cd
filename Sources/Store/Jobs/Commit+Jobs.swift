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
        case .reactions(let message):
            let removed = try statements.changes.removeReactions(from: RowKey(rawValue: message), most: Job.rows)
            next = removed < Job.rows ? nil : job
        case .user(let user): next = try erase(user, job)
        case .activity:
            if let room = try statements.activity.fill(most: Job.rows) {
                next = job
                next?.place = room
            }
        }
        guard let next else {
            try statements.jobs.delete(job)
            return nil
        }
        if next != job { try statements.jobs.update(next) }
        return next
    }

    /// Takes the reactions to a message away that has become a tombstone: at once where they are few, else in parts.
    ///
    /// A commit removes ``Job/rows`` of them at most, those to all of its messages together.
    mutating func removeReactions(to message: Message, at place: RowKey) throws {
        let count = message.reactions.reduce(0) { $0 + $1.count }
        if count == 0 { return }
        guard removedReactions + count <= Job.rows else {
            return jobs.append(try statements.jobs.insert(.reactions(place.rawValue)))
        }
        removedReactions += count
        try statements.changes.removeReactions(from: place)
    }

    /// Removes some of the rows of a deleted room.
    ///
    /// - Returns: whether they are all gone.
    private func removeRows(of room: Int64) throws -> Bool {
        let jobs = statements.jobs
        // What refers to messages goes before these do.
        if try jobs.deleteMembers(of: room, most: Job.rows) > 0 { return false }
        if try jobs.deleteMarks(of: room, most: Job.rows) > 0 { return false }
        if try jobs.deleteBans(of: room, most: Job.rows) > 0 { return false }
        if try jobs.deleteReactions(in: room, most: Job.rows) > 0 { return false }
        try jobs.deleteExpired(of: room)
        return try jobs.deleteMessages(of: room, most: Job.rows, bytes: Job.bytes) == 0
    }
}
