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
        let refusal: String? = worker.inbox.withLock { inbox in
            if inbox.isClosed { return "the server is stopping" }
            if inbox.underWay == Self.maximumTransfers {
                return "\(Self.maximumTransfers) requests are under way already"
            }
            inbox.underWay += 1
            inbox.requests.append(request)
            return nil
        }
        if let refusal { return completion(.failure(SenderError(refusal))) }
        worker.wake()
    }
}

/// A request that was given to a ``CurlSender``.
private struct SenderRequest: Sendable {
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
    }

    deinit { curl_multi_cleanup(multi) }

    func wake() { curl_multi_wakeup(multi) }

    func run() {
        // By the address of libcurl's handle.
        var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
        while true {
            let (requests, isClosed) = inbox.withLock { inbox in
                defer { inbox.requests = [] }
                return (inbox.requests, inbox.isClosed)
            }
            for request in requests {
                let transfer = Transfer(request, configuration, sockets)
                transfers[transfer.handle] = transfer
                curl_multi_add_handle(multi, transfer.handle)
            }
            if isClosed { break }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            var waiting: Int32 = 0
            while let message = curl_multi_info_read(multi, &waiting) {
                guard message.pointee.msg == CURLMSG_DONE,
                    let transfer = transfers.removeValue(forKey: message.pointee.easy_handle)
                else { continue }
                // The message does not survive the removal of its handle.
                let result = backscroll_curl_result(message)
                if transfer.beginsAgain() {
                    curl_multi_remove_handle(multi, transfer.handle)
                    transfers[transfer.handle] = transfer
                    curl_multi_add_handle(multi, transfer.handle)
                } else {
                    end(transfer, transfer.answer(result))
                }
            }
            // Ends earlier with a wake, and when libcurl has something to do.
            curl_multi_poll(multi, nil, 0, 60_000, nil)
        }
        for transfer in transfers.values { end(transfer, .failure(SenderError("the server is stopping"))) }
    }

    private func end(_ transfer: Transfer, _ answer: Result<SenderAnswer, SenderError>) {
        curl_multi_remove_handle(multi, transfer.handle)
        inbox.withLock { $0.underWay -= 1 }
        transfer.request.completion(answer)
    }
}

/// The open sockets of a sender on which bytes belong to the request that was sent last: those of HTTP/1. The frames of
/// HTTP/2 say what they belong to, and may come at any time.
///
/// Confined to the sender's thread, and to the end of its worker.
private final class SenderSockets {
    private var open: Set<curl_socket_t> = []

    func add(_ socket: curl_socket_t) { open.insert(socket) }

    /// Forgets the connection with this local port, because it has HTTP/2.
    func forget(port: Int32) { open = open.filter { Self.port(of: $0) != port } }

    func close(_ socket: curl_socket_t) -> Int32 {
        open.remove(socket)
        return Glibc.close(socket)
    }

    /// Returns true if bytes wait on the connection with this local port. Connections to several receivers may have the same
    /// one, and are then not told apart.
    func haveBytes(at port: Int32) -> Bool {
        open.contains { socket in
            var byte: UInt8 = 0
            return Self.port(of: socket) == port && recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
        }
    }

    private static func port(of socket: curl_socket_t) -> Int32? {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            // Every address begins like a sockaddr (POSIX, <sys/socket.h>).
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        // The port of IPv4 is at the same place.
        return result == 0 ? Int32(UInt16(bigEndian: address.sin6_port)) : nil
    }
}

/// A request under way. The sender's thread uses it, and libcurl on that thread.
private final class Transfer {
    let request: SenderRequest
    let handle: UnsafeMutableRawPointer
    private let configuration: SenderConfiguration
    private var headers: UnsafeMutablePointer<curl_slist>?
    // libcurl writes into it as long as the handle exists (CURLOPT_ERRORBUFFER(3)).
    private let error = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var body: [UInt8] = []
    private var headerBytes = 0
    private var isCut = false
    /// The reason why this side ended the transfer.
    private var refusal: String?
    private let sockets: SenderSockets
    private var hasOpenedSocket = false
    /// The local port of the connection.
    private var port: Int32 = 0
    /// True if the request was not sent, since bytes waited on the connection that was to be used again.
    private var isHeldBack = false

