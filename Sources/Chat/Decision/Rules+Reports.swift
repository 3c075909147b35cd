import Wire

/// Reports of messages, and the decisions of moderators on them.
extension Rules {
    /// Reports a message, once for each user.
    mutating func report(
        _ seq: Int64, _ draft: ReportDraft, by submission: Submission
    ) throws(Halt) -> Receipt {
        guard let room = facts.room, seq > 0, seq <= room.head else { throw .refused(.messageNotFound) }
        try facts.require([.message, .ownReport, .time])
        if let known = facts.ownReport { return receipt(known) }
        guard let body = facts.message else { throw .refused(.messageNotFound) }
        var message = try decoded(body)
        if message.deleted { throw .refused(.messageDeleted) }
        if try isBeingErased(message, by: submission) { throw .refused(.messageDeleted) }
        try facts.require(.recentReports)
        if facts.recentReports.count >= Limits.reportsPerMinute, let first = facts.recentReports.first {
            let wait = first.milliseconds + Facts.reportTime - facts.time.milliseconds
            throw .refused(.rateLimited(retryAfter: max(1, Int((wait + 999) / 1000))))
        }
        // They name other users, who may be erased later.
        message.reactions = []
        message.pinned = nil
        var snapshot: [UInt8] = []
        message.encode(into: &snapshot)
        let entry = ReportEntry(
            user: submission.sender, reason: draft.reason, note: draft.note, createdAt: facts.time)
        writes.append(.addReport(entry, seq: seq, sender: message.sender, snapshot: snapshot))
        return receipt(entry)
    }

    /// Returns true if a message is about to be deleted, because its sender is being erased and has sent it before.
    private func isBeingErased(_ message: Message, by submission: Submission) throws(Halt) -> Bool {
        let sender = message.sender
        guard facts.erasing.contains(sender) else { return false }
        try facts.require(sender == submission.sender ? .past : .subjectPast)
        let past = sender == submission.sender ? facts.past : facts.subjectPast
        return past.boundary.map { message.seq <= $0.seq } ?? true
    }

    private func receipt(_ entry: ReportEntry) -> Receipt {
        var body: [UInt8] = []
        entry.encode(into: &body)
        return .record(body, isNew: true)
    }

    /// Records the decision of an admin on a report.
    mutating func closeReport(
        _ seq: Int64, _ action: ReportAction, by submission: Submission
    ) throws(Halt) -> Receipt {
        guard submission.isAdmin else { throw .refused(.notAnAdmin) }
        guard facts.room != nil else { throw .refused(.reportNotFound) }
        try facts.require([.report, .time])
        guard var report = facts.report else { throw .refused(.reportNotFound) }
        let closing = Report.Closing(action: action, at: report.closing?.at ?? facts.time, by: submission.sender)
        if report.closing != closing { writes.append(.closeReport(seq: seq, closing)) }
        report.closing = closing
        var body: [UInt8] = []
        report.encode(into: &body)
        return .record(body, isNew: false)
    }
}
