import Chat
import GRDB
import Wire

/// Performing jobs, on the writer's thread.
extension LogWriter {
    /// Returns the jobs that were unfinished when the log was closed. Returns none if they cannot be read; the first
    /// commit reports that.
    func unfinishedJobs(_ state: inout WriterState) -> Jobs {
        var jobs = (try? state.prepared().jobs.all()) ?? []
        for index in jobs.indices { jobs[index].journalRow = journal.nextRow }
        return Jobs(jobs, retry: .milliseconds(configuration.jobRetry), at: .now)
    }

    /// Adds the jobs of a durable commit to the queue.
    func add(_ new: [Job], to jobs: inout Jobs) {
        if new.isEmpty { return }
        var new = new
        for index in new.indices { new[index].journalRow = journal.nextRow }
        jobs.add(new)
    }

    /// Performs one part of the first job. A failure does not mean that sends fail, so it does not change the health of
    /// the log.
    func work(on jobs: inout Jobs, _ state: inout WriterState) {
        guard let job = jobs.first else { return }
        let start = ContinuousClock.now
        do {
            var next: Job? = job
            if journal.hasRows(before: job.journalRow) {
                // Filing the messages of these journal rows lets the commit delete the rows.
                _ = try state.transact(filing: .rows(before: job.journalRow)) { _ in }
            } else {
                let done = try state.transact { commit in next = try commit.work(on: job) }
                tell(done)
            }
            jobs.worked(on: next, from: start, to: .now)
            if next == nil { configuration.onJob?(.done(job.description)) }
            // Reports progress at most ten times for each job.
            if let percent = next?.percent, let before = job.percent, percent / 10 > before / 10 {
                configuration.onJob?(.progress(job.description, percent: percent))
            }
        } catch {
            if jobs.failed(at: .now) { configuration.onJob?(.failed(job.description, "\(error)")) }
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
        case .activity: "preparing the order of users' rooms"
        }
    }
}
