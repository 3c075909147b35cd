import Chat
import HTTP
import HTTPTypes
import Transport
import Wire

/// One request and its answer.
///
/// A route answers once, at once or later on the same loop. If the client has gone by then, the answer is dropped.
final class Exchange {
    let worker: Worker
    let request: RequestHead
    let body: [UInt8]
    /// The body's share of ``Services/pending``. It is held until the exchange ends, which for a send is after its
    /// commit.
    private let held: ByteBudget.Share
    /// The properties of the request that the framing of the answer depends on.
    let context: ReplyContext
    /// Additional header fields of the answer.
    var fields: [HTTPField] = []
    /// Additional header fields as encoded lines, each with its CRLF. Avoids strings for fields with numbers.
    var lines: [UInt8] = []
    /// The faults that the request asks for; `nil` without any, or without `--faults`.
    var faults: FaultPlan?
    /// False for a request that has not been read completely. Its answer is the connection's last.
    let isWhole: Bool
    private(set) weak var http: HTTPConnection?
    /// The time when the request had arrived completely.
    let began = ContinuousClock.now
    /// The resource that the request was for, for the metrics; `nil` if there is none, or it does not have the method.
    private(set) var resource: Resource?
    /// The caller, for the log of requests.
    var loggedUser: UserID?
    /// The code of the problem that the request was refused with, for the log of requests.
    var code: Problem.Code?
    /// The read of the log that the answer waits for.
    private var reading: (any PendingReply)?
    /// Called if the client goes before the answer, to undo the work begun for it.
    private var undo: (() -> Void)?

    init(_ request: Request, holding held: consuming ByteBudget.Share, on http: HTTPConnection) {
        self.held = held
        worker = http.worker
        self.http = http
        self.request = request.head
        body = request.body
        context = request.replyContext
        isWhole = true
    }

    /// Creates the exchange of a request that has not been read completely. Its answer is the connection's last.
    ///
    /// - Parameter head: The request's head, if it was read.
    init(incomplete head: RequestHead?, on http: HTTPConnection) {
        worker = http.worker
        held = ByteBudget.Share(of: worker.services.pending)
        self.http = http
        request = head ?? RequestHead(method: Self.unreadMethod)
        body = []
        context = ReplyContext(isHead: request.method == .head, keepAlive: false)
        isWhole = false
        // An allowed page of another origin must be able to read the reason.
        let origins = worker.services.origins
        fields = origins.responseFields(for: head == nil ? .withoutOrigin : origins.decide(request))
    }

    /// The method of a request whose method was not read. Metrics count it as `other`.
    static let unreadMethod = HTTPRequest.Method("UNREAD")!

    /// Returns the connection for the one answer; `nil` if the answer was given or the client has gone.
    func takeHTTP() -> HTTPConnection? {
        defer { http = nil }
        guard let http, http.exchange === self else { return nil }
        return http
    }

    // MARK: Changing and reading the log

    /// Submits a change for the caller, then calls `then` with the receipt; answers with the problem on failure.
    ///
    /// - Throws: 401 for a caller without a name.
    @discardableResult
    func submit(
        _ change: Submission.Change, to room: RoomID? = nil, by caller: Identity, then: @escaping (Receipt) -> Void
    ) throws(Problem) -> Ticket {
        worker.submit(change, to: room, by: try caller.named(), isAdmin: caller.isAdmin, for: self) { [self] result in
            switch result {
            case .success(let receipt): then(receipt)
            case .failure(let problem): answer(problem)
            }
        }
    }

    /// Answers with the message or the record of a receipt: 201 if the change created it, unless `status` says
    /// otherwise. Receipts of other kinds have no content (204).
    func answer(_ receipt: Receipt, _ status: HTTPResponse.Status? = nil) {
        switch receipt {
        case .message(let message, let isNew): answer(status ?? (isNew ? .created : .ok), message)
        case .record(let record, let isNew): answer(status ?? (isNew ? .created : .ok), body: record.span)
        case .readMark, .room: answerEmpty(.noContent)
        }
    }

    /// Returns the asker for reads of the log: the caller, or without a name the client's address.
    func asker(_ caller: Identity) -> Asker {
        Asker(caller.user, or: http.flatMap(clientBlock)?.asker ?? .connection(0))
    }

    /// Reads from the log for the answer, then calls `then` with what was read; answers with the problem on failure.
    /// Does nothing if the client has gone; `then` is not called if it goes meanwhile.
    func ask<Value>(
        for caller: Identity, _ kind: (Reply<Value>) -> Query.Kind, then: @escaping (Value) -> Void
    ) {
        guard http?.exchange === self else { return }
        reading = worker.ask(for: caller.user, isAdmin: caller.isAdmin, asker: asker(caller), kind) { [self] result in
            switch result {
            case .success(let value): then(value)
            case .failure(let problem): answer(problem)
            }
        }
    }

    /// The time since the client's last bytes arrived; `nil` if the client no longer waits for the answer.
    var silence: Duration? {
        guard let http, http.exchange === self else { return nil }
        return http.connection.silence
    }

    /// Remembers the read of the log that the answer depends on, to cancel it if the client goes.
    ///
    /// - Parameter undo: Called if the client goes before the answer.
    func answerDepends(on reading: any PendingReply, undo: @escaping () -> Void) {
        self.reading = reading
        self.undo = undo
    }

    /// Cancels the work for the answer, since the client has gone.
    func clientGone() {
        worker.cancel(reading)
        undo?()
        undo = nil
    }

    // MARK: Serving

