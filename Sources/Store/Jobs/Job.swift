import Wire

/// Work that is too large for one commit, such as removing the contents of a deleted room. It is done in parts. Each
/// part is a commit that also stores the progress, so the job continues after a crash.
///
/// To add a kind of work: add it to ``Kind``, insert a job in the commit that makes the work necessary
/// (``Commit/jobs``), and perform a bounded part of it in ``Commit/work(on:)``.
struct Job: Equatable {
    enum Kind: Equatable {
        /// Removes all rows of a deleted room, given by its number. Its name stays.
        case room(Int64)
        /// Removes the reactions to a tombstone, given by its ``RowKey``.
        case reactions(Int64)
        /// Removes a user's data, see ``Commit/erase(_:_:)``.
        case user(UserID)
        /// Fills in the activity of memberships that an earlier version stored, up to the room with this number.
        case activity(Int64)
    }

    let id: Int64
    let kind: Kind
    /// Its progress; the meaning depends on the kind.
    var phase: Int64 = 0
    var cursor: Int64 = 0
    /// The journal row before which rows may hold data to remove. Those rows are deleted first, because the job works
    /// on filed messages only. Not stored: rows get new numbers when the log is opened.
    var journalRow: Int64 = 0

    /// Its progress in percent; `nil` if unknown.
    var percent: Int? {
        switch kind {
        case .room, .reactions, .user: nil
        case .activity(let last): last > 0 ? Int(min(99, cursor * 100 / last)) : nil
        }
    }
}

/// The queue of unfinished jobs, and the time when the next part is due.
///
/// Jobs take turns, one part each, so that a long job does not delay a short one. Every second part is that of an
/// erasure, if there is one, however many rooms wait for their removal. After each part the writer pauses
/// jobs for three times as long as the part took. So senders have at least three quarters of the writer's time.
///
/// A plain value. The caller performs the parts and reports their results.
struct Jobs {
    /// The erasures, and the other jobs.
    private var queues: [[Job]] = [[], []]
    /// The queue whose turn it is. If it is empty, it is the other's turn.
    private var turn = 0
    private var current: Int { queues[turn].isEmpty ? 1 - turn : turn }
    /// The time when the next part is due; `nil` if there are no jobs.
    var next: ContinuousClock.Instant? { first == nil ? nil : due }
    private var due: ContinuousClock.Instant
    private let retry: Duration
    /// The ids of jobs whose last part failed.
    private var failed: Set<Int64> = []

    /// The pause after a part, as a multiple of the part's duration.
    static let rest = 3

    /// Creates an empty queue. The first part of a job is due at `now`.
    ///
    /// - Parameter retry: the pause after a failed part.
    init(retry: Duration, at now: ContinuousClock.Instant) {
        self.retry = retry
        due = now
    }

    /// The job whose next part is due.
    var first: Job? { queues[current].first }

    /// Adds jobs. A job replaces another of the same kind.
    mutating func add(_ jobs: [Job]) {
        for index in queues.indices {
            queues[index].removeAll { job in jobs.contains { $0.kind == job.kind } }
            queues[index] += jobs.filter { $0.queue == index }
        }
    }

    /// Records a completed part of `job`, which was ``first`` when the part began, and moves on to the next job. The part may
    /// itself have added jobs. `next` is the job with its new progress; `nil` if it is done.
    mutating func worked(
        on job: Job, next: Job?, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
    ) {
        remove(job)
        failed.remove(job.id)
        if let next { queues[next.queue].append(next) }
        due = end + start.duration(to: end) * Self.rest
    }

    /// Records a failed part of `job`, which was ``first``, and whose changes were rolled back. Moves on to the next job.
    ///
    /// - Returns: true if the part before it did not fail.
    mutating func failed(_ job: Job, at now: ContinuousClock.Instant) -> Bool {
        remove(job)
        queues[job.queue].append(job)
        due = now + retry
        return failed.insert(job.id).inserted
    }
}

extension Jobs {
    private mutating func remove(_ job: Job) {
        turn = 1 - job.queue
        queues[job.queue].removeAll { $0.id == job.id }
    }
}

extension Job {
    /// The index of its queue in ``Jobs``.
    fileprivate var queue: Int {
        if case .user = kind { 0 } else { 1 }
    }
}

/// Performing jobs, on the writer's thread.
extension CommitMaker {
    /// Performs one part of the first job. A failure does not mean that sends fail, so it does not change the health of
    /// the log.
    mutating func work(_ reports: WriterReports) {
        guard let job = jobs.first else { return }
        let start = ContinuousClock.now
        do {
            var next: Job? = job
            if try !makeReady(for: job) {
                let done = try transact { commit in next = try commit.work(on: job) }
                reports.tell(done)
            }
            jobs.worked(on: job, next: next, from: start, to: .now)
            if next == nil { configuration.onJob?(.done(job.description)) }
            // Reports progress at most ten times for each job.
            if let percent = next?.percent, let before = job.percent, percent / 10 > before / 10 {
                configuration.onJob?(.progress(job.description, percent: percent))
            }
        } catch {
            if jobs.failed(job, at: .now) { configuration.onJob?(.failed(job.description, "\(error)")) }
        }
    }
}

extension Job: CustomStringConvertible {
    /// A description of the job for logs.
    var description: String {
        switch kind {
        case .room: "removing a deleted room"
        case .reactions: "removing the reactions to a deleted message"
        case .user: "erasing a user"
        case .activity: "sorting users' rooms by activity"
        }
    }
}

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
            let removed = try db.removeReactions(
                to: RowKey(rawValue: message), most: CommitLimits.jobRows)
            next = removed < CommitLimits.jobRows ? nil : job
        case .user(let user): next = try erase(user, job)
        case .activity:
            if let room = try store.fillActivity(most: CommitLimits.jobRows) {
                next = job
                next?.cursor = room
            }
        }
        guard let next else {
            try db.delete(job)
            return nil
        }
        if next != job { try db.update(next) }
        return next
    }

    /// Removes the reactions to a message that has become a tombstone: in this commit if they are few, otherwise by a
    /// job.
    ///
    /// One commit removes at most ``CommitLimits/jobRows`` reactions, counted over all its messages.
    mutating func removeReactions(_ count: Int, to message: RowKey) throws {
        guard removedReactions + count <= CommitLimits.jobRows else {
            return jobs.append(try db.insertJob(.reactions(message.rawValue)))
        }
        removedReactions += count
        try db.removeReactions(to: message)
    }

    /// Removes some rows of a deleted room.
    ///
    /// - Returns: true once all are gone.
    private func removeRows(of room: Int64) throws -> Bool {
        // Rows that refer to messages are removed before the messages.
        if try db.deleteRows(of: room, most: CommitLimits.jobRows) { return false }
        return try db.deleteMessages(
            of: room, most: CommitLimits.jobRows, bytes: CommitLimits.jobBytes, before: store.unindex) == 0
    }
}
