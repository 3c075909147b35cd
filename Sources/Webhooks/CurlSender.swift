import CCurl
import Glibc
import Synchronization
import Threads
public import Transport

/// Where a ``CurlSender`` may connect to, and how.
public struct SenderConfiguration: Sendable {
    /// Addresses that are allowed although they are not public.
    public var allowed: [IPRange] = []
    /// True if receivers may have URLs with `http`.
    public var allowsHTTP = false
    /// The URL of a proxy for all requests, which then judges the addresses of receivers itself. `nil`: none, whatever the
    /// environment says.
    public var proxy: String?
    /// A file with the certificates of authorities to trust (PEM). `nil`: those of the system.
    public var authorities: String?
    /// Maximum number of bytes that are read of the body of an answer.
    public var maximumAnswer = SenderAnswer.maximumBody
    /// The value of `User-Agent`.
    public var userAgent: String

    /// Creates a configuration that allows `https` to public addresses.
    public init(userAgent: String) { self.userAgent = userAgent }

    /// True if a connection to this address is allowed.
    func allows(_ address: IPAddress) -> Bool {
        address.isPublic || allowed.contains { $0.contains(address) }
    }
}

/// A sender on libcurl, with a thread of its own.
///
/// Connections are kept and used again. Redirects are not followed. An address is judged when the socket to it is opened, so
/// a name that changes between lookup and connection gains nothing.
public final class CurlSender: Sender {
    /// Maximum number of requests under way; more are refused at once.
    public static let maximumTransfers = 512
    /// Maximum number of bytes of an answer's header.
    static let maximumHeader = 16 * 1024
    /// Maximum number of idle handles of libcurl, and of idle connections while all requests are under way.
    static let maximumIdle = 128
    /// Number of connections above which a request that ends closes an idle one. libcurl counts connections in use, too. Its
    /// default of four for each request under way would close the connections of a burst when it ends.
    static let maximumConnections = maximumTransfers + maximumIdle

    private let worker: SenderWorker
    private let thread: Mutex<NamedThread?>

    /// Starts the thread.
    ///
    /// - Parameter niceness: The niceness of the thread, as in ``NamedThread``.
    public init(_ configuration: SenderConfiguration, niceness: Int32 = 0) {
        let worker = SenderWorker(configuration)
        self.worker = worker
        thread = Mutex(NamedThread(name: "sender", niceness: niceness) { worker.run() })
    }

    deinit { close() }

    /// Ends the thread. Requests under way and later ones get an error. Can be called again.
    public func close() {
        worker.inbox.withLock { $0.isClosed = true }
        worker.wake()
        let thread = thread.withLock { $0.take() }
        thread?.join()
    }

    /// Posts a body, as ``Sender`` says.
    public func post(
        _ url: String, headers: [(name: String, value: String)], body: [UInt8], timeout: Duration,
        completion: @escaping @Sendable (Result<SenderAnswer, SenderError>) -> Void
    ) {
        let request = SenderRequest(url: url, headers: headers, body: body, timeout: timeout, completion: completion)
        let (refusal, wakes): (String?, Bool) = worker.inbox.withLock { inbox in
            if inbox.isClosed { return ("the server is stopping", false) }
            if inbox.underWay == Self.maximumTransfers {
                return ("\(Self.maximumTransfers) requests are under way already", false)
            }
            inbox.underWay += 1
            inbox.requests.append(request)
            // Otherwise the one before has woken the thread, which has not taken it yet.
            return (nil, inbox.requests.count == 1)
        }
        if let refusal { return completion(.failure(SenderError(refusal))) }
        if wakes { worker.wake() }
    }
}

/// A request that was given to a ``CurlSender``.
struct SenderRequest: Sendable {
    /// A request that has ended.
    struct Answered: Sendable {
        let completion: @Sendable (Result<SenderAnswer, SenderError>) -> Void
        let answer: Result<SenderAnswer, SenderError>
    }

    let url: String
    let headers: [(name: String, value: String)]
    let body: [UInt8]
    let timeout: Duration
    let completion: @Sendable (Result<SenderAnswer, SenderError>) -> Void
}

/// The state of a sender, and the body of its thread.
///
/// It is sendable although it holds a pointer: only the thread uses `multi`, except that others may call `wake` at any time
/// (curl_multi_wakeup(3)). It is freed when nothing refers to the worker any more, so after the thread's end.
private final class SenderWorker: @unchecked Sendable {
    struct Inbox: Sendable {
        var requests: [SenderRequest] = []
        /// The number of requests that have no answer yet.
        var underWay = 0
        var isClosed = false
    }

    let inbox = Mutex(Inbox())
    private let configuration: SenderConfiguration
    private let multi: UnsafeMutableRawPointer
    private let sockets = SenderSockets()

    // A static property is initialized once, before any other call of libcurl, as curl_global_init(3) asks.
    private static let begun = backscroll_curl_begin() == CURLE_OK

    init(_ configuration: SenderConfiguration) {
        precondition(Self.begun, "libcurl cannot start")
        self.configuration = configuration
        multi = curl_multi_init()
        backscroll_curl_keep_connections(multi, CurlSender.maximumConnections)
    }

    deinit { curl_multi_cleanup(multi) }

    func wake() { curl_multi_wakeup(multi) }

    func run() {
        // By the address of libcurl's handle.
        var transfers: [UnsafeMutableRawPointer: CurlTransfer] = [:]
        var idle: [CurlTransfer] = []
        while true {
            let (requests, isClosed) = inbox.withLock { inbox in
                defer { inbox.requests = [] }
                return (inbox.requests, inbox.isClosed)
            }
            for request in requests {
                let transfer = idle.popLast() ?? CurlTransfer(configuration, sockets)
                transfer.begin(request)
                transfers[transfer.handle] = transfer
                curl_multi_add_handle(multi, transfer.handle)
            }
            if isClosed { break }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var waiting: Int32 = 0
            var answered: [SenderRequest.Answered] = []
            while let message = curl_multi_info_read(multi, &waiting) {
                guard message.pointee.msg == CURLMSG_DONE, let transfer = transfers[message.pointee.easy_handle] else {
                    continue
                }
                // The message does not survive the removal of its handle.
                let result = backscroll_curl_result(message)
                curl_multi_remove_handle(multi, transfer.handle)
                if transfer.beginsAgain() {
                    curl_multi_add_handle(multi, transfer.handle)
                } else {
                    transfers[transfer.handle] = nil
                    answered.append(transfer.end(result))
                    if idle.count < CurlSender.maximumIdle { idle.append(transfer) }
                }
            }
            complete(answered)
            // Ends earlier with a wake, and when libcurl has something to do.
            curl_multi_poll(multi, nil, 0, 60_000, nil)
        }
        for transfer in transfers.values { curl_multi_remove_handle(multi, transfer.handle) }
        complete(transfers.values.map { $0.end(nil) })
    }

    private func complete(_ answered: [SenderRequest.Answered]) {
        if answered.isEmpty { return }
        inbox.withLock { $0.underWay -= answered.count }
        for request in answered { request.completion(request.answer) }
    }
}
