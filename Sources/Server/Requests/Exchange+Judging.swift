import Chat
import HTTP
import HTTPTypes
import Wire

/// The checks of a request's head. They decide by the declaration of its ``Route``, and need no body.
extension Exchange {
    /// The result of a request's checks.
    enum Judgment {
        /// The request is answered without content: OPTIONS of the whole server, or an EventSource that is to stop.
        case noContent
        /// The request asks for the methods of a resource.
        case options(Resource)
        /// The request satisfies the rules of a route.
        case route(Route, RoutedRequest)
    }

    /// Decodes the target, after the checks of where the request comes from.
    ///
    /// - Throws: 403 for a page of an origin that is not allowed, 400 for a malformed target, 421 for another host.
    func checkedTarget(_ decision: OriginPolicy.Decision) throws(Problem) -> DecodedTarget {
        guard decision != .refused else { throw .originNotAllowed }
        let target = try DecodedTarget(request)
        try checkHost()
        return target
    }

    /// Finds the request's route and checks its rules: the path, the method, the caller and the content type.
    ///
    /// - Throws: The refusal that no body could prevent.
    func judge(_ target: DecodedTarget) throws(Problem) -> Judgment {
        // `*` stands for the whole server (RFC 9110, section 9.3.7).
        if request.method == .options, request.path == "*" { return .noContent }
        guard let resource = Resource.find(target.segments), isReachable(resource) else { throw .notFound }
        let path = try resource.values(in: target.segments)
        if request.method == .options { return .options(resource) }
        guard let route = resource.route(for: request.method) else {
            add(.allow, resource.allowed)
            throw .methodNotAllowed
        }
        self.resource = resource
        if route.isLive, request.wantsEvents {
            guard !request.isRefusedEventSource else { return .noContent }
            try request.checkFetchSite()
        }
        let caller = try caller(for: route, of: path.room, target)
        if route.takesJSON { try expectJSON() }
        return .route(route, RoutedRequest(self, by: caller, target, path))
    }

    /// True when the request came to the separate listener for metrics and health checks.
    var isForOperations: Bool { http?.scope == .operations }

    private func isReachable(_ resource: Resource) -> Bool {
        switch resource.listeners {
        case .main: !isForOperations
        case .operators: isForOperations || worker.services.configuration.metricsAddress == nil
        case .all: true
        }
    }

    /// Refuses a request to a host name that is not accepted. Health checks and the listener for operators accept any
    /// name.
    private func checkHost() throws(Problem) {
        guard let hosts = worker.services.guards.hosts, !hosts.accepts(request), !asksForHealth, !isForOperations else {
            return
        }
        // The refusal names the host without its port.
        throw .hostNotAllowed(request.authority.map { authority in String(authority.prefix { $0 != ":" }) })
    }

    /// True for a health check, which no limit or check applies to.
    var asksForHealth: Bool {
        guard request.method == .get || request.method == .head,
            let segments = try? (request.target ?? Target("")).segments()
        else { return false }
        return Resource.find(segments)?.listeners == .all
    }

    // MARK: The caller

    /// Returns the caller, if the route serves it.
    ///
    /// - Throws: 401 without a valid token or a name that the route needs, 403 when the token does not allow the room or
    ///   is not an admin's, 400 when the request contradicts itself.
    private func caller(for route: Route, of room: RoomID?, _ target: DecodedTarget) throws(Problem) -> Identity {
        guard route.access != .anybody else { return Identity(user: nil) }
        let caller = try identify(target)
        if worker.logsCallers { loggedUser = caller.user }
        if let room, !caller.allows(room: room) { throw .roomNotAllowed }
        switch route.access {
        case .anybody, .reader: break
        case .named: _ = try caller.named()
        case .admin: guard caller.isServerAdmin else { throw .notAnAdmin }
        }
        return caller
    }

    /// Returns the user that the token names, or in open mode the name that the request states.
    private func identify(_ target: DecodedTarget) throws(Problem) -> Identity {
        guard worker.authenticator != nil else {
            return Identity(user: try Credentials.claimedUser(of: request, target))
        }
        guard let found = try Credentials.token(of: request, target) else { throw .tokenMissing }
        // Shared caches must not store an answer to a URL with a token (RFC 6750, section 2.3).
        if found.isInURL { add(.cacheControl, "private") }
        let caller = try worker.identity(of: found.token)
        if let claimed = try Credentials.claimedUser(of: request, target), claimed != caller.user {
            throw .badRequest("The request names a user other than the token's user.")
        }
        return caller
    }

    // MARK: The content

    /// Refuses a body that is compressed, or whose content type contradicts JSON.
    private func expectJSON() throws(Problem) {
        let fields = request.headerFields
        if let coding = fields.elements(of: .contentEncoding).first(where: { $0.lowercased() != "identity" }) {
            // Tells what would be accepted (RFC 9110, section 15.5.16).
            add(.acceptEncoding, "identity")
            throw .unsupportedContentEncoding(String(coding))
        }
        guard !fields.first(.contentType, is: "application/json") else { return }
        guard !MediaType.contradictsJSON(contentType: fields.first(.contentType)) else { throw .unsupportedMediaType }
    }
}
