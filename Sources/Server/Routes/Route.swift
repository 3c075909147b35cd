import HTTPTypes
import Wire

/// One operation of the server: a method on a path, the rules for its requests, and the code that answers them.
///
/// ``all`` lists the routes. The rules are checked before the code runs, and before a body has arrived completely, see
/// ``Exchange/judge(_:)``.
struct Route: Sendable {
    /// The method. A GET route serves HEAD, too, unless it is ``isLive``.
    let method: HTTPRequest.Method
    /// The path as in `/openapi.json`, with a ``Placeholder`` in braces for each segment that varies. It is also the
    /// value of the metrics' label `route`.
    let path: String
    /// The callers that it serves.
    let access: Access
    /// The limit that its requests count against, before the code runs; `nil` if the code counts them itself, or nothing
    /// does.
    let limit: Limiter.Action?
    /// True if its requests may have a body in JSON. Bodies of other routes are ignored.
    let takesJSON: Bool
    /// True if it is answered with a WebSocket or an event stream, and refused as ``LiveRefusal`` describes.
    let isLive: Bool
    /// The listeners that serve it.
    let listeners: Listeners
    /// Answers a request that satisfies the rules, at once or later.
    let answer: @Sendable (RoutedRequest) throws(Problem) -> Void

    /// Callers of a route.
    enum Access: Sendable {
        /// All, without a token.
        case anybody
        /// With keys, callers with a token; in open mode, all. A token must allow the path's room.
        case reader
        /// As ``reader``, with a name.
        case named
        /// Callers with an admin's token that is not limited to rooms; none in open mode.
        case admin
    }

    /// The listeners that serve a route.
    enum Listeners: Sendable {
        /// The main one.
        case main
        /// The separate one for operators; without it the main one.
        case operators
        /// All. Limits, and the checks of host names, do not apply.
        case all
    }

    init(
        _ method: HTTPRequest.Method, _ path: String, by access: Access, limit: Limiter.Action? = nil,
        takesJSON: Bool = false, isLive: Bool = false, on listeners: Listeners = .main,
        _ answer: @escaping @Sendable (RoutedRequest) throws(Problem) -> Void
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.limit = limit
        self.takesJSON = takesJSON
        self.isLive = isLive
        self.listeners = listeners
        self.answer = answer
    }
}
