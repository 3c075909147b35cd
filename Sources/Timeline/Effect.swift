extension Timeline {
    /// An action for the host of a timeline.
    public enum Effect: Hashable, Sendable {
        /// Requests a page. The host answers with ``Event/page(request:_:)`` or ``Event/fetchFailed(request:_:)`` with
        /// the same number: 1, 2, 3 …
        case fetch(request: Int, Query)
        /// Opens a socket at this position, and closes an earlier one.
        case subscribe(since: Int64, epoch: String)
        /// POSTs the draft with its id. The host answers with ``Event/sent(clientMessageID:_:)`` or
        /// ``Event/sendFailed(clientMessageID:_:)``.
        case post(Draft)
        /// Moves the user's read mark on the server. A host may merge several of these.
        case markRead(seq: Int64)
        /// Scrolls to a place once the present view is drawn.
        case scroll(to: ScrollTarget)

        /// The position among the effects of one event.
        var order: Int {
            switch self {
            case .fetch: 0
            case .subscribe: 1
            case .post: 2
            case .markRead: 3
            case .scroll: 4
            }
        }
    }

    /// The place that a list scrolls to.
    public enum ScrollTarget: Hashable, Sendable {
        /// The end of the list.
        case bottom
        /// A row of the present view.
        case row(Row.ID)
    }

    /// The parameters of a request for a page.
    public struct Query: Hashable, Sendable, CustomStringConvertible {
        /// The messages of a page.
        public enum Anchor: Hashable, Sendable {
            /// The newest messages.
            case newest
            /// The messages around the first unread one: `around=unread`.
            case aroundUnread
            /// The messages around the first unread one that mentions the user or the room: `around=mention`.
            case aroundMention
            /// The messages around a `seq`: `around=SEQ`.
            case around(Int64)
            /// The messages before a `seq`: `before=SEQ`.
            case before(Int64)
            /// The messages after a `seq`: `after=SEQ`.
            case after(Int64)

            init(_ place: Place) {
                self =
                    switch place {
                    case .last: .newest
                    case .read: .aroundUnread
                    case .mention: .aroundMention
                    case .seq(let seq): .around(seq)
                    }
            }
        }

        /// The messages to request.
        public var anchor: Anchor
        /// Maximum number of messages of the page.
        public var limit: Int

        /// Creates the parameters.
        public init(anchor: Anchor, limit: Int) {
            self.anchor = anchor
            self.limit = limit
        }

        /// The parameters as the query of a URL, such as `around=unread&limit=30`.
        public var description: String {
            switch anchor {
            case .newest: "limit=\(limit)"
            case .aroundUnread: "around=unread&limit=\(limit)"
            case .aroundMention: "around=mention&limit=\(limit)"
            case .around(let seq): "around=\(seq)&limit=\(limit)"
            case .before(let seq): "before=\(seq)&limit=\(limit)"
            case .after(let seq): "after=\(seq)&limit=\(limit)"
            }
        }
    }
}
