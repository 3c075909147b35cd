extension Timeline {
    /// An event that the timeline must know: an answer of the server, a frame, or an action of the user.
    ///
    /// Numbers that no server sends, such as a negative `seq`, are ignored in frames and stores.
    /// ``Page/init(messages:hasBefore:hasAfter:head:rev:epoch:read:unread:firstUnread:firstUnreadMention:)`` throws an error for them.
    public enum Event: Hashable, Sendable {
        /// Shows the room at a place. Drops the window and keeps the outbox.
        case open(at: Place)
        /// Shows the contents of a local store. It comes before any page. It has no effect once there has been a
        /// window.
        case restore(Restored)
        /// The answer to the fetch with this number.
        case page(request: Int, Page)
        /// The failure of the fetch with this number.
        case fetchFailed(request: Int, Failure)
        /// The socket of the last ``Effect/subscribe(since:epoch:)`` has opened. Comes before its first frame.
        case connected
        /// That socket has ended. Earlier sockets cause no events.
        case disconnected
        /// A frame of that socket.
        case frame(Frame)
        /// The reader is within two screens of an edge of the window.
        case near(Edge)
        /// The reader's present place: at the bottom or not, and the `seq` of the last visible message.
        case viewport(atBottom: Bool, lastVisible: Int64?)
        /// The user brought the screen to the front, or left it. It starts in front.
        case active(Bool)
        /// The user sends. `at` is the time on the user's clock in milliseconds since 1970, and determines the day line
        /// only. A draft is ignored if its id is empty, or already in the outbox or the window.
        case send(Draft, at: Int64)
        /// The POST of a draft was answered 200 or 201 with this message.
        case sent(clientMessageID: String, Message)
        /// The POST of a draft failed.
        case sendFailed(clientMessageID: String, Failure)
        /// The answer to an ``Effect/markRead(seq:)``, or the state of the room that the host has asked for: the user's
        /// read mark, the number of unread messages, and the room's highest `seq`. Without `head` it matters only while
        /// that number is too high to be counted.
        case marked(read: Int64, unread: Int64, head: Int64? = nil)
        /// The user wants a failed send to be posted again.
        case retry(clientMessageID: String)
        /// The user discards a failed send.
        case discard(clientMessageID: String)
        /// The user asks to go to a place.
        case jump(to: Place)
        /// A clock tick, in milliseconds from any start. Only differences count, and a step backwards counts as zero.
        /// Only typing notices, retries and back-off depend on it.
        case time(now: Double)
        /// The device has moved to another time zone: from now on these offsets hold, for all day lines.
        case utcOffsets(UTCOffsets)
        /// The users whom the user blocks, all of them. The rows of their messages are folded: see ``Row/isFolded``. The
        /// ids are compared by their bytes.
        case blocked(users: [String])
        /// The user asks to see the folded message with this `seq`. It is shown until ``open(at:)`` loads the room anew, or
        /// until its sender is no longer blocked.
        case show(seq: Int64)
    }

    /// A place in the room.
    public enum Place: Hashable, Sendable {
        /// The first unread message.
        case read
        /// The first unread message that mentions the user or the room; as ``read`` if there is none.
        case mention
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
        /// The status of the answer; 0 if no answer came.
        public var status: Int
        /// The server's error code, such as `forbidden`.
        public var code: String?
        /// The number of seconds after which the server asks for a retry; not negative.
        public var retryAfter: Double?

        /// Creates a failure. A `retryAfter` below 0 counts as 0.
        public init(status: Int, code: String? = nil, retryAfter: Double? = nil) {
            self.status = status
            self.code = code
            self.retryAfter = retryAfter.map { $0 > 0 ? $0 : 0 }
        }

        /// True if the same request may succeed later: no answer, 401 (a token has ended, and the host gets another),
        /// 408, 429 or 5xx.
        public var isTemporary: Bool {
            status == 0 || status == 401 || status == 408 || status == 429 || (500...599).contains(status)
        }
    }

    /// A page of messages, read in one snapshot of the room.
    public struct Page: Hashable, Sendable {
        /// The messages in ascending `seq`, without gaps.
        public let messages: [Message]
        /// True if the room has messages before the first one.
        public let hasBefore: Bool
        /// True if the room has messages after the last one.
        public let hasAfter: Bool
        /// The room's highest `seq`; 0 for an empty room.
        public let head: Int64
        /// The revision at which the page was read.
        public let rev: Int64
        /// The history that ``rev`` belongs to.
        public let epoch: String
        /// The user's read mark, if the host knows it.
        public let read: Int64?
        /// The number of unread messages, if the host knows it.
        public let unread: Int64?
        /// The `seq` of the first unread message.
        public let firstUnread: Int64?
        /// The `seq` of the first unread message that mentions the user or the room.
        public let firstUnreadMention: Int64?

        /// Creates a page.
        ///
        /// - Throws: ``MalformedPage`` if the messages are not in ascending `seq` without gaps, or if a number is
        ///   outside 0 through 2⁵³ − 1. Such a page would leave a gap in the window.
        public init(
            messages: [Message], hasBefore: Bool, hasAfter: Bool, head: Int64, rev: Int64, epoch: String,
            read: Int64? = nil, unread: Int64? = nil, firstUnread: Int64? = nil, firstUnreadMention: Int64? = nil
        ) throws(MalformedPage) {
            let bounds = 0...ClosedRange.timelineNumbers.upperBound
            for (name, number) in [
                ("head", head), ("rev", rev), ("read", read), ("unread", unread), ("first_unread", firstUnread),
                ("first_unread_mention", firstUnreadMention),
            ] {
                if let number, !bounds.contains(number) { throw MalformedPage("\(name) must be within \(bounds)") }
            }
            if let first = messages.first?.seq {
                let isWhole = messages.indices.allSatisfy { index in
                    ClosedRange.timelineNumbers.contains(messages[index].seq)
                        && messages[index].seq - first == Int64(index)
                }
                guard isWhole else { throw MalformedPage("messages must ascend without gaps") }
            }
            self.init(
                checked: messages, hasBefore: hasBefore, hasAfter: hasAfter, head: head, rev: rev, epoch: epoch,
                read: read, unread: unread, firstUnread: firstUnread, firstUnreadMention: firstUnreadMention)
        }

        init(
            checked messages: [Message], hasBefore: Bool, hasAfter: Bool, head: Int64, rev: Int64, epoch: String,
            read: Int64?, unread: Int64?, firstUnread: Int64?, firstUnreadMention: Int64? = nil
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
            self.firstUnreadMention = firstUnreadMention
        }
    }

    /// A part of a room from a local store.
    public struct Restored: Hashable, Sendable {
        /// The messages in any order. If they have gaps, the newest run without a gap becomes the window.
        public var messages: [Message]
        /// True if the room has messages before these, as far as the store knows.
        public var hasBefore: Bool
        /// True if the room has messages after these.
        public var hasAfter: Bool
        /// The revision up to which all changes of the messages are in the store.
        public var rev: Int64
        /// The history that ``rev`` belongs to.
        public var epoch: String
        /// The user's read mark; nil if unknown.
        public var read: Int64?
        /// The number of unread messages, such as that of the list of rooms; nil if unknown. It counts where the
        /// messages do not hold all that is unread.
        public var unread: Int64?

        /// Creates the contents of a store.
        public init(
            messages: [Message], hasBefore: Bool, hasAfter: Bool, rev: Int64, epoch: String, read: Int64? = nil,
            unread: Int64? = nil
        ) {
            self.messages = messages
            self.hasBefore = hasBefore
            self.hasAfter = hasAfter
            self.rev = rev
            self.epoch = epoch
            self.read = read
            self.unread = unread
        }
    }

    /// A frame of a socket.
    public struct Frame: Hashable, Sendable {
        /// The room that the frame names. Frames of another room are ignored.
        public var room: String?
        /// The epoch that the frame names. An epoch other than the window's resets the timeline (rule 20).
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
            /// The replay is over. `rev` is the position that it reached.
            case live(rev: Int64?)
            /// A user is typing.
            case typing(user: String)
            /// A user's read mark moved to this `seq`.
            case read(user: String, seq: Int64)
            /// The number of users in the room.
            case presence(online: Int64)
            /// An error. Only the code `cursor_unknown` matters here: the position does not belong to this history. The
            /// host also reports a handshake refused with 410 in this way, before ``Event/disconnected``.
            case error(code: String)
            /// A type that this version does not know. Only its epoch matters.
            case unknown
        }
    }
}

/// The error for a page that would leave a gap in the window.
public struct MalformedPage: Error, Hashable, CustomStringConvertible {
    /// The reason, in English.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
