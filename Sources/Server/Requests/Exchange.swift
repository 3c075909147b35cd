import Chat
import HTTP
import HTTPTypes
import Transport
import Wire

/// One request and its answer.
///
/// It is answered once, at once or later on the same loop. If the client has gone by then, the answer is dropped.
final class Exchange {
    let worker: Worker
    let request: RequestHead
    let body: [UInt8]
    /// The body's share of ``Services/Guards/pending``. It is held until the exchange ends, which for a send is after its
    /// commit.
    private let held: ByteBudget.Share
    /// The properties of the request that the framing of the answer depends on.
    let context: ReplyContext
    /// Additional header fields of the answer.
    var fields: [HTTPField] = []
    /// Additional header fields as encoded lines, each with its CRLF. Avoids strings for fields with numbers.
    var lines: [UInt8] = []
    /// False for a request that has not been read completely. Its answer is the connection's last.
    let isWhole: Bool
    private(set) weak var http: HTTPConnection?
    /// The time when the request had arrived completely, on the clock of ``Loop/moment``.
    let began: Int64
    /// The resource that the request was for, for the metrics; `nil` if there is none, or it does not have the method.
    var resource: Resource?
    /// The caller, for the log of requests.
    var loggedUser: UserID?
    /// The code of the problem that the request was refused with, for the log of requests.
    var code: Problem.Code?
    /// The read of the log that the answer waits for. It is cancelled if the client goes.
    var reading: (any PendingReply)?
    /// Called if the client goes before the answer, to undo the work begun for it.
    private var undo: (() -> Void)?

    init(_ request: Request, holding held: consuming ByteBudget.Share, on http: HTTPConnection) {
        self.held = held
        worker = http.worker
        began = worker.loop.moment
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
        began = worker.loop.moment
        held = ByteBudget.Share(of: worker.services.guards.pending)
        self.http = http
        request = head ?? RequestHead(method: Self.unreadMethod)
        body = []
        context = ReplyContext(isHead: request.method == .head, keepAlive: false)
        isWhole = false
        // An allowed page of another origin must be able to read the reason.
        let origins = worker.services.guards.origins
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

    /// The epoch that answers name.
    var epoch: String { worker.epoch }

    // MARK: The client

    /// True while the client waits for the answer.
    var isAwaited: Bool { http?.exchange === self }

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
        worker.log.cancel(reading)
        undo?()
        undo = nil
    }

    // MARK: Serving

    /// Checks the request, and lets its route answer it.
    func serve() {
        do throws(Problem) {
            // First, so that an allowed page can read the reason of every refusal.
            let decision = worker.services.guards.origins.decide(request)
            fields += worker.services.guards.origins.responseFields(for: decision)
            let target = try checkedTarget(decision)
            try serve(target)
        } catch {
            refuse(error)
        }
    }

    /// Checks the head of a request before its body arrives.
    ///
    /// - Throws: The refusal that no body could prevent: because of the origin, path, method, caller or content type.
    func checkHead() throws(Problem) {
        // The initializer has already added the fields for pages of other origins.
        _ = try judge(checkedTarget(worker.services.guards.origins.decide(request)))
    }

    /// Serves the request with this target.
    func serve(_ target: DecodedTarget) throws(Problem) {
        switch try judge(target) {
        case .noContent: answerNoContent()
        case .options(let resource): answerOptions(of: resource)
        case .route(let route, let request):
            if let action = route.limit { try request.admit(action) }
            worker.applyClaims(of: request.caller)
            try route.answer(request)
        }
    }

    private func answerOptions(of resource: Resource) {
        let allowed = HTTPField(name: .allow, value: resource.allowed)
        if OriginPolicy.isPreflight(request) {
            let origins = worker.services.guards.origins
            fields = [allowed] + origins.preflightFields(for: origins.decide(request))
        } else {
            fields.append(allowed)
        }
        answerNoContent()
    }
}
