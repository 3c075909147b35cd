import HTTP
import HTTPTypes
import Transport
import Wire

/// Serves HTTP/1.1 on one connection: one request after the other, each answered before the next is looked at.
///
/// So answers are in order, what a client sends is done in the order in which it was sent, and a connection holds one
/// request and one answer at a time, however many are pipelined.
final class HTTPConnection: ConnectionHandler {
    let worker: Worker
    let connection: Connection
    private var parser: RequestParser
    /// The part of the body that has arrived, as held against the bound on pending bytes.
    private var arriving: ByteBudget.Share
    /// The head of the request whose body is arriving has been found good.
    private var hasCheckedHead = false
    /// The request that is being served; `nil` between requests.
    private(set) var exchange: Exchange?
    /// The resources that can be reached on the connection.
    let scope: Scope
    /// The address that the connection comes from: the client's, or a proxy's.
    private(set) lazy var peer = IPAddress(connection.peer)
    /// True when a trusted proxy has connected, whose requests tell for whom they are.
    private(set) lazy var isProxied: Bool = {
        guard let proxies = worker.services.proxies, let peer else { return false }
        return proxies.contains(peer)
    }()
    /// The peer's address as limits count it.
    private(set) lazy var peerBlock = peer.map(AddressBlock.init)
    /// With what every request is refused that does not ask for the server's health; `nil` to serve them.
    private var refusal: Refusal?
    private var isProcessing = false
    private var hasServed = false
    /// The client has waited for an answer before it sent the next request.
    private var isConversing = false
    /// Which of the deadlines runs. None moves while bytes drip in: each is set once, when its phase begins.
    private var deadlinePhase = DeadlinePhase.firstByte

    private enum DeadlinePhase {
        case firstByte, idle, head, body, none
    }

    /// The resources that can be reached on a connection.
    enum Scope {
        /// All, but the metrics if they are served elsewhere.
        case all
        /// Metrics and health, for operators.
        case operations
    }

    /// The reason why a connection is not served. An object, because hardly any connection has one.
    final class Refusal {
        let problem: Problem
        /// The additional fields of the answer's head.
        let fields: [HTTPField]

        init(_ problem: Problem, fields: [HTTPField] = []) {
            self.problem = problem
            self.fields = fields
        }
    }

    /// - Parameter refusal: with what its request is refused, unless it asks for the server's health; `nil` to serve it,
    ///   if there have not been too many connections from its address.
    init(worker: Worker, connection: Connection, scope: Scope = .all, refusal: Refusal? = nil) {
        self.worker = worker
        self.connection = connection
        self.scope = scope
        parser = RequestParser(limits: worker.services.configuration.http)
        arriving = ByteBudget.Share(of: worker.services.pending)
        self.refusal = refusal ?? connectionLimit
        connection.setDeadline(
            self.refusal == nil
                ? worker.services.configuration.deadlines.firstByte : worker.services.configuration.transport.linger)
    }

    /// The limit of connections that this one is beyond. Those of a trusted proxy are nobody's: what they carry is counted
    /// by the client that it is for.
    private var connectionLimit: Refusal? {
        guard let limiter = worker.services.limiter, scope == .all, !isProxied else { return nil }
        let exceeded = limiter.admit(.connections, user: nil, address: peerBlock, at: connection.loop.nanoseconds)
        return exceeded.map { Refusal($0.problem, fields: $0.fields) }
    }

    /// True when the answer to the request at hand is the connection's last.
    var isRefusing: Bool { refusal != nil }

    // MARK: Requests

    func received(_ bytes: Span<UInt8>, on connection: Connection) {
        if hasServed, exchange == nil, parser.phase == .idle {
            isConversing = true
            connection.asksAgain()
        }
        parser.append(bytes)
        process()
    }

    func drained(_ connection: Connection) {
        process()
    }

    /// Serves what has arrived whole, until an answer has to be waited for.
    private func process() {
        guard !isProcessing else { return }
        // Most often the next request has not begun to arrive.
        guard parser.phase != .idle else { return updateReading() }
        isProcessing = true
        while exchange == nil, connection.isOpen, !connection.isCongested, connection.handler === self {
            do throws(RequestRefusal) {
                switch try parser.next() {
                case .needMoreBytes:
                    guard parser.phase != .body || keepBody() else { continue }
                    isProcessing = false
                    return updateReading()
                case .sendContinue:
                    if keepBody() { connection.write(ResponseWriter.continueResponse) }
                case .request(let request):
                    serve(request)
                }
            } catch {
                refuse(error)
            }
        }
        isProcessing = false
        updateReading()
    }