    init(_ request: SenderRequest, _ configuration: SenderConfiguration, _ sockets: SenderSockets) {
        self.request = request
        self.configuration = configuration
        self.sockets = sockets
        handle = curl_easy_init()
        error.pointee = 0
        // Without Expect libcurl would wait a second for receivers that do not answer "100 Continue".
        for line in request.headers.map({ "\($0.name): \($0.value)" }) + ["Expect:", "Accept:"] {
            headers = curl_slist_append(headers, line)
        }
        backscroll_curl_text(handle, CURLOPT_URL, request.url)
        backscroll_curl_text(handle, CURLOPT_PROTOCOLS_STR, configuration.allowsHTTP ? "https,http" : "https")
        backscroll_curl_text(handle, CURLOPT_USERAGENT, configuration.userAgent)
        // An empty text keeps libcurl from reading the environment, in which NO_PROXY names hosts to connect to without the
        // proxy, and so without its judgement.
        backscroll_curl_text(handle, CURLOPT_PROXY, configuration.proxy ?? "")
        backscroll_curl_text(handle, CURLOPT_NOPROXY, "")
        if let authorities = configuration.authorities { backscroll_curl_text(handle, CURLOPT_CAINFO, authorities) }
        backscroll_curl_number(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        backscroll_curl_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        // Without it a timeout would be a signal to the process.
        backscroll_curl_number(handle, CURLOPT_NOSIGNAL, 1)
        backscroll_curl_number(handle, CURLOPT_TIMEOUT_MS, Int(request.timeout / .milliseconds(1)))
        backscroll_curl_pointer(handle, CURLOPT_ERRORBUFFER, error)
        backscroll_curl_headers(handle, headers)
        request.body.withUnsafeBytes {
            backscroll_curl_body(handle, $0.baseAddress ?? UnsafeRawPointer(error), $0.count)
        }
        // The worker keeps this object until it has removed the handle, and libcurl calls back only until then.
        backscroll_curl_callbacks(
            handle, Unmanaged.passUnretained(self).toOpaque(),
            { bytes, size, count, transfer in Transfer.of(transfer).take(body: bytes, size * count) },
            { bytes, size, count, transfer in Transfer.of(transfer).take(header: bytes, size * count) },
            { transfer, _, address in Transfer.of(transfer).open(address) })
        // The worker keeps the sockets longer than libcurl's connections.
        backscroll_curl_connections(
            handle, Unmanaged.passUnretained(self).toOpaque(),
            { transfer, _, _, _, port in
                Transfer.of(transfer).maySend(from: port) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            },
            Unmanaged.passUnretained(sockets).toOpaque(),
            { Unmanaged<SenderSockets>.fromOpaque($0!).takeUnretainedValue().close($1) })
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        error.deallocate()
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// Takes bytes of the body. Returns fewer than `count`, which ends the transfer, once it has enough.
    private func take(body bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        let kept = min(count, configuration.maximumAnswer - body.count)
        body += UnsafeRawBufferPointer(start: bytes, count: kept)
        isCut = kept < count
        return kept
    }

    private func take(header bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        if headerBytes == 0, UnsafeRawBufferPointer(start: bytes, count: count).starts(with: "HTTP/2".utf8) {
            sockets.forget(port: port)
        }
        headerBytes += count
        guard headerBytes > CurlSender.maximumHeader else { return count }
        refusal = "the header of the answer is longer than \(CurlSender.maximumHeader) bytes"
        return 0
    }

    /// Opens a socket to an address if it is allowed.
    private func open(_ address: UnsafeMutablePointer<curl_sockaddr>?) -> curl_socket_t {
        guard let address else { return CURL_SOCKET_BAD }
        if configuration.proxy == nil {
            guard let host = IPAddress(backscroll_curl_address(address)) else { return CURL_SOCKET_BAD }
            guard configuration.allows(host) else {
                refusal = "\(host) is not a public address"
                return CURL_SOCKET_BAD
            }
        }
        let opened = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
        if opened >= 0 { sockets.add(opened) }
        hasOpenedSocket = true
        return opened
    }

    /// Returns false if bytes wait on a connection that is to be used again: a second answer to an earlier request, which
    /// libcurl before 8.0 would take for the answer to this one.
    ///
    /// With TLS the bytes may be harmless, such as a session ticket. They are not decrypted to find out: tickets are sent
    /// after the handshake and read with the first answer, so it is rare, and costs a handshake.
    private func maySend(from port: Int32) -> Bool {
        self.port = port
        // On a new connection, TLS 1.3 has its tickets here.
        isHeldBack = !hasOpenedSocket && sockets.haveBytes(at: port)
        return !isHeldBack
    }

    /// Returns true if the request was held back and is to be sent on a new connection. libcurl has closed the other one.
    func beginsAgain() -> Bool {
        guard isHeldBack else { return false }
        isHeldBack = false
        error.pointee = 0
        backscroll_curl_number(handle, CURLOPT_FRESH_CONNECT, 1)
        return true
    }

    func answer(_ result: CURLcode) -> Result<SenderAnswer, SenderError> {
        guard result == CURLE_OK || (result == CURLE_WRITE_ERROR && isCut) else {
            let text =
                refusal ?? (error.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: error))
            return .failure(
                SenderError(String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 32 }))))
        }
        let retryAfter = backscroll_curl_retry_after(handle)
        return .success(
            SenderAnswer(
                status: backscroll_curl_status(handle), retryAfter: retryAfter > 0 ? Int(retryAfter) : nil, body: body))
    }
}
