extension Timeline {
    /// Something that happened and that the timeline must know: an answer of the server, a frame, an act of the user.
    ///
    /// Numbers that no server sends, such as a negative `seq`, are ignored where they come from a frame or a store, and
    /// refused by ``Page/init(messages:hasBefore:hasAfter:head:rev:epoch:read:unread:firstUnread:)``.
    public enum Event: Hashable, Sendable {
        /// Shows the room at a place. The window is dropped, the outbox is kept.
        case open(at: Place)
        /// Shows what a local store had. It comes before any page, and does nothing after a window.
        case restore(Restored)
        /// The answer to the fetch with this number.
        case page(request: Int, Page)
        /// The failure of the fetch with this number.
        case fetchFailed(request: Int, Failure)
        /// The socket of the last ``Effect/subscribe(since:epoch:)`` has opened. Comes before its first frame.
        case connected
        /// That socket has ended. Earlier sockets are silent.
        case disconnected
        /// A frame of that socket.
        case frame(Frame)
        /// The reader is within two screens of an edge of the window.
        case near(Edge)
        /// Tells where the reader is now: at the bottom or not, and the `seq` of the last message in sight.
        case viewport(atBottom: Bool, lastVisible: Int64?)
        /// The screen came to the front of the user, or left it. It starts in front.
        case active(Bool)
        /// The user sends. `at` is the time on the user's clock in milliseconds since 1970; it decides the day line only.
        /// A draft whose id is in the outbox or the window already, or is empty, changes nothing.
        case send(Draft, at: Int64)
        /// The POST of a draft was answered 200 or 201 with this message.
        case sent(clientMessageID: String, Message)
        /// The POST of a draft failed.
        case sendFailed(clientMessageID: String, Failure)
        /// The user wants a failed send to be posted again.
        case retry(clientMessageID: String)
        /// The user gives a failed send up.
        case discard(clientMessageID: String)
        /// The user asks to go to a place.
        case jump(to: Place)
        /// A tick of a clock, in milliseconds from any start. Only the differences count, and a step back counts as none.
        /// Typing notices, retries and back-off depend on it, and nothing else.
        case time(now: Double)
    }

    /// A place in the room.
    public enum Place: Hashable, Sendable {
        /// The first message that the user has not read.
        case read
        /// The newest message.
        case last
        /// The message with this `seq`.
        case seq(Int64)
    }

    /// An end of the window.
    public enum Edge: Hashable, Sendable {
        /// The end with the oldest messages.
        case before
        /// The end with the newest messages.
        case after
    }

    /// The reason why a request failed.
    public struct Failure: Hashable, Sendable {
        /// The status of the answer; 0 where no answer came.
        public var status: Int
        /// The server's error code, such as `forbidden`.
        public var code: String?
        /// The seconds after which the server asks to try again, 0 or more.
        public var retryAfter: Double?

        /// Creates a failure. A `retryAfter` below 0 counts as 0.
        public init(status: Int, code: String? = nil, retryAfter: Double? = nil) {
            self.status = status
            self.code = code
            self.retryAfter = retryAfter.map { $0 > 0 ? $0 : 0 }
        }

        /// True if the same request may succeed later: no answer, 408, 429 or 5xx.
        public var isTemporary: Bool {
            status == 0 || status == 408 || status == 429 || (500...599).contains(status)
        }
    }

    /// A page of messages, read in one snapshot of the room.
    public struct Page: Hashable, Sendable {
        /// The messages in ascending `seq`, without holes.
        public let messages: [Message]
        /// True if the room goes on before the first message.
        public let hasBefore: Bool
        /// True if the room goes on after the last message.
        public let hasAfter: Bool
        /// The room's highest `seq`; 0 for an empty room.
        public let head: Int64
        /// The revision at which the page was read.
        public let rev: Int64
        /// The history that ``rev`` belongs to.
        public let epoch: String
        /// The user's read mark, where the host knows it.
        public let read: Int64?
        /// The number of messages that the user has not read, where the host knows it.
        public let unread: Int64?
        /// The `seq` of the first of them.
        public let firstUnread: Int64?