    /// Decides whether to wait for the rest of a body: not if the connection or the request will be refused whatever the body
    /// contains, so that nobody without a token can fill the memory; nor if too many bytes are pending already.
    ///
    /// - Returns: `false` if the request has been refused, which ends the connection.
    private func keepBody() -> Bool {
        if refusal != nil {
            refuseConnection()
            return false
        }
        guard arriving.resize(to: parser.bodyBytes) else {
            releaseBody()
            refuse(.overloaded)
            return false
        }
        guard !hasCheckedHead, let head = parser.headAtHand else { return true }
        hasCheckedHead = true
        let exchange = Exchange(refused: head, on: self)
        do throws(Problem) {
            try exchange.checkHead()
            return true
        } catch {
            releaseBody()
            self.exchange = exchange
            exchange.answer(error)
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
            // The body has arrived, so the connection can go on.
            let exchange = Exchange(request, holding: ByteBudget.Share(of: worker.services.pending), on: self)
            self.exchange = exchange
            return exchange.answer(.overloaded)
        }
        let exchange = Exchange(request, holding: arriving.take(), on: self)
        self.exchange = exchange
        if let refusal, !exchange.asksForHealth { return answer(exchange, with: refusal) }
        exchange.serve()
    }

    /// Gives back what is held of a body that will not be looked at.
    private func releaseBody() {
        _ = arriving.take()
    }

    /// Refuses the request of which the head has arrived, or some of it, or nothing.
    private func refuseConnection() {
        guard let refusal else { return }
        let exchange = Exchange(refused: parser.headAtHand, on: self)
        self.exchange = exchange
        answer(exchange, with: refusal)
    }

    private func answer(_ exchange: Exchange, with refusal: Refusal) {
        exchange.fields += refusal.fields
        exchange.answer(refusal.problem)
    }

    /// A message that is none ends the connection: nobody can tell where the next one begins.
    private func refuse(_ refusal: RequestRefusal) {
        refuse(Problem(refusal, parser.limits))
    }

    private func refuse(_ problem: Problem) {
        let exchange = Exchange(refused: parser.headAtHand, on: self)
        self.exchange = exchange
        exchange.answer(problem)
    }

    // MARK: Answers

    /// Sends the answer to the request at hand, in one write.
    func send(_ answer: Span<UInt8>, closing: Bool) {
        exchange = nil
        connection.write(answer)
        if closing {
            connection.finish()
        } else {
            process()
        }
    }

    /// Sends the head of an answer and hands the connection to what `open` makes, with the bytes that have arrived for
    /// it already.
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

    /// While an answer is awaited nothing is read: neither the next request, which would have to be kept, nor the end
    /// of the client's sending, after which it may well be waiting for this answer.
    ///
    /// To stop and start costs three system calls, 4 % of a send. Clients that keep a connection for one request after
    /// the other neither send ahead nor end their sending early; with them it is done when they do send ahead.
    private func updateReading() {
        guard connection.handler === self, connection.isOpen else { return }
        connection.isReadingPaused = exchange != nil && !(isConversing && parser.phase == .idle)
        // A client that has answers to take has another time limit, and what it has sent meanwhile is not late.
        guard exchange == nil, !connection.isCongested, refusal == nil else { return }
        let deadlines = worker.services.configuration.deadlines
        let phase: DeadlinePhase =
            switch parser.phase {
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
        if refusal != nil { return refuseConnection() }
        switch deadlinePhase {
        case .idle, .none:
            connection.finish()
        case .firstByte, .head, .body:
            let what = deadlinePhase == .body ? "body" : "head"
            refuse(.requestTimeout("The request's \(what) did not arrive in time."))
        }
    }

    func shuttingDown(_ connection: Connection) {
        // A request that is arriving is answered, if it arrives within the grace.
        if exchange == nil, parser.phase == .idle { connection.finish() }
    }

    func closed(_ connection: Connection) {
        exchange?.clientGone()
        exchange = nil
        releaseBody()
    }
}
