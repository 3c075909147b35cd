#if canImport(Glibc)
import COpenSSL
import Glibc

/// Wakes a thread that waits for a socket. It can be used from any thread.
final class Waker: Sendable {
    /// The descriptor to poll for reading.
    let descriptor: Int32
    private let writer: Int32

    /// Creates a waker.
    ///
    /// - Throws: a failure if the process has no more descriptors.
    init() throws(TransportFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw TransportFailure(.unreachable, "The process has too many open files.")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writer) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writer)
    }

    /// Ends the present wait, or the next one.
    func wake() {
        // A full pipe wakes as well.
        var byte: UInt8 = 0
        write(writer, &byte, 1)
    }

    /// Undoes the calls of ``wake()`` so far.
    func reset() {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) == bytes.count {}
    }
}

/// The certificates that a client trusts. It is created once and shared by all connections.
///
/// Sendable because OpenSSL's context is only read after its creation, and its reference count is atomic.
final class TrustedCertificates: @unchecked Sendable {
    fileprivate let context: OpaquePointer?

    /// Reads the certificates.
    ///
    /// - Parameter file: The path of further certificates (PEM) to trust besides the system's.
    /// - Throws: a failure if the file cannot be read.
    init(adding file: String?) throws(TransportFailure) {
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw TransportFailure(.unreachable, "OpenSSL cannot be started.")
        }
        self.context = context
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_2_VERSION), nil)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_default_verify_paths(context)
        if let file, SSL_CTX_load_verify_locations(context, file, nil) != 1 {
            throw TransportFailure(.unreachable, "No certificates can be read from \(file).")
        }
    }

    deinit { SSL_CTX_free(context) }
}

/// A non-blocking TCP connection, plain or with TLS. ``SocketTransport`` speaks HTTP on it, and ``ThreadedSocket`` WebSocket.
///
/// The module Transport has TLS on event loops, for the load generator. Apps would need libwebsockets for it.
///
/// Sendable because one thread at a time uses it: the owner hands it over under a lock, and the former owner keeps no
/// reference.
final class ByteStream: @unchecked Sendable {
    /// The progress of a read or write.
    enum Progress {
        /// The number of bytes that were moved; 0 at the end of the input.
        case bytes(Int)
        /// Nothing can be moved before the descriptor is ready for these events.
        case wait(Int32)
    }

    private let descriptor: Int32
    /// Ends the waits.
    var waker: Waker
    private var tls: OpaquePointer?