        /// Creates a page.
        ///
        /// - Throws: ``MalformedPage`` if the messages are not in ascending `seq` without holes, or a number is not within
        ///   0 and 2⁵³ − 1. Such a page would put a hole into the window.
        public init(
            messages: [Message], hasBefore: Bool, hasAfter: Bool, head: Int64, rev: Int64, epoch: String,
            read: Int64? = nil, unread: Int64? = nil, firstUnread: Int64? = nil
        ) throws(MalformedPage) {
            let bounds = 0...ClosedRange.timelineNumbers.upperBound
            for (name, number) in [
                ("head", head), ("rev", rev), ("read", read), ("unread", unread), ("first_unread", firstUnread),
            ] {
                if let number, !bounds.contains(number) { throw MalformedPage("\(name) must be within \(bounds)") }
            }
            if let first = messages.first?.seq {
                let isWhole = messages.indices.allSatisfy { index in
                    ClosedRange.timelineNumbers.contains(messages[index].seq)
                        && messages[index].seq - first == Int64(index)
                }
                guard isWhole else { throw MalformedPage("messages must be in ascending seq without holes") }
            }
            self.init(
                checked: messages, hasBefore: hasBefore, hasAfter: hasAfter, head: head, rev: rev, epoch: epoch,
                read: read, unread: unread, firstUnread: firstUnread)
        }

        init(
            checked messages: [Message], hasBefore: Bool, hasAfter: Bool, head: Int64, rev: Int64, epoch: String,
            read: Int64?, unread: Int64?, firstUnread: Int64?
        ) {
            self.messages = messages
            self.hasBefore = hasBefore
            self.hasAfter = hasAfter
            self.head = head
            self.rev = rev
            self.epoch = epoch
            self.read = read
            self.unread = unread
            self.firstUnread = firstUnread
        }
    }

    /// The part of a room that a local store had.
    public struct Restored: Hashable, Sendable {
        /// The messages in any order. Of messages with holes the newest run becomes the window.
        public var messages: [Message]
        /// True if the room goes on before the messages, as far as the store knows.
        public var hasBefore: Bool
        /// True if the room goes on after them.
        public var hasAfter: Bool
        /// The revision up to which all changes of the messages are in the store.
        public var rev: Int64
        /// The history that ``rev`` belongs to.
        public var epoch: String
        /// The user's read mark; nil where it is not known.
        public var read: Int64?

        /// Creates what a store had.
        public init(
            messages: [Message], hasBefore: Bool, hasAfter: Bool, rev: Int64, epoch: String, read: Int64? = nil
        ) {
            self.messages = messages
            self.hasBefore = hasBefore
            self.hasAfter = hasAfter
            self.rev = rev
            self.epoch = epoch
            self.read = read
        }
    }

    /// A frame of a socket.
    public struct Frame: Hashable, Sendable {
        /// The room that the frame names. A frame that names another room is ignored.
        public var room: String?
        /// The epoch that the frame names. Another epoch than that of the window drops the window and opens anew.
        public var epoch: String?
        /// The content.
        public var content: Content

        /// Creates a frame.
        public init(_ content: Content, room: String? = nil, epoch: String? = nil) {
            self.content = content
            self.room = room
            self.epoch = epoch
        }

        /// The content of a frame, by its type.
        public enum Content: Hashable, Sendable {
            /// The replay begins. `head` is the room's highest `seq`.
            case subscribed(head: Int64?)
            /// A message that is new or has changed.
            case message(Message)
            /// The replay is over. `rev` is the position that it led to.
            case live(rev: Int64?)
            /// A user is typing.
            case typing(user: String)
            /// A user's read mark moved to this `seq`.
            case read(user: String, seq: Int64)
            /// So many users are in the room now.
            case presence(online: Int64)
            /// An error. Of codes only `cursor_unknown` has a meaning here: the position is not of this history. A
            /// handshake that is refused with 410 is told in this way, before ``Event/disconnected``.
            case error(code: String)
            /// A type that this version does not know. Nothing of it but its epoch counts.
            case unknown
        }
    }
}

/// The error for a page that would put a hole into the window.
public struct MalformedPage: Error, Hashable, CustomStringConvertible {
    /// The reason, in English.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
