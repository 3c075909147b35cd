import CoreMetrics

/// ``ServerMetricName/requestSeconds``: a timer for each resource, method and class of status that occurs.
///
/// The timers themselves are shared. Each loop has a table of its own, so that counting takes an index and no lock, and a
/// timer appears among the metrics once it is used.
struct RequestTimers {
    private var timers = [Timer?](
        repeating: nil,
        count: (Resource.allCases.count + 1) * RequestCounters.Method.allCases.count * RequestCounters.statusClasses)
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) {
        self.factory = factory
    }

    /// Counts an answered request.
    ///
    /// - Parameters:
    ///   - resource: The resource that was served, or `nil` if there is none or it does not have the method. So clients
    ///     cannot add series.
    ///   - duration: The time from the request's last byte to its answer.
    mutating func count(_ method: RequestCounters.Method, _ resource: Resource?, status: Int, _ duration: Duration) {
        let statusClass = RequestCounters.statusClass(status)
        let place = resource.map { $0.rawValue + 1 } ?? 0
        let index =
            (place * RequestCounters.Method.allCases.count + method.rawValue) * RequestCounters.statusClasses
            + statusClass - 1
        let timer: Timer
        if let known = timers[index] {
            timer = known
        } else {
            timer = Timer(
                label: ServerMetricName.requestSeconds.rawValue,
                dimensions: [
                    ("route", resource?.label ?? "other"), ("method", method.label), ("status", "\(statusClass)xx"),
                ], factory: factory)
            timers[index] = timer
        }
        timer.recordNanoseconds(duration.nanoseconds)
    }
}

/// The kind of a ``Route``, without the names in its path.
enum Resource: Int, CaseIterable, Sendable {
    case index, pageFile, health, readiness, metrics, description, docs
    case rooms, room, messages, message, clientMessage, reaction, changes, read, members, member, bans, ban, presence
    case live, liveRooms, user, allRooms, adminUser, sockets, serverBans, serverBan

    /// The value of the label `route`: the path, as in `/openapi.json`.
    var label: String {
        switch self {
        case .index: "/"
        case .pageFile: "/page/{name}"
        case .health: "/healthz"
        case .readiness: "/readyz"
        case .metrics: "/metrics"
        case .description: "/openapi.json"
        case .docs: "/docs"
        case .rooms: "/v1/rooms"
        case .room: "/v1/rooms/{room}"
        case .messages: "/v1/rooms/{room}/messages"
        case .message: "/v1/rooms/{room}/messages/{seq}"
        case .clientMessage: "/v1/rooms/{room}/messages/by-client-id/{client_message_id}"
        case .reaction: "/v1/rooms/{room}/messages/{seq}/reactions/{key}"
        case .changes: "/v1/rooms/{room}/changes"
        case .read: "/v1/rooms/{room}/read"
        case .members: "/v1/rooms/{room}/members"
        case .member: "/v1/rooms/{room}/members/{user}"
        case .bans: "/v1/rooms/{room}/bans"
        case .ban: "/v1/rooms/{room}/bans/{user}"
        case .presence: "/v1/rooms/{room}/presence"
        case .live: "/v1/rooms/{room}/live"
        case .liveRooms: "/v1/live"
        case .user: "/v1/users/{user}"
        case .allRooms: "/v1/admin/rooms"
        case .adminUser: "/v1/admin/users/{user}"
        case .sockets: "/v1/admin/users/{user}/sockets"
        case .serverBans: "/v1/admin/bans"
        case .serverBan: "/v1/admin/bans/{user}"
        }
    }
}

extension Route {
    /// The kind of the resource.
    var resource: Resource {
        switch self {
        case .index: .index
        case .pageFile: .pageFile
        case .health: .health
        case .readiness: .readiness
        case .metrics: .metrics
        case .description: .description
        case .docs: .docs
        case .rooms: .rooms
        case .room: .room
        case .messages: .messages
        case .message: .message
        case .clientMessage: .clientMessage
        case .reaction: .reaction
        case .changes: .changes
        case .read: .read
        case .members: .members
        case .member: .member
        case .bans: .bans
        case .ban: .ban
        case .presence: .presence
        case .live: .live
        case .liveRooms: .liveRooms
        case .user: .user
        case .allRooms: .allRooms
        case .adminUser: .adminUser
        case .sockets: .sockets
        case .serverBans: .serverBans
        case .serverBan: .serverBan
        }
    }
}
