public import Wire

/// A webhook as it is stored. Its secrets are in no answer but that of the request that makes them.
public struct Webhook: Sendable, Hashable {
    /// A secret with which deliveries are signed.
    public struct Secret: Sendable, Hashable {
        /// The secret as receivers configure it.
        public var text: String
        /// The time until which it signs; `nil` without end.
        public var until: Timestamp?

        /// Creates a secret.
        public init(_ text: String, until: Timestamp? = nil) { (self.text, self.until) = (text, until) }
    }

    /// The reason why a webhook has paused itself.
    public enum Pause: String, Sendable, Hashable {
        /// The receiver has answered 410.
        case gone
        /// No delivery has succeeded for five days.
        case failing
    }

    /// A failed attempt.
    public struct Failure: Sendable, Hashable {
        /// The time of the attempt.
        public var at: Timestamp
        /// The status of the answer; `nil` without one.
        public var status: Int?
        /// One line that says what has failed.
        public var detail: String

        /// Creates a failure.
        public init(at: Timestamp, status: Int?, detail: String) {
            (self.at, self.status, self.detail) = (at, status, detail)
        }
    }

    /// The state of the deliveries.
    public struct Health: Sendable, Hashable {
        /// The reason why the webhook has paused itself; `nil` if it has not.
        public var pause: Pause?
        /// Time since which no delivery has succeeded; `nil` if the last one has.
        public var failingSince: Timestamp?
        /// The latest failure since the webhook was created.
        public var failure: Failure?
        /// Time of the next attempt that is waited for.
        public var nextAttempt: Timestamp?

        /// Creates the health of a new webhook.
        public init() {}
    }

    /// A search of all rooms for what is to be delivered, see ``WebhookReplay``.
    public struct Scan: Sendable, Hashable {
        /// The number of the last room that was searched. Rooms beyond it are not delivered yet.
        public var room: Int64
        /// The time from which messages are delivered.
        public var since: Timestamp

        /// Creates a search that has come to a room.
        public init(after room: Int64 = 0, since: Timestamp) { (self.room, self.since) = (room, since) }
    }

    /// The number in the database.
    public var number: Int64
    /// The id.
    public var id: WebhookID
    /// A number that rises with each change by an admin.
    public var version: Int64
    /// The receiver's URL.
    public var url: String
    /// The patterns of rooms.
    public var rooms: [RoomPattern]
    /// The kinds of events.
    public var events: [WebhookEvent]
    /// False if an admin has turned it off.
    public var isEnabled: Bool
    /// The secrets, newest first.
    public var secrets: [Secret]
    /// The time when it was created.
    public var createdAt: Timestamp
    /// The epoch that the receiver knows.
    public var epoch: String
    /// The state of its deliveries.
    public var health: Health
    /// The search of all rooms that is under way; `nil` for none.
    public var scan: Scan?

    /// Creates a webhook.
    public init(
        number: Int64, id: WebhookID, version: Int64, url: String, rooms: [RoomPattern], events: [WebhookEvent],
        isEnabled: Bool, secrets: [Secret], createdAt: Timestamp, epoch: String, health: Health = Health(),
        scan: Scan? = nil
    ) {
        self.number = number
        self.id = id
        self.version = version
        self.url = url
        self.rooms = rooms
        self.events = events
        self.isEnabled = isEnabled
        self.secrets = secrets
        self.createdAt = createdAt
        self.epoch = epoch
        self.health = health
        self.scan = scan
    }

    /// Returns true if its patterns match a room.
    public func covers(_ room: RoomID) -> Bool { RoomPattern.allow(room, rooms) }

    /// True if its receiver learns that a room was deleted.
    public var getsDeletions: Bool { events.contains(.message) || events.contains(.room) }

    /// True if its receiver gets events of rooms, members or reports.
    public var getsEvents: Bool { events.contains { $0 == .room || $0 == .member || $0 == .report } }

    /// True if it delivers changes of rooms, and not only push events.
    public var deliversChanges: Bool { events.contains { $0 != .push } }

    /// The state as operators see it: `ok`, `retrying` or `paused`.
    public var state: String {
        if !isEnabled || health.pause != nil { return "paused" }
        return health.failingSince == nil && health.nextAttempt == nil ? "ok" : "retrying"
    }

    /// Appends the webhook as a JSON object.
    ///
    /// - Parameter secret: A secret that was made by this request; `nil` for none.
    public func encode(_ backlog: WebhookBacklog, secret: String? = nil, into out: inout [UInt8]) {
        out.append(literal: #"{"id":"#)
        out.append(quoted: id.string)
        out.append(member: "url", url)
        out.append(literal: #","rooms":"#)
        out.append(array: rooms) { $1.append(quoted: $0.string) }
        out.append(literal: #","events":"#)
        out.append(array: events) { $1.append(quoted: $0.rawValue) }
        out.append(member: "enabled", isEnabled)
        out.append(member: "created_at", createdAt.description)
        if let secret { out.append(member: "secret", secret) }
        out.append(member: "state", state)
        if let pause = health.pause { out.append(member: "paused_because", pause.rawValue) }
        out.append(member: "rooms_behind", backlog.rooms)
        if let since = backlog.since { out.append(member: "behind_since", since.description) }
        if let since = health.failingSince { out.append(member: "failing_since", since.description) }
        if let failure = health.failure {
            var members: [UInt8] = []
            members.append(member: "at", failure.at.description)
            if let status = failure.status { members.append(member: "status", Int64(status)) }
            members.append(member: "detail", failure.detail)
            out.append(literal: #","last_error":"#)
            out.append(object: members)
        }
        if let next = health.nextAttempt { out.append(member: "next_attempt", next.description) }
        out.append(literal: #","stopped_rooms":"#)
        out.append(array: backlog.stopped) { stopped, out in
            var members: [UInt8] = []
            if let room = stopped.room { members.append(member: "room", room.string) }
            switch stopped.place {
            case .rev(let rev): members.append(member: "rev", rev)
            case .event(let number): members.append(member: "event", number)
            }
            out.append(object: members)
        }
        out.append(UInt8(ascii: "}"))
    }
}

/// The rooms with changes that a webhook's receiver lacks.
public struct WebhookBacklog: Sendable, Hashable {
    /// A room whose messages, pushes or events the receiver refuses for ever.
    public struct Stopped: Sendable, Hashable {
        /// The room; `nil` for the events of the whole server.
        public var room: RoomID?
        /// The place to skip to.
        public var place: WebhookSkip.Place

        /// Creates a stopped room.
        public init(room: RoomID?, at place: WebhookSkip.Place) { (self.room, self.place) = (room, place) }
    }

    /// Maximum number of rooms that are counted.
    public static let maximumCount = 100_000
    /// Maximum number of places in ``stopped``.
    public static let maximumStopped = 100

    /// Number of rooms with changes that the receiver lacks, at most ``maximumCount``.
    public var rooms: Int64
    /// The time of the oldest of these changes, as far as it is known; `nil` if there are none.
    public var since: Timestamp?
    /// The stopped rooms, by their numbers, at most ``maximumStopped``. A room whose messages and pushes are refused at
    /// different revisions is in it twice.
    public var stopped: [Stopped]

    /// Creates a backlog.
    public init(rooms: Int64 = 0, since: Timestamp? = nil, stopped: [Stopped] = []) {
        (self.rooms, self.since, self.stopped) = (rooms, since, stopped)
    }
}
