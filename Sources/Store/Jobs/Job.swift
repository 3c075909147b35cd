import Wire

/// Work that is too much for one commit, such as removing what a deleted room has held. It is done in parts, each a commit
/// of its own that also says how far it has come; so it goes on from there after a crash.
///
/// To add a kind of work: add it to ``Kind``, insert a job in the commit that makes the work necessary
/// (``JobStatements/insert(_:)``, ``Commit/jobs``), and do a bounded part of it in ``Commit/work(on:)``.
struct Job: Equatable {
    /// The work to do.
    enum Kind: Equatable {
        /// Remove all rows of a deleted room, by its number; only its name stays.
        case room(Int64)
        /// Remove the reactions to a message that has become a tombstone, by its ``RowKey``.
        case reactions(Int64)
        /// Remove what there is of a user, see ``Commit/erase(_:_:)``.
        case user(UserID)
        /// Fill in the activity of the memberships of an earlier version's database, whose last room has this number.
        case activity(Int64)
    }

    /// Its row.
    let id: Int64
    /// The work to do.
    let kind: Kind
    /// Its progress, in terms of its kind.
    var phase: Int64 = 0
    var place: Int64 = 0
    /// Rows of the journal before this one may hold what is to go. They are deleted first: what is done in the messages'
    /// places would not reach them. Not stored, as rows are numbered anew when the log is opened.
    var journalRow: Int64 = 0

    /// Its progress in percent; `nil` where that is not known.
    var percent: Int? {
        switch kind {
        case .room, .reactions, .user: nil
        case .activity(let last): last > 0 ? Int(min(99, place * 100 / last)) : nil
        }
    }

    /// The most rows that one part of a job changes or deletes.
    static let rows = 256
    /// Maximum number of bytes of messages that one part removes, 1 MiB; the last message may exceed it.
    static let bytes = 1024 * 1024
}

/// The jobs that are to be done, and when the next part is due.
///
/// They are done by turns, a part each, so that a long one does not hold up a short one. After each part the writer is
/// free for three times as long as that took: senders have three quarters of its time at least, whatever there is to do.
///
/// A plain value: it says what to do and when, and is told what came of it.
struct Jobs {
    private var queue: [Job]
    /// The time when the next part is due; `nil` when there is nothing to do.
    var next: ContinuousClock.Instant? { queue.isEmpty ? nil : due }
    private var due: ContinuousClock.Instant
    private let retry: Duration
    /// Jobs whose last part has failed, by their ids.
    private var failed: Set<Int64> = []

    /// The pause after a part, as a multiple of the time that the part has taken.
    static let rest = 3

    /// Jobs that were not done when the log was closed; the first part is due at `now`.
    ///
    /// - Parameter retry: how long nothing is done after a part that has failed.
    init(_ jobs: [Job], retry: Duration, at now: ContinuousClock.Instant) {
        queue = jobs
        self.retry = retry
        due = now
    }

    /// The job of which the next part is due.
    var first: Job? { queue.first }

    /// Adds jobs that a commit has left to be done. One takes the place of another of the same kind.
    mutating func add(_ jobs: [Job]) {
        queue.removeAll { job in jobs.contains { $0.kind == job.kind } }
        queue += jobs
    }

    /// A part of the first job has been done: it is `job` now, or `nil` when it is over. The next one has its turn.
    mutating func worked(on job: Job?, from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
        let last = queue.removeFirst()
        failed.remove(last.id)
        if let job { queue.append(job) }
        due = end + start.duration(to: end) * Self.rest
    }

    /// A part of the first job has failed, and nothing of it lasts. The next one has its turn.
    ///
    /// - Returns: whether that is news.
    mutating func failed(at now: ContinuousClock.Instant) -> Bool {
        let last = queue.removeFirst()
        queue.append(last)
        due = now + retry
        return failed.insert(last.id).inserted
    }
}
