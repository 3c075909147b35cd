import Chat
import Wire

/// Performing parts of jobs.
extension Commit {
    /// Performs one part of a job, and stores its progress.
    ///
    /// - Returns: the job with its progress; `nil` once it is done.
    mutating func work(on job: Job) throws -> Job? {
        var next: Job?
        switch job.kind {
        case .room(let room): next = try removeRows(of: room) ? nil : job
        case .reactions(let message):
            let removed = try statements.changes.removeReactions(
                from: RowKey(rawValue: message), most: CommitLimits.jobRows)
            next = removed < CommitLimits.jobRows ? nil : job
        case .user(let user): next = try erase(user, job)
        case .activity:
            if let room = try statements.activity.fill(most: CommitLimits.jobRows) {
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

    /// Removes the reactions to a message that has become a tombstone: in this commit if they are few, otherwise by a
    /// job.
    ///
    /// One commit removes at most ``CommitLimits/jobRows`` reactions, counted over all its messages.
    mutating func removeReactions(to message: Message, at place: RowKey) throws {
        let count = message.reactions.reduce(0) { $0 + $1.count }
        if count == 0 { return }
        guard removedReactions + count <= CommitLimits.jobRows else {
            return jobs.append(try statements.jobs.insert(.reactions(place.rawValue)))
        }
        removedReactions += count
        try statements.changes.removeReactions(from: place)
    }

    /// Removes some rows of a deleted room.
    ///
    /// - Returns: true once all are gone.
    private func removeRows(of room: Int64) throws -> Bool {
        let jobs = statements.jobs
        // Rows that refer to messages are removed before the messages.
        if try jobs.deleteMembers(of: room, most: CommitLimits.jobRows) > 0 { return false }
        if try jobs.deleteMarks(of: room, most: CommitLimits.jobRows) > 0 { return false }
        if try jobs.deleteBans(of: room, most: CommitLimits.jobRows) > 0 { return false }
        if try jobs.deleteReactions(in: room, most: CommitLimits.jobRows) > 0 { return false }
        try jobs.deleteExpired(of: room)
        return try jobs.deleteMessages(of: room, most: CommitLimits.jobRows, bytes: CommitLimits.jobBytes) == 0
    }
}
