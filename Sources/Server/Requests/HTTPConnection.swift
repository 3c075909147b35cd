import Chat
import HTTP
import HTTPTypes
import Transport
import Wire

/// Serves HTTP/1.1 on one connection: one request at a time, each answered before the next is read.
///
/// So answers and changes are in the order of the requests, and a connection holds one request and one answer at a
/// time, however many are pipelined.
final class HTTPConnection: ConnectionHandler {
    let worker: Worker
    let connection: Connection
    private var parser: RequestParser
    /// The share of ``Services/Guards/pending`` for the part of the body that has arrived.
    private var arriving: ByteBudget.Share
    /// True once the head of the request whose body is arriving has passed ``Exchange/checkHead()``.
    private var hasCheckedHead = false
    /// The request being served; `nil` between requests.
    private(set) var exchange: Exchange?
    /// The resources that the connection can reach.
    let scope: Scope
    /// The address of the peer: the client, or a proxy.
    private(set) lazy var peer = IPAddress(connection.peer)
    /// True if the peer is a trusted proxy, whose requests name the clients that they come from.
    private(set) lazy var isProxied: Bool = {
        guard let proxies = worker.services.guards.proxies, let peer else { return false }
        return proxies.contains(peer)
    }()
    /// The block of addresses that limits count the peer by.
    private(set) lazy var peerBlock = peer.map(AddressBlock.init)
    /// The refusal of every request but health checks; `nil` to serve requests.
    private var refusal: Refusal?
    private var isProcessing = false
    private var hasServed = false
    /// True once the client has waited for an answer before sending its next request.
    private var isConversing = false
    /// The deadline that is running. Each is set once, at the start of its phase, so bytes that trickle in do not
    /// extend it.
    private var deadlinePhase = DeadlinePhase.firstByte

    private enum DeadlinePhase {
        case firstByte, idle, head, body, none
    }

    /// The resources that a connection can reach.
    enum Scope {
        /// All resources; without metrics if these have a listener of their own.
        case all
        /// Metrics and health checks.
        case operations
    }

    /// The reason why a connection is not served. A class, because few connections have one.
    final class Refusal {
        let problem: Problem
        /// Additional header fields of the answer.
        let fields: [HTTPField]

        init(_ problem: Problem, fields: [HTTPField] = []) {
            self.problem = problem
            self.fields = fields
        }
    }

    /// - Parameter refusal: The refusal of every request but health checks; `nil` to serve requests, unless the peer's
    ///   address has made too many connections.
    init(worker: Worker, connection: Connection, scope: Scope = .all, refusal: Refusal? = nil) {
        self.worker = worker
        self.connection = connection
        self.scope = scope
        parser = RequestParser(limits: worker.services.configuration.http)
        arriving = ByteBudget.Share(of: worker.services.guards.pending)
        self.refusal = refusal ?? connectionLimit
        connection.setDeadline(
            self.refusal == nil
                ? worker.services.configuration.deadlines.firstByte : worker.services.configuration.transport.linger)
    }

    /// The refusal for a peer that has made too many connections; `nil` within the limit. Connections of trusted
    /// proxies are not counted. Instead, ``Exchange/admitProxiedConnection()`` counts each socket and event stream on
    /// them by its client.
    private var connectionLimit: Refusal? {
        guard let limiter = worker.services.guards.limiter, limiter.isLimited(.connections), scope == .all, !isProxied
        else { return nil }
        let exceeded = limiter.admit(.connections, user: nil, address: peerBlock, at: connection.loop.nanoseconds)
        return exceeded.map { Refusal($0.problem, fields: $0.fields) }
    }

    /// True if the connection is refused. Its first answer is then its last.
    var isRefusing: Bool { refusal != nil }

