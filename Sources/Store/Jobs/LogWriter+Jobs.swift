import Chat
import GRDB
import Wire

/// Doing what is done in parts, on the thread that writes.
extension LogWriter {
    /// The jobs that were not done when the log was closed; none when they cannot be read, which the first commit says.
    func unfinishedJobs(_ state: inout WriterState) -> Jobs {
        var jobs = (try? state.prepared().jobs.all()) ?? []
        for index in jobs.indices { jobs[index].journalRow = state.journal.nextRow }
        return Jobs(jobs, retry: .milliseconds(configuration.jobRetry), at: .now)
    }

    /// Takes over what a commit that is durable has left to be done.
    func add(_ new: [Job], to jobs: inout Jobs, _ journal: Journal) {
        if new.isEmpty { return }
        var new = new
        for index in new.indices { new[index].journalRow = journal.nextRow }
        jobs.add(new)
    }

    /// Does a part of the first job. That it fails says nothing of whether messages can be stored.
    func work(on jobs: inout Jobs, _ state: inout WriterState) {
        guard let job = jobs.first else { return }
        let start = ContinuousClock.now
        do {
            var next: Job? = job
            if state.journal.hasRows(before: job.journalRow) {
                // To delete them there need only be a commit, when what they hold is in its place.
                _ = try state.transact(state.journal.due(before: job.journalRow)) { _ in }
            } else {
                let done = try state.transact(Backlog.Filing()) { commit in next = try commit.work(on: job) }
                tell(done)
            }
            jobs.worked(on: next, from: start, to: .now)
            if next == nil { configuration.onJob?(.done(job.description)) }
            // Ten times at most, however long it takes.
            if let percent = next?.percent, let before = job.percent, percent / 10 > before / 10 {
                configuration.onJob?(.progress(job.description, percent: percent))
            }
        } catch {
            if jobs.failed(at: .now) { configuration.onJob?(.failed(job.description, "\(error)")) }
        }
    }
}

extension Job: CustomStringConvertible {
    /// The job in words, for logs.
    var description: String {
        switch kind {
        case .room: "removing a deleted room"
        case .reactions: "removing the reactions to a deleted message"
        case .user: "erasing a user"
        case .activity: "preparing the order of users' rooms"
        }
    }
}
