public import Wire

/// One user's report of a message.
public struct ReportEntry: Sendable, Hashable {
    /// The user who reported the message.
    public var user: UserID
    /// The reason.
    public var reason: ReportDraft.Reason
    /// A text for the moderators; `nil` without one.
    public var note: String?
    /// The time of the report.
    public var createdAt: Timestamp

    /// Creates an entry.
    public init(user: UserID, reason: ReportDraft.Reason, note: String? = nil, createdAt: Timestamp) {
        self.user = user
        self.reason = reason
        self.note = note
        self.createdAt = createdAt
    }

    /// Appends the entry as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"user":"#)
        out.append(quoted: user.string)
        out.append(member: "reason", reason.rawValue)
        if let note { out.append(member: "note", note) }
        out.append(member: "created_at", createdAt.description)
        out.append(UInt8(ascii: "}"))
    }
}

/// A reported message, as moderators see it.
public struct Report: Sendable, Hashable {
    /// A moderator's decision.
    public struct Closing: Sendable, Hashable {
        /// The action that was taken.
        public var action: ReportAction
        /// The time of the first decision.
        public var at: Timestamp
        /// The moderator who decided last.
        public var by: UserID

        /// Creates a decision.
        public init(action: ReportAction, at: Timestamp, by: UserID) {
            self.action = action
            self.at = at
            self.by = by
        }
    }

    /// The number in the database.
    public var number: Int64
    /// The message's room.
    public var room: RoomID
    /// The message's `seq`.
    public var seq: Int64
    /// The message as it was when it was first reported, without reactions and pin: a JSON object.
    public var message: [UInt8]
    /// The time of the first report, or of the first one after the report was closed.
    public var reportedAt: Timestamp
    /// The number of users who reported it, by reason.
    public var reasons: [ReportDraft.Reason: Int64]
    /// The first reports, oldest first, at most ``Limits/reportEntries``.
    public var entries: [ReportEntry]
    /// The decision; `nil` while the report is open.
    public var closing: Closing?

    /// Creates a report.
    public init(
        number: Int64, room: RoomID, seq: Int64, message: [UInt8], reportedAt: Timestamp,
        reasons: [ReportDraft.Reason: Int64], entries: [ReportEntry], closing: Closing?
    ) {
        self.number = number
        self.room = room
        self.seq = seq
        self.message = message
        self.reportedAt = reportedAt
        self.reasons = reasons
        self.entries = entries
        self.closing = closing
    }

    /// Appends the report as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"room":"#)
        out.append(quoted: room.string)
        out.append(member: "seq", seq)
        out.append(member: "state", closing == nil ? "open" : "closed")
        out.append(member: "reported_at", reportedAt.description)
        if let closing {
            out.append(member: "action", closing.action.rawValue)
            out.append(member: "closed_at", closing.at.description)
            out.append(member: "closed_by", closing.by.string)
            out.append(
                member: "seconds_to_action", max(0, closing.at.milliseconds - reportedAt.milliseconds) / 1000)
        }
        out.append(member: "reporters", reasons.values.reduce(0, +))
        var counts: [UInt8] = []
        for reason in ReportDraft.Reason.allCases {
            if let count = reasons[reason] { counts.append(member: StaticString(reason), count) }
        }
        out.append(literal: #","reasons":"#)
        out.append(object: counts)
        out.append(literal: #","reports":"#)
        out.append(array: entries) { $0.encode(into: &$1) }
        out.append(literal: #","message":"#)
        out.append(copying: message.span)
        out.append(UInt8(ascii: "}"))
    }
}

extension StaticString {
    fileprivate init(_ reason: ReportDraft.Reason) {
        switch reason {
        case .spam: self = "spam"
        case .abuse: self = "abuse"
        case .illegal: self = "illegal"
        case .other: self = "other"
        }
    }
}

/// A page of reports, the answer to `GET /v1/admin/reports`.
public struct Reports: Sendable, Hashable {
    /// The reports.
    public var reports: [Report]
    /// The cursor of the next page; `nil` at the end of the list.
    public var next: ReportCursor?

    /// Creates a page, read in one transaction.
    public init(reports: [Report], next: ReportCursor?) {
        self.reports = reports
        self.next = next
    }

    /// Appends the page as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"reports":"#)
        out.append(array: reports) { $0.encode(into: &$1) }
        out.append(member: "has_more", next != nil)
        if let next { out.append(member: "cursor", next.description) }
        out.append(UInt8(ascii: "}"))
    }
}