    // MARK: Requests

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        if hasServed, exchange == nil, parser.phase == .idle { isConversing = true }
        parser.append(bytes)
        process()
    }

    func drained(_ connection: Connection) {
        process()
    }

    func turnCame(_ connection: Connection) {
        process()
    }

    /// Serves complete requests until an answer is pending, or until the connection's time in this turn is over.
    private func process() {
        guard !isProcessing, !connection.isAwaitingTurn else { return }
        // In most cases the next request has not begun to arrive.
        guard parser.phase != .idle else { return updateReading() }
        isProcessing = true
        var slice = TurnSlice()
        while exchange == nil, connection.isOpen, !connection.isCongested, connection.handler === self {
            if slice.isOver(hasMore: parser.phase != .idle) {
                connection.awaitTurn()
                break
            }
            do throws(RequestRefusal) {
                switch try parser.next() {
                case .needMoreBytes:
                    guard parser.phase != .body || reserveBody() else { continue }
                    isProcessing = false
                    return updateReading()
                case .sendContinue:
                    if reserveBody() { connection.write(ResponseWriter.continueResponse) }
                case .request(let request):
                    serve(request)
                }
            } catch {
                // A malformed message ends the connection, since the start of the next one is unknown.
                refuse(Problem(error, parser.limits))
            }
        }
        isProcessing = false
        updateReading()
    }

    /// Reserves memory for a body, or refuses the request at once: if too many bytes are pending, or if no body could
    /// make it valid, so that clients without a token cannot fill the memory.
    ///
    /// - Returns: False if the request was refused, which ends the connection.
    private func reserveBody() -> Bool {
        if let refusal {
            refuse(refusal.problem, fields: refusal.fields)
            return false
        }
        guard arriving.resize(to: parser.bodyBytes) else {
            releaseBody()
            refuse(.overloaded)
            return false
        }
        guard !hasCheckedHead, let head = parser.headAtHand else { return true }
        hasCheckedHead = true
        let exchange = Exchange(incomplete: head, on: self)
        do throws(Problem) {
            try exchange.checkHead()
            return true
        } catch {
            releaseBody()
            self.exchange = exchange
            exchange.refuse(error)
            return false
        }
    }

    private func serve(_ request: Request) {
        deadlinePhase = .none
        connection.setDeadline(nil)
        hasServed = true
        hasCheckedHead = false
        guard request.body.isEmpty || arriving.resize(to: request.body.count) else {
            releaseBody()
            // The body has arrived completely, so the connection can go on.
            let exchange = Exchange(request, holding: ByteBudget.Share(of: worker.services.guards.pending), on: self)
            self.exchange = exchange
            return exchange.refuse(.overloaded)
        }
        let exchange = Exchange(request, holding: arriving.take(), on: self)
        self.exchange = exchange
        if let refusal, !exchange.asksForHealth {
            exchange.fields += refusal.fields
            return exchange.refuse(refusal.problem)
        }
        exchange.serve()
    }

    /// Releases the share held for a body that is dropped.
    private func releaseBody() {
        _ = arriving.take()
    }

    /// Refuses the current request, whose head may have arrived or not.
    private func refuse(_ problem: Problem, fields: [HTTPField] = []) {
        let exchange = Exchange(incomplete: parser.headAtHand, on: self)
        self.exchange = exchange
        exchange.fields += fields
        exchange.refuse(problem)
    }

    // MARK: Answers

    /// Sends the answer to the current request in one write.
    func send(_ answer: Span<UInt8>, closing: Bool) {
        exchange = nil
        connection.write(answer)
        if closing {
            connection.finish()
        } else {
            process()
        }
    }

    /// Sends the head of an answer, then hands the connection to the handler that `open` returns, along with bytes that
    /// have already arrived for it.
    func upgrade(head: Span<UInt8>, _ open: (Connection) -> any ConnectionHandler) {
        exchange = nil
        deadlinePhase = .none
        connection.setDeadline(nil)
        connection.write(head)
        let handler = open(connection)
        connection.handler = handler
        connection.isReadingPaused = false
        let rest = parser.takeRemainder()
        if !rest.isEmpty { handler.received(rest.span, on: connection) }
    }

    // MARK: Reading and time

    /// Pauses reading while an answer is pending. Otherwise the next request would have to be kept, and the end of the
    /// client's sending would be noticed although the client may still wait for this answer.
    ///
    /// Pausing and resuming cost three system calls. Clients that wait for each answer neither send ahead nor close
    /// their side early, so for them reading pauses only if they do send ahead.
    private func updateReading() {
        guard connection.handler === self, connection.isOpen else { return }
        let (isServing, awaited) = (exchange != nil, parser.phase)
        connection.isReadingPaused = isServing && !(isConversing && awaited == .idle)
        // A client with unsent answers has another deadline, and its next request is not late meanwhile.
        guard !isServing, !connection.isCongested, !connection.isAwaitingTurn, refusal == nil else { return }
        let deadlines = worker.services.configuration.deadlines
        let phase: DeadlinePhase =
            switch awaited {
            case .idle: hasServed ? .idle : .firstByte
            case .head: .head
            case .body: .body
            }
        guard phase != deadlinePhase else { return }
        deadlinePhase = phase
        switch phase {
        case .firstByte, .none: break
        case .idle: connection.setDeadline(deadlines.idle)
        case .head: connection.setDeadline(deadlines.head)
        case .body: connection.setDeadline(deadlines.body)
        }
    }

    func deadlineReached(_ connection: Connection) {
        guard exchange == nil else { return }
        // The client is not late: its bytes wait for a turn.
        if connection.isAwaitingTurn { return deadlinePhase = .none }
        if let refusal { return refuse(refusal.problem, fields: refusal.fields) }
        switch deadlinePhase {
        case .idle, .none:
            connection.finish()
        case .firstByte, .head, .body:
            let what = deadlinePhase == .body ? "body" : "head"
            refuse(.requestTimeout("The request's \(what) did not arrive in time."))
        }
    }

    func shuttingDown(_ connection: Connection) {
        // A request that is arriving is still answered if it arrives within the grace period.
        if exchange == nil, parser.phase == .idle { connection.finish() }
    }

    func closed(_ connection: Connection) {
        exchange?.clientGone()
        exchange = nil
        releaseBody()
    }
}
