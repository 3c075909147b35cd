extension Timeline {
    /// The whole state of a chat screen. A value: keep it, compare it, or pass it to another isolation domain.
    public struct View: Hashable, Sendable {
        /// The lines of the list, oldest first. No two have the same ``Row/id``.
        public let rows: [Row]
        /// The state of the edge with the oldest messages.
        public let before: EdgeState
        /// The state of the edge with the newest messages.
        public let after: EdgeState
        /// The state of the connection.
        public let connection: Connection
        /// The history that ``rev`` belongs to; nil before the first page.
        public let epoch: String?
        /// The revision up to which everything that concerns the window has been applied; 0 before the first page.
        public let rev: Int64
        /// The number of messages of others after the read mark.
        public let unread: Int64
        /// The user's read mark, a `seq`; nil while it is unknown.
        public let read: Int64?
        /// The unseen messages of others that arrived since the reader was last at the bottom; nil if there are none.
        public let toast: Toast?
        /// The users who are typing, in the order in which they began.
        public let typing: [String]
        /// The number of users in the room; nil while it is unknown.
        public let online: Int64?
        /// The loading state for the list to show.
        public let phase: Phase

        /// The part of ``toast`` that is unread; nil if there is none. The user may have read the rest on another device.
        public var unreadToast: Toast? {
            guard let toast, unread > 0, toast.seq > read ?? 0 else { return nil }
            return Toast(count: min(toast.count, Int(unread)), seq: toast.seq)
        }
    }

    /// The state of an edge of the window.
    public enum EdgeState: String, Hashable, Sendable {
        /// The room has more messages. Before the first page: nothing has been requested.
        case idle
        /// A page has been requested.
        case loading
        /// The last request failed. ``Event/near(_:)`` retries at once.
        case failed
        /// The room has no more messages here.
        case end
    }

    /// The state of the connection.
    public enum Connection: String, Hashable, Sendable {
        /// There is no socket, or it has not opened yet.
        case offline
        /// The socket is replaying missed changes.
        case catchingUp = "catching_up"
        /// Changes arrive as they are made.
        case live
    }

    /// The loading state for a list to show.
    public enum Phase: String, Hashable, Sendable {
        /// There is nothing to show yet.
        case initial
        /// Older messages are loading, and perhaps newer ones, too.
        case prepending
        /// Newer messages are loading.
        case appending
        /// No page that scrolling requested is loading.
        case idle
    }

    /// The messages that a "new messages" button announces.
    public struct Toast: Hashable, Sendable {
        /// The number of the messages.
        public let count: Int
        /// The `seq` of the newest of them.
        public let seq: Int64
    }

    /// A day in the user's time zone.
    public struct Day: Hashable, Sendable, Comparable, CustomStringConvertible {
        /// The number of days since 1970-01-01.
        public let daysSince1970: Int64

        /// Creates a day, at most 100,000,000 days from 1970-01-01.
        public init(daysSince1970: Int64) {
            self.daysSince1970 = min(max(daysSince1970, -100_000_000), 100_000_000)
        }

        /// The day as `YYYY-MM-DD` in the Gregorian calendar. Years after 9999 or before 0 have a sign and six digits.
        public var description: String {
            // Days are counted from 0000-03-01 in eras of 400 years, so that a leap day is the last day of its year.
            let shifted = daysSince1970 + 719_468
            let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let month = (5 * dayOfYear + 2) / 153
            let day = dayOfYear - (153 * month + 2) / 5 + 1
            let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
            let sign = (0...9999).contains(year) ? "" : year < 0 ? "-" : "+"
            let monthOfYear = month >= 10 ? month - 9 : month + 3
            return
                "\(sign)\(padded(year.magnitude, to: sign.isEmpty ? 4 : 6))-\(padded(monthOfYear, to: 2))-\(padded(day, to: 2))"
        }

        private func padded(_ number: some BinaryInteger, to count: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, count - digits.count)) + digits
        }

        /// Returns true if `one` is earlier than `other`.
        public static func < (one: Day, other: Day) -> Bool {
            one.daysSince1970 < other.daysSince1970
        }
    }

    /// A line of the list.
    public struct Row: Hashable, Sendable, Identifiable {
        /// The content of a row.
        public enum Content: Hashable, Sendable {
            /// The line before the first row of a day.
            case dayLine(Day)
            /// The line before the first message that was unread when the room was opened.
            case unreadLine
            /// A stored message, which may be deleted.
            case message(Message, isMine: Bool)
            /// An own send that is not known to be stored.
            case send(Draft, SendState)
        }

        /// The fields of a row. An unchanged row is the same object in the next view, so copying or comparing a list of
        /// rows costs one pointer for each row.
        private final class Storage: Sendable {
            let id: ID
            let content: Content
            let isFolded: Bool

            init(id: ID, content: Content, isFolded: Bool) {
                self.id = id
                self.content = content
                self.isFolded = isFolded
            }
        }

        private let storage: Storage

        init(id: ID, content: Content, isFolded: Bool = false) {
            storage = Storage(id: id, content: content, isFolded: isFolded)
        }

        /// The identity, which never changes.
        public var id: ID { storage.id }
        /// The content to draw.
        public var content: Content { storage.content }
        /// True for a message of a blocked user, to be drawn as such and not with its content (rule 23).
        /// ``Event/show(seq:)`` shows it.
        public var isFolded: Bool { storage.isFolded }

        /// Returns true if both have the same id and content, and both are folded or neither is.
        public static func == (one: Row, other: Row) -> Bool {
            one.storage === other.storage
                || (one.id == other.id && one.isFolded == other.isFolded && one.content == other.content)
        }

        /// Hashes the row.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(id)
        }

        static func day(_ day: Day) -> Row { Row(id: .day(day), content: .dayLine(day)) }
        static var unreadLine: Row { Row(id: .unreadLine, content: .unreadLine) }

        static func send(_ draft: Draft, _ state: SendState) -> Row {
            Row(id: ID(kind: .mine(draft.sendID)), content: .send(draft, state))
        }

        /// The identity of a row, which never changes.
        ///
        /// An own send has the same id before and after it is stored.
        public struct ID: Hashable, Sendable, CustomStringConvertible {
            enum Kind: Hashable, Sendable {
                case day(Int64)
                case unread
                case seq(Int64)
                case mine(SendID)
            }

            let kind: Kind

            /// The id of the unread line.
            public static var unreadLine: ID { ID(kind: .unread) }

            /// The id of a day line.
            public static func day(_ day: Day) -> ID { ID(kind: .day(day.daysSince1970)) }

            /// The id of a message of others, or of an own one without a `client_message_id`.
            public static func message(seq: Int64) -> ID { ID(kind: .seq(seq)) }

            /// The id of an own send, stored or not.
            public static func mine(clientMessageID: String) -> ID { ID(kind: .mine(SendID(clientMessageID))) }

            /// The id as text, which is unique among the rows: `day/2026-11-22`, `unread`, the `seq`, or
            /// `me/CLIENT_MESSAGE_ID`.
            public var description: String {
                switch kind {
                case .day(let days): "day/\(Day(daysSince1970: days))"
                case .unread: "unread"
                case .seq(let seq): String(seq)
                case .mine(let id): "me/\(id.string)"
                }
            }
        }

        /// The `seq` of a stored message; nil for any other row.
        public var seq: Int64? {
            if case .message(let message, _) = content { message.seq } else { nil }
        }
    }

    /// The state of a send that is not known to be stored.
    public enum SendState: Hashable, Sendable {
        /// It waits for its turn, or for a retry.
        case queued
        /// Its POST is under way.
        case sending
        /// The server refused it, with this error code. It stays until ``Event/retry(clientMessageID:)`` or
        /// ``Event/discard(clientMessageID:)``.
        case failed(code: String?)
    }
}
