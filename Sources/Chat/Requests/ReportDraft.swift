public import Wire

/// The body of a report: `{"reason":"abuse","note":"…"}`.
public struct ReportDraft: Sendable, Hashable {
    /// The reason of a report.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Advertising and the like.
        case spam
        /// Insults, threats, hatred and the like.
        case abuse
        /// Content that is against the law.
        case illegal
        /// Anything else; the note may say what.
        case other
    }

    /// The reason.
    public var reason: Reason
    /// A text for the moderators; `nil` without one, never empty.
    public var note: String?

    /// Creates a report.
    public init(reason: Reason, note: String? = nil) {
        self.reason = reason
        self.note = note
    }

    /// Decodes the body. Null counts as absent, and unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not a JSON object; 400 `invalid_field` if the reason is absent or unknown,
    ///   or a field has the wrong type; 422 `too_long` or `nul_character` for the note.
    public static func decode(_ body: [UInt8]) throws(Problem) -> ReportDraft {
        var reader = try FieldReader(body: body)
        var reason: Reason?
        var note: String?
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "reason") {
                reason = try reader.string("reason").flatMap(Reason.init)
            } else if reader.json.matches(name, "note") {
                note = try reader.string("note", limit: Limits.reportNoteBytes)
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        guard let reason else {
            throw .invalidField("reason", must: "\"spam\", \"abuse\", \"illegal\" or \"other\"")
        }
        return ReportDraft(reason: reason, note: note?.isEmpty == true ? nil : note)
    }
}

/// The decision of a moderator on a report, as in the body `{"state":"closed","action":"deleted"}`.
public enum ReportAction: String, Sendable, Hashable {
    /// Nothing was done.
    case none
    /// The message was deleted.
    case deleted
    /// The sender was banned.
    case banned

    /// Decodes the body. Unknown fields are ignored.
    ///
    /// - Throws: 400 `invalid_json` if the body is not a JSON object; 400 `invalid_field` if the state is not `"closed"`, or the
    ///   action is absent or unknown.
    public static func decode(_ body: [UInt8]) throws(Problem) -> ReportAction {
        var reader = try FieldReader(body: body)
        var (state, action): (String?, String?)
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "state") {
                state = try reader.string("state")
            } else if reader.json.matches(name, "action") {
                action = try reader.string("action")
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        guard state == "closed" else { throw .invalidField("state", must: "\"closed\"") }
        guard let action = action.flatMap(ReportAction.init) else {
            throw .invalidField("action", must: "\"none\", \"deleted\" or \"banned\"")
        }
        return action
    }
}

/// A request for part of the list of reports.
public struct ReportsRequest: Sendable, Hashable {
    /// True for open reports, oldest first; false for closed ones, latest first.
    public var isOpen: Bool
    /// The position after which the part begins; `nil` for the beginning of the list.
    public var cursor: ReportCursor?
    /// Maximum number of reports in the answer, 1 to ``Limits/reports``.
    public var limit: Int

    /// Creates a request.
    public init(isOpen: Bool = true, cursor: ReportCursor? = nil, limit: Int = Limits.defaultReports) {
        self.isOpen = isOpen
        self.cursor = cursor
        self.limit = limit
    }

    /// Parses the parameters of a query; `nil` is an absent parameter.
    ///
    /// - Throws: 400 `invalid_field`, 400 `invalid_cursor`, 400 `invalid_limit`.
    public static func parse(state: String?, cursor: String?, limit: String?) throws(Problem) -> ReportsRequest {
        guard ["open", "closed", nil].contains(state) else {
            throw .invalidField("state", must: "\"open\" or \"closed\"")
        }
        let isOpen = state != "closed"
        return ReportsRequest(
            isOpen: isOpen,
            cursor: try cursor.map { text throws(Problem) in try ReportCursor(parsing: text, isOpen: isOpen) },
            limit: try PageRequest.parseLimit(limit, maximum: Limits.reports, default: Limits.defaultReports))
    }
}

/// A position in the list of open or of closed reports, just after one of them. Its text is `EPOCH:open:TIME:NUMBER`, or
/// `closed` instead.
public struct ReportCursor: Sendable, Hashable, CustomStringConvertible {
    /// The epoch of the history.
    public var epoch: String
    /// True in the list of open reports.
    public var isOpen: Bool
    /// The time of the report, in milliseconds since 1970.
    public var milliseconds: Int64
    /// The number of the report in the database.
    public var number: Int64

    /// Creates the position after a report.
    public init(epoch: String, isOpen: Bool, milliseconds: Int64, number: Int64) {
        self.epoch = epoch
        self.isOpen = isOpen
        self.milliseconds = milliseconds
        self.number = number
    }

    /// Parses a cursor.
    ///
    /// - Parameter isOpen: True in the list of open reports.
    /// - Throws: 400 `invalid_cursor` if the server cannot have issued it for this list.
    public init(parsing string: String, isOpen: Bool) throws(Problem) {
        let parts = string.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, SincePosition.isEpoch(parts[0]), parts[1] == Self.state(isOpen),
            let time = Int64(clampingDigits: parts[2]), let number = Int64(clampingDigits: parts[3])
        else {
            throw .invalidCursor("cursor", detail: "The cursor must come from an answer of the list with this state.")
        }
        self.init(epoch: String(parts[0]), isOpen: isOpen, milliseconds: time, number: number)
    }

    private static func state(_ isOpen: Bool) -> String { isOpen ? "open" : "closed" }

    /// The cursor as sent to clients.
    public var description: String { "\(epoch):\(Self.state(isOpen)):\(milliseconds):\(number)" }
}