    /// Connects, and performs the handshake of TLS.
    ///
    /// - Throws: a failure if no address of the host accepts the connection before the deadline, if the certificate is
    ///   not valid for the host, or if `waker` woke.
    init(
        to server: ServerAddress, trusting certificates: TrustedCertificates?, waker: Waker,
        deadline: ContinuousClock.Instant
    ) throws(TransportFailure) {
        self.waker = waker
        descriptor = try Self.connect(to: server, waker: waker, deadline: deadline)
        guard let certificates else { return }
        tls = SSL_new(certificates.context)
        guard tls != nil else { throw TransportFailure(.unreachable, "OpenSSL has no memory.") }
        SSL_set_fd(tls, descriptor)
        // If the host is an address, it is compared with the addresses in the certificate, and is not sent as a server
        // name (RFC 6066, section 3).
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), server.host) != 1 {
            SSL_set1_host(tls, server.host)
            var name = Array(server.host.utf8CString)
            SSL_ctrl(tls, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name), &name)
        }
        while true {
            ERR_clear_error()
            let result = SSL_connect(tls)
            if result == 1 { break }
            guard let events = wantedEvents(result) else {
                let fault = SSL_get_verify_result(tls)
                let reason =
                    fault == Int(X509_V_OK)
                    ? ERR_reason_error_string(ERR_peek_error()).map { String(cString: $0) } ?? "it was cut"
                    : "the certificate is not trusted: " + String(cString: X509_verify_cert_error_string(fault))
                throw TransportFailure(.unreachable, "TLS with \(server.authority) failed: \(reason).")
            }
            try wait(for: events, until: deadline)
        }
    }

    deinit {
        // No close_notify is sent, because writing it could raise SIGPIPE here. HTTP and WebSocket mark their own ends.
        SSL_free(tls)
        close(descriptor)
    }

    // MARK: Moving bytes

    /// Reads what has arrived.
    func read(into buffer: inout [UInt8]) throws(TransportFailure) -> Progress {
        if let tls {
            ERR_clear_error()
            let result = SSL_read(tls, &buffer, Int32(buffer.count))
            if result > 0 { return .bytes(Int(result)) }
            if let events = wantedEvents(result) { return .wait(events) }
            if SSL_get_error(tls, result) == SSL_ERROR_ZERO_RETURN { return .bytes(0) }
            throw TransportFailure(.unreachable, "The connection was cut.")
        }
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count >= 0 { return .bytes(count) }
        if errno == EAGAIN || errno == EINTR { return .wait(POLLIN) }
        throw Self.failure("The connection was lost")
    }

    /// Writes as many bytes as can be sent now; at least one byte must be given.
    func write(_ bytes: ArraySlice<UInt8>) throws(TransportFailure) -> Progress {
        if let tls {
            ERR_clear_error()
            let result = bytes.withUnsafeBytes { SSL_write(tls, $0.baseAddress, Int32(min($0.count, 1 << 20))) }
            if result > 0 { return .bytes(Int(result)) }
            if let events = wantedEvents(result) { return .wait(events) }
            throw TransportFailure(.unreachable, "The connection was cut.")
        }
        let count = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return .bytes(count) }
        if errno == EAGAIN || errno == EINTR { return .wait(POLLOUT) }
        throw Self.failure("The connection was lost")
    }

    /// Waits until the descriptor is ready, or the waker woke.
    ///
    /// - Throws: a failure if the deadline has passed, or if the waker woke.
    func wait(for events: Int32, until deadline: ContinuousClock.Instant) throws(TransportFailure) {
        try Self.wait(descriptor, for: events, waker: waker, until: deadline)
    }

    /// Waits until the descriptor is ready, the waker woke, or the time is over. Without events it does not wait for
    /// the descriptor.
    func wait(for events: Int32, milliseconds: Int32) {
        var polled = [
            pollfd(fd: events == 0 ? -1 : descriptor, events: Int16(events), revents: 0),
            pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        poll(&polled, 2, milliseconds)
    }

    /// Returns the events that TLS waits for; nil if it has failed or ended.
    private func wantedEvents(_ result: Int32) -> Int32? {
        switch SSL_get_error(tls, result) {
        case SSL_ERROR_WANT_READ: POLLIN
        case SSL_ERROR_WANT_WRITE: POLLOUT
        default: nil
        }
    }

    // MARK: Connecting

    /// Tries each address of the host in the system's order.
    private static func connect(
        to server: ServerAddress, waker: Waker, deadline: ContinuousClock.Instant
    ) throws(TransportFailure) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_ADDRCONFIG
        var found: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(server.host, String(server.port), &hints, &found)
        guard status == 0, let found else {
            let reason = gai_strerror(status).map { String(cString: $0) } ?? "unknown"
            throw TransportFailure(.unreachable, "The name \(server.host) has no address: \(reason).")
        }
        defer { freeaddrinfo(found) }
        var failure = TransportFailure(.unreachable, "The server \(server.authority) cannot be reached.")
        var address: UnsafeMutablePointer<addrinfo>? = found
        while let info = address {
            do throws(TransportFailure) {
                return try connect(to: info.pointee, waker: waker, deadline: deadline)
            } catch {
                if error.kind == .cancelled { throw error }
                failure = TransportFailure(error.kind, "\(server.authority): \(error.detail)")
            }
            address = info.pointee.ai_next
        }
        throw failure
    }

    private static func connect(
        to address: addrinfo, waker: Waker, deadline: ContinuousClock.Instant
    ) throws(TransportFailure) -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(address.ai_family, kind, 0)
        guard descriptor >= 0 else { throw failure("No socket") }
        do throws(TransportFailure) {
            var on: Int32 = 1
            let size = socklen_t(MemoryLayout<Int32>.size)
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, size)
            if Glibc.connect(descriptor, address.ai_addr, address.ai_addrlen) != 0 {
                guard errno == EINPROGRESS else { throw failure("No connection") }
                try wait(descriptor, for: POLLOUT, waker: waker, until: deadline)
                var code: Int32 = 0
                var length = size
                getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
                errno = code
                guard code == 0 else { throw failure("No connection") }
            }
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func wait(
        _ descriptor: Int32, for events: Int32, waker: Waker, until deadline: ContinuousClock.Instant
    ) throws(TransportFailure) {
        while true {
            let left = (deadline - .now).inSeconds * 1000
            guard left > 0 else { throw TransportFailure(.timedOut, "The server did not answer in time.") }
            var polled = [
                pollfd(fd: descriptor, events: Int16(events), revents: 0),
                pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&polled, 2, Int32(min(left.rounded(.up), 1e9))) > 0 else { continue }
            if polled[1].revents != 0 { throw TransportFailure(.cancelled, "The request was cancelled.") }
            return
        }
    }

    private static func failure(_ call: String) -> TransportFailure {
        TransportFailure(.unreachable, "\(call): \(String(cString: strerror(errno))).")
    }
}
#endif
