import Chat
import HTTP
import HTTPTypes
import Transport
import Wire

/// A request that satisfies the rules of its ``Route``, with what the route's code needs to answer it.
struct RoutedRequest {
    /// The exchange, which is answered once.
    let exchange: Exchange
    /// The caller; without a name if the route is for anybody.
    let caller: Identity
    private let target: DecodedTarget
    private let path: PathValues

    init(_ exchange: Exchange, by caller: Identity, _ target: DecodedTarget, _ path: PathValues) {
        self.exchange = exchange
        self.caller = caller
        self.target = target
        self.path = path
    }

    var worker: Worker { exchange.worker }
    var services: Services { exchange.worker.services }
    var headerFields: HeaderFields { exchange.request.headerFields }
    var body: [UInt8] { exchange.body }

    // MARK: The target

    /// The room in the path. Only for routes with `{room}`, as each of these is for its placeholder.
    var room: RoomID { inPath(path.room) }
    /// The user in the path.
    var user: UserID { inPath(path.user) }
    /// The number of the message in the path.
    var seq: Int64 { inPath(path.seq) }
    /// The reaction in the path.
    var reaction: ReactionKey { inPath(path.key) }
    /// The id of the webhook in the path.
    var webhook: WebhookID { inPath(path.webhook) }
    /// The name of a file, or the client's id of a message, in the path.
    var name: String { inPath(path.text) }

    private func inPath<Value>(_ value: Value?) -> Value {
        guard let value else { preconditionFailure("the route's path has no placeholder for what its code needs") }
        return value
    }

    /// Returns the value of a query parameter; `nil` when it is absent.
    ///
    /// - Throws: 400 when it occurs more than once.
    func single(_ name: String) throws(Problem) -> String? { try target.single(name) }

    /// Returns the user that the parameter `after` names; `nil` when it is absent.
    func afterUser() throws(Problem) -> UserID? {
        guard let name = try single("after") else { return nil }
        return try UserID(name)
    }

    /// Returns the number of elements that the parameter `limit` asks for.
    func limit(maximum: Int, default usual: Int) throws(Problem) -> Int {
        try PageRequest.parseLimit(single("limit"), maximum: maximum, default: usual)
    }

    /// Returns the value of a parameter that is `true` or `false`; false when it is absent.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch try single(name) {
        case "true": return true
        case "false", nil: return false
        default: throw .invalidField(name, must: "true or false")
        }
    }

    // MARK: Changing and reading the log

    /// Submits a change for the caller, to a room or else to the path's if there is one. Then calls `then` with the receipt; refuses
    /// the request on failure.
    ///
    /// - Throws: 401 for a caller without a name.
    func submit(
        _ change: Submission.Change, to room: RoomID? = nil, then: @escaping (Receipt) -> Void
    ) throws(Problem) {
        let room = room ?? path.room
        let isAdmin = room == nil ? caller.isServerAdmin : caller.isAdmin
        worker.log.submit(change, to: room, by: try caller.named(), isAdmin: isAdmin, for: exchange) {
            [exchange] result in
            switch result {
            case .success(let receipt): then(receipt)
            case .failure(let problem): exchange.refuse(problem)
            }
        }
    }

    /// Reads from the log for the answer, then calls `then` with what was read; refuses the request on failure. Does
    /// nothing if the client has gone; `then` is not called if it goes meanwhile.
    func ask<Value>(_ kind: (Reply<Value>) -> Query.Kind, then: @escaping (Value) -> Void) {
        guard exchange.isAwaited else { return }
        exchange.reading = worker.log.ask(for: caller.user, isAdmin: caller.isAdmin, client: client, kind) {
            [exchange] result in
            switch result {
            case .success(let value): then(value)
            case .failure(let problem): exchange.refuse(problem)
            }
        }
    }

    /// Reads a part of a list like ``ask(_:then:)``. A cursor of another history is refused after the log has checked the
    /// caller's access.
    ///
    /// - Parameter epoch: The epoch of the list's cursor; `nil` for the start of the list.
    func ask<Value>(
        listFrom epoch: String?, _ kind: (Reply<Value>) -> Query.Kind, then: @escaping (Value) -> Void
    ) {
        ask(kind) { [exchange] value in
            guard SincePosition.isOfHistory(epoch, current: exchange.epoch) else {
                return exchange.refuse(.listCursorUnknown)
            }
            then(value)
        }
    }

    /// Asks the thread of the webhooks, then calls `then` with its answer; refuses the request on failure.
    ///
    /// - Parameter use: The use that a ban of the caller may refuse.
    func askWebhooks<Value: Sendable>(
        for use: BanTable.Use = .change, _ body: @escaping @Sendable (Deliverer) throws -> Value,
        then: @escaping (Value) -> Void
    ) throws(Problem) {
        try worker.checkBans(of: caller, in: nil, for: use)
        let waiting = LoopBound((exchange: exchange, then: then), of: worker.loop)
        services.webhooks.perform { deliverer in
            let result: Result<Value, Problem>
            do {
                result = .success(try body(deliverer))
            } catch {
                result = .failure(error as? Problem ?? .unavailable("The webhooks cannot be read or changed now."))
            }
            _ = waiting.loop.post {
                let (exchange, then) = waiting.value
                guard exchange.isAwaited else { return }
                switch result {
                case .success(let value): then(value)
                case .failure(let problem): exchange.refuse(problem)
                }
            }
        }
    }

    /// The client for reads of the log: the caller, or without a name the client's address.
    var client: QueryClient { QueryClient(caller.user, or: exchange.clientBlock?.client ?? .connection(0)) }

    // MARK: Limits

    /// Counts an action against the limits of the caller and the address.
    ///
    /// - Throws: 429 `rate_limited`. The limit and the time to retry go into the answer's header.
    func admit(_ action: Limiter.Action) throws(Problem) { try exchange.admit(action, by: caller.user) }

    /// Counts a change that may bring the path's user into a room, or a room into the user's list: unless an admin makes
    /// it, also against the limit of invites.
    ///
    /// - Throws: 429 `rate_limited`.
    func admitInvite() throws(Problem) {
        guard !caller.isAdmin else { return try admit(.changes) }
        try admit(.invites)
        do throws(Problem) {
            try admit(.changes)
        } catch {
            services.guards.limiter?.putBack(.invites, user: caller.user, address: exchange.clientBlock)
            throw error
        }
    }

    // MARK: Answers

    /// Answers with the JSON that `encode` appends.
    func answerJSON(_ status: HTTPResponse.Status = .ok, _ encode: (inout [UInt8]) -> Void) {
        exchange.answerJSON(status, encode)
    }

    /// Answers with the record of a receipt: 201 if the change created it, unless `status` says otherwise.
    func answerRecord(of receipt: Receipt, _ status: HTTPResponse.Status? = nil) {
        guard case .record(let record, let isNew) = receipt else { return answerNoContent() }
        exchange.send(status ?? (isNew ? .created : .ok), body: record.span)
    }

    func answerNoContent() { exchange.answerNoContent() }

    func refuse(_ problem: Problem) { exchange.refuse(problem) }

    /// Adds a link to the next part of a list (RFC 8288).
    func addNextLink(_ target: String) { exchange.add(.link, "<\(target)>; rel=\"next\"") }
}