    /// Finds the route and serves the request.
    func serve() {
        do throws(Problem) {
            // First, so that an allowed page can read the reason of every refusal.
            try checkOrigin()
            let target = try DecodedTarget(request)
            try checkHost()
            guard !worker.services.configuration.faults || isForOperations else { return try serveWithFaults(target) }
            try serve(target)
        } catch {
            answer(error)
        }
    }

    /// Checks the head of a request before its body arrives.
    ///
    /// - Throws: The refusal that no body could prevent: because of the origin, path, method, caller or content type.
    func checkHead() throws(Problem) {
        // With faults, the requested fault comes before any refusal.
        guard !worker.services.configuration.faults else { return }
        // The initializer has already added the fields for pages of other origins.
        guard worker.services.origins.decide(request) != .refused else { throw .originNotAllowed }
        let target = try DecodedTarget(request)
        try checkHost()
        guard let route = try Route(target.segments), isReachable(route) else { throw .notFound }
        guard request.method == .options || route.methods.contains(request.method) else {
            add(.allow, route.allowed)
            throw .methodNotAllowed
        }
        resource = route.resource
        guard route.needsCaller, request.method != .options else { return }
        let caller = try caller(target)
        if let room = route.room, !caller.allows(room: room) { throw .roomNotAllowed }
        switch request.method {
        case .post, .put, .patch, .delete: _ = try caller.named()
        default: return
        }
        if route.takesJSON { try expectJSON() }
    }

    /// Serves the request with this target.
    func serve(_ target: DecodedTarget) throws(Problem) {
        // `*` stands for the whole server (RFC 9110, section 9.3.7).
        if request.method == .options, request.path == "*" { return answerEmpty(.noContent) }
        guard let route = try Route(target.segments), isReachable(route) else { throw .notFound }
        if request.method == .options { return answerOptions(route) }
        guard route.methods.contains(request.method) else {
            add(.allow, route.allowed)
            throw .methodNotAllowed
        }
        resource = route.resource
        try serve(route, target)
    }

    /// True when the request came to the separate listener for metrics and health checks.
    private var isForOperations: Bool { http?.scope == .operations }

    private func isReachable(_ route: Route) -> Bool {
        switch route {
        case .health, .readiness: true
        case .metrics: isForOperations || worker.services.configuration.metricsAddress == nil
        default: !isForOperations
        }
    }

    private func serve(_ route: Route, _ target: DecodedTarget) throws(Problem) {
        switch route {
        case .index: answerIndex()
        case .pageFile(let name): try answerPageFile(name)
        case .health: answerHealth()
        case .readiness: answerReadiness()
        case .metrics: answerMetrics()
        case .description: answerDescription()
        case .docs: answerDocs()
        case .rooms: try answerRooms(target)
        case .room(let room):
            switch request.method {
            case .put: try setRoom(room, target)
            case .delete: try deleteRoom(room, target)
            default: try answerRoom(room, target)
            }
        case .members(let room): try answerMembers(of: room, target)
        case .member(let room, let user): try serveMember(user, of: room, target)
        case .bans(let room): try answerBans(of: room, target)
        case .ban(let room, let user): try serveBan(of: user, from: room, target)
        case .user(let user): try serveUser(user, target)
        case .allRooms: try answerAllRooms(target)
        case .adminUser(let user): try answerUser(user, target)
        case .sockets(let user): try endSockets(of: user, target)
        case .serverBans: try answerServerBans(target)
        case .serverBan(let user): try serveServerBan(of: user, target)
        case .messages(let room):
            if request.method == .post { try send(to: room, target) } else { try answerPage(of: room, target) }
        case .message(let room, let seq):
            switch request.method {
            case .patch: try edit(seq, of: room, target)
            case .delete: try delete(seq, of: room, target)
            default: try answerMessage(seq, of: room, target)
            }
        case .reaction(let room, let seq, let key):
            switch request.method {
            case .put, .delete: try react(key, to: seq, of: room, target)
            default: try answerReaction(key, to: seq, of: room, target)
            }
        case .clientMessage(let room, let id): try answerClientMessage(id, of: room, target)
        case .changes(let room): try answerChanges(of: room, target)
        case .read(let room): try moveReadMark(in: room, target)
        case .presence(let room): try answerPresence(of: room, target)
        case .live(let room): try openLive(room, target)
        case .liveRooms: try openLiveRooms(target)
        }
    }

    // MARK: Other origins' pages

    /// Refuses a request from a page of an origin that is not allowed.
    private func checkOrigin() throws(Problem) {
        let decision = worker.services.origins.decide(request)
        fields += worker.services.origins.responseFields(for: decision)
        if decision == .refused { throw .originNotAllowed }
    }

    /// Refuses a request to a host name that is not accepted. Health checks and the listener for operators accept any
    /// name.
    private func checkHost() throws(Problem) {
        guard let hosts = worker.services.hosts, !hosts.accepts(request), !asksForHealth, !isForOperations else {
            return
        }
        // The refusal names the host without its port.
        throw .hostNotAllowed(request.authority.map { authority in String(authority.prefix { $0 != ":" }) })
    }

    /// True for a request for `/healthz` or `/readyz`, which no limit or check applies to.
    var asksForHealth: Bool {
        guard request.method == .get || request.method == .head, let path = request.target?.path else { return false }
        return path == "/healthz" || path == "/readyz"
    }

    private func answerOptions(_ route: Route) {
        add(.allow, route.allowed)
        if OriginPolicy.isPreflight(request) {
            let origins = worker.services.origins
            fields = [HTTPField(name: .allow, value: route.allowed)]
            fields += origins.preflightFields(for: origins.decide(request))
        }
        answerEmpty(.noContent)
    }
}
