import Chat
import HTTP
import HTTPTypes
import Transport
import Wire

/// One request and its answer.
///
/// A route answers once, now or later on the same loop. When the client has gone meanwhile the answer goes nowhere.
final class Exchange {
    let worker: Worker
    let request: RequestHead
    let body: [UInt8]
    /// The body, as held against the bound on pending bytes until the exchange ends: for a send, when its commit has.
    private let held: ByteBudget.Share
    /// What the answer's framing depends on.
    let context: ReplyContext
    /// What the answer's head is to have beside the usual.
    var fields: [HTTPField] = []
    /// The same, where it is numbers: lines that are ready to be sent, each with its CRLF.
    var lines: [UInt8] = []
    /// What the server is to do wrong; `nil` unless it was told to, and is asked to.
    var faults: FaultPlan?
    /// False for a request that could not be read to its end: its answer is the connection's last.
    let isWhole: Bool
    private(set) weak var http: HTTPConnection?
    /// The time when the request had arrived; `nil` when requests are not logged.
    let began: ContinuousClock.Instant?
    /// The caller, for the log.
    var caller: UserID?
    /// With what the request was refused, for the log.
    var code: Problem.Code?
    /// The read of the log that the answer waits for; 0 for none.
    private var reading: UInt64 = 0
    /// Undoes what was begun for an answer that nobody waits for any more.
    private var undo: (() -> Void)?

    init(_ request: Request, holding held: consuming ByteBudget.Share, on http: HTTPConnection) {
        self.held = held
        worker = http.worker
        began = http.worker.services.requestLog == nil ? nil : .now
        self.http = http
        self.request = request.head
        body = request.body
        context = request.replyContext
        isWhole = true
    }

    /// The exchange of a request that could not be read: its answer is the connection's last.
    ///
    /// - Parameter head: what of the request's head was read.
    init(refused head: RequestHead?, on http: HTTPConnection) {
        worker = http.worker
        held = ByteBudget.Share(of: worker.services.pending)
        began = http.worker.services.requestLog == nil ? nil : .now
        self.http = http
        request = head ?? RequestHead(method: Self.unreadMethod)
        body = []
        context = ReplyContext(isHead: request.method == .head, keepAlive: false)
        isWhole = false
        // A page of another origin that is allowed is to be able to read why.
        let origins = worker.services.origins
        if head != nil { fields = origins.responseFields(for: origins.decide(request)) }
    }

    /// Stands for a method that was not read: it is counted among the others.
    static let unreadMethod = HTTPRequest.Method("UNREAD")!

    /// The connection, for the one answer; `nil` when it has been given or the client has gone.
    func takeHTTP() -> HTTPConnection? {
        defer { http = nil }
        guard let http, http.exchange === self else { return nil }
        return http
    }

    // MARK: Reading the log

    /// The party that reads the log: the caller, or without a name the client's address.
    func asker(_ caller: Identity) -> Asker {
        Asker(caller.user, or: http.flatMap(clientBlock)?.asker ?? .connection(0))
    }

    /// Reads from the log for the answer. Nothing is read when the client has gone, nor does `then` happen if it goes.
    ///
    /// - Parameter room: `nil` for what is of all rooms of the caller.
    func ask(
        _ kind: Query.Kind, of room: RoomID?, for caller: Identity,
        then: @escaping (Result<Answer.Content, Problem>) -> Void
    ) {
        guard http?.exchange === self else { return }
        reading = worker.ask(
            kind, of: room, for: caller.user, isAdmin: caller.isAdmin, asker: asker(caller), then: then)
    }

    /// The answer waits for a read of the log.
    ///
    /// - Parameter undo: undoes what was begun, when the client goes before it is answered.
    func wait(for reading: UInt64, undo: @escaping () -> Void) {
        self.reading = reading
        self.undo = undo
    }

    /// The client has gone: nobody waits for the answer.
    func clientGone() {
        worker.cancel(reading)
        undo?()
        undo = nil
    }

    // MARK: Serving

    /// Finds the route and serves the request.
    func serve() {
        do throws(Problem) {
            // First, so that a page that is allowed can read whatever is refused.
            try checkOrigin()
            let target = try DecodedTarget(request)
            try checkHost()
            guard !worker.services.configuration.faults || isForOperations else { return try serveWithFaults(target) }
            try serve(target)
        } catch {
            answer(error)
        }
    }

    /// Checks a request whose body is still to come.
    ///
    /// - Throws: the problem with which it would be refused whatever the body contains: of its origin, path, method, caller or
    ///   content type.
    func checkHead() throws(Problem) {
        // Asked to misbehave, the server first does what it was asked to.
        guard !worker.services.configuration.faults else { return }
        // An exchange that may be refused has its fields for pages of other origins already.
        guard worker.services.origins.decide(request) != .refused else { throw .originNotAllowed }
        let target = try DecodedTarget(request)
        try checkHost()
        guard let route = try Route(target.segments), isReachable(route) else { throw .notFound }
        guard request.method == .options || route.methods.contains(request.method) else {
            add(.allow, route.allowed)
            throw .methodNotAllowed
        }
        guard route.needsCaller, request.method != .options else { return }
        let caller = try caller(target)
        if let room = route.room, !caller.allows(room: room) { throw .roomNotAllowed }
        switch request.method {
        case .post, .put, .patch, .delete: _ = try caller.named()
        default: return
        }
        if route.takesJSON { try expectJSON() }
    }

    /// Serves the request whose target this is.
    func serve(_ target: DecodedTarget) throws(Problem) {
        // The server as a whole (RFC 9110, section 9.3.7).
        if request.method == .options, request.path == "*" { return answerEmpty(.noContent) }
        guard let route = try Route(target.segments), isReachable(route) else { throw .notFound }
        if request.method == .options { return answerOptions(route) }
        guard route.methods.contains(request.method) else {
            add(.allow, route.allowed)
            throw .methodNotAllowed
        }
        try serve(route, target)
    }

    /// True when the request came to the address at which operators ask.
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
        case .reaction(let room, let seq, let key): try react(key, to: seq, of: room, target)
        case .clientMessage(let room, let id): try answerClientMessage(id, of: room, target)
        case .changes(let room): try answerChanges(of: room, target)
        case .read(let room): try moveReadMark(in: room, target)
        case .presence(let room): try answerPresence(of: room, target)
        case .live(let room): try openLive(room, target)
        case .liveRooms: try openLiveRooms(target)
        }
    }

    // MARK: Other origins' pages

    /// Refuses what a page of an origin that is not allowed has its browser send.
    private func checkOrigin() throws(Problem) {
        guard request.headerFields.contains(.origin) else { return }
        let decision = worker.services.origins.decide(request)
        if decision == .refused { throw .originNotAllowed }
        fields += worker.services.origins.responseFields(for: decision)
    }

    /// Refuses what was sent to a host that is not accepted. Machines that look after the server may call it as they like.
    private func checkHost() throws(Problem) {
        guard let hosts = worker.services.hosts, !hosts.accepts(request), !asksForHealth, !isForOperations else {
            return
        }
        throw .hostNotAllowed(request.authority.map(Self.nameOfHost))
    }

    /// The host of an authority, without its port.
    private static func nameOfHost(_ authority: String) -> String {
        String(authority.prefix { $0 != ":" })
    }

    /// True for a request for `/healthz` or `/readyz`, which are outside all limits and checks.
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
