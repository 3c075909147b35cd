import CCurl
import Glibc
import Transport

/// libcurl's handle for one request after the other. The sender's thread uses it, and libcurl on that thread.
final class CurlTransfer {
    let handle: UnsafeMutableRawPointer
    /// The request under way.
    private var request: SenderRequest?
    private let configuration: SenderConfiguration
    private let sockets: SenderSockets
    private var headers: UnsafeMutablePointer<curl_slist>?
    // libcurl writes into it as long as the handle exists (CURLOPT_ERRORBUFFER(3)).
    private let error = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var body: [UInt8] = []
    private var headerBytes = 0
    /// True once the empty line after the header has come.
    private var hasHeader = false
    private var isCut = false
    /// The reason why this side ended the transfer.
    private var refusal: String?
    private var hasOpenedSocket = false
    /// The local port of the connection.
    private var port: Int32 = 0
    /// True if the request was not sent, since bytes waited on the connection that was to be used again.
    private var isHeldBack = false

    init(_ configuration: SenderConfiguration, _ sockets: SenderSockets) {
        self.configuration = configuration
        self.sockets = sockets
        handle = curl_easy_init()
        error.pointee = 0
        backscroll_curl_text(handle, CURLOPT_PROTOCOLS_STR, configuration.allowsHTTP ? "https,http" : "https")
        backscroll_curl_text(handle, CURLOPT_USERAGENT, configuration.userAgent)
        // An empty text keeps libcurl from reading the environment, in which NO_PROXY names hosts to connect to without the
        // proxy, and so without its judgment.
        backscroll_curl_text(handle, CURLOPT_PROXY, configuration.proxy ?? "")
        backscroll_curl_text(handle, CURLOPT_NOPROXY, "")
        if let authorities = configuration.authorities { backscroll_curl_text(handle, CURLOPT_CAINFO, authorities) }
        backscroll_curl_number(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
        backscroll_curl_number(handle, CURLOPT_FOLLOWLOCATION, 0)
        // Without it a timeout would be a signal to the process.
        backscroll_curl_number(handle, CURLOPT_NOSIGNAL, 1)
        backscroll_curl_pointer(handle, CURLOPT_ERRORBUFFER, error)
        // libcurl calls back only while the handle is in the worker's multi handle. The worker keeps this object until then.
        backscroll_curl_callbacks(
            handle, Unmanaged.passUnretained(self).toOpaque(),
            { bytes, size, count, transfer in CurlTransfer.of(transfer).take(body: bytes, size * count) },
            { bytes, size, count, transfer in CurlTransfer.of(transfer).take(header: bytes, size * count) },
            { transfer, _, address in CurlTransfer.of(transfer).open(address) })
        // The worker keeps the sockets longer than libcurl's connections.
        backscroll_curl_connections(
            handle, Unmanaged.passUnretained(self).toOpaque(),
            { transfer, _, _, _, port in
                CurlTransfer.of(transfer).maySend(from: port) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            },
            Unmanaged.passUnretained(sockets).toOpaque(),
            { Unmanaged<SenderSockets>.fromOpaque($0!).takeUnretainedValue().close($1) })
    }

    deinit {
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        error.deallocate()
    }

    /// Takes a request. The handle then goes to libcurl.
    func begin(_ request: SenderRequest) {
        self.request = request
        error.pointee = 0
        (headerBytes, hasHeader, isCut, refusal) = (0, false, false, nil)
        (hasOpenedSocket, port, isHeldBack) = (false, 0, false)
        // Without Expect libcurl would wait a second for receivers that do not answer "100 Continue".
        for line in request.headers.map({ "\($0.name): \($0.value)" }) + ["Expect:", "Accept:"] {
            headers = curl_slist_append(headers, line)
        }
        backscroll_curl_headers(handle, headers)
        backscroll_curl_text(handle, CURLOPT_URL, request.url)
        backscroll_curl_number(handle, CURLOPT_TIMEOUT_MS, Int(request.timeout / .milliseconds(1)))
        backscroll_curl_number(handle, CURLOPT_FRESH_CONNECT, 0)
        request.body.withUnsafeBytes {
            backscroll_curl_body(handle, $0.baseAddress ?? UnsafeRawPointer(error), $0.count)
        }
    }

    /// Ends the request, after libcurl has given the handle back.
    ///
    /// - Parameter result: The result of libcurl; `nil` if the transfer has not ended.
    /// - Returns: The completion, and the answer to call it with.
    func end(_ result: CURLcode?) -> SenderRequest.Answered {
        let answer = result.map(answer) ?? .failure(SenderError("the server is stopping"))
        defer {
            // libcurl keeps the pointer, not a copy.
            backscroll_curl_headers(handle, nil)
            curl_slist_free_all(headers)
            (request, headers, body) = (nil, nil, [])
            // libcurl would keep its copy until the next request.
            backscroll_curl_body(handle, nil, 0)
        }
        return SenderRequest.Answered(completion: request!.completion, answer: answer)
    }

    private static func of(_ context: UnsafeMutableRawPointer?) -> CurlTransfer {
        Unmanaged<CurlTransfer>.fromOpaque(context!).takeUnretainedValue()
    }

    /// Takes bytes of the body. Returns fewer than `count`, which ends the transfer, once it has enough.
    private func take(body bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        let kept = min(count, configuration.maximumAnswer - body.count)
        body += UnsafeRawBufferPointer(start: bytes, count: kept)
        isCut = kept < count
        return kept
    }

    private func take(header bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        let line = UnsafeRawBufferPointer(start: bytes, count: count)
        if headerBytes == 0, line.starts(with: "HTTP/2".utf8) { sockets.forget(port: port) }
        // Interim answers end with an empty line, too.
        if line.starts(with: "HTTP/".utf8) { hasHeader = false }
        if line.first == UInt8(ascii: "\r") || line.first == UInt8(ascii: "\n") { hasHeader = true }
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

    private func answer(_ result: CURLcode) -> Result<SenderAnswer, SenderError> {
        guard result == CURLE_OK || (result == CURLE_WRITE_ERROR && isCut) else {
            let text =
                refusal ?? (error.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: error))
            return .failure(
                SenderError(String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 32 }))))
        }
        // libcurl takes a connection that ends within the header for an answer.
        guard hasHeader else { return .failure(SenderError("the answer ends within its header")) }
        let retryAfter = backscroll_curl_retry_after(handle)
        return .success(
            SenderAnswer(
                status: backscroll_curl_status(handle), retryAfter: retryAfter > 0 ? Int(retryAfter) : nil, body: body))
    }
}
