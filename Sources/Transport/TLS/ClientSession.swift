import CLibwebsockets

/// The client's side of TLS for one connection. It converts plaintext to records and back, without a socket.
///
/// The library's own TLS only supports the server's side for sockets that it has not opened itself.
final class ClientSession {
    /// Number of bytes decrypted or taken out at a time.
    private static let chunk = LibraryContext.recordSize

    /// The reason why the session failed; `nil` while it has not.
    private(set) var failure: String?

    private let tls: ClientTLS
    // Freed in `deinit`; the BIOs belong to it.
    private let session: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    /// Plaintext to send after the handshake.
    private var waiting: [UInt8] = []

    /// Creates a session whose first record is ready.
    ///
    /// - Throws: ``TransportError`` if OpenSSL is out of memory.
    init(_ tls: ClientTLS) throws(TransportError) {
        guard let session = SSL_new(tls.context), let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem())
        else { throw .unavailable("OpenSSL could not create a connection") }
        self.tls = tls
        self.session = session
        self.input = input
        self.output = output
        SSL_set_bio(session, input, output)
        tls.prepare(session)
        SSL_set_connect_state(session)
        advance()
    }

    deinit {
        SSL_free(session)
    }

    private var isEstablished: Bool { SSL_is_init_finished(session) == 1 }

    /// Encrypts bytes. Before the end of the handshake they are queued.
    func write(_ bytes: Span<UInt8>) {
        guard failure == nil else { return }
        // The pointer does not leave the call. A memory BIO accepts any number of bytes.
        bytes.withUnsafeBufferPointer { buffer in
            if isEstablished {
                check(SSL_write(session, buffer.baseAddress, Int32(buffer.count)))
            } else {
                waiting.append(contentsOf: buffer)
            }
        }
    }

    /// Decrypts records and calls `body` with their plaintext.
    func receive(_ records: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        // The pointer does not leave the call. A memory BIO accepts any number of bytes.
        records.withUnsafeBufferPointer { _ = BIO_write(input, $0.baseAddress, Int32($0.count)) }
        advance()
        guard isEstablished else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.chunk) { buffer in
            while failure == nil {
                ERR_clear_error()
                let count = SSL_read(session, buffer.baseAddress, Int32(buffer.count))
                guard count > 0 else { return check(count) }
                // OpenSSL has initialized the first `count` bytes of the buffer, which outlives the span.
                body(Span(_unsafeStart: UnsafePointer(buffer.baseAddress!), count: Int(count)))
            }
        }
    }

    /// Calls `body` with the records to send.
    func takeOutput(_ body: (Span<UInt8>) -> Void) {
        guard BIO_ctrl_pending(output) > 0 else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.chunk) { buffer in
            while case let count = BIO_read(output, buffer.baseAddress, Int32(buffer.count)), count > 0 {
                // OpenSSL has initialized the first `count` bytes of the buffer, which outlives the span.
                body(Span(_unsafeStart: UnsafePointer(buffer.baseAddress!), count: Int(count)))
            }
        }
    }

    /// Sends a close_notify: nothing more will be sent (RFC 8446, 6.1).
    func sayGoodbye() {
        guard failure == nil, isEstablished else { return }
        ERR_clear_error()
        SSL_shutdown(session)
    }

    /// Continues the handshake as far as the received records allow.
    private func advance() {
        guard failure == nil, !isEstablished else { return }
        ERR_clear_error()
        check(SSL_do_handshake(session))
        guard failure == nil, isEstablished, !waiting.isEmpty else { return }
        let early = waiting
        waiting = []
        write(early.span)
    }

    /// Records the failure of a call, unless it only needs more input.
    private func check(_ result: Int32) {
        guard result <= 0, failure == nil else { return }
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_ZERO_RETURN: failure = "the server ended the TLS connection"
        default:
            let verified = SSL_get_verify_result(session)
            let isDistrusted = verified != Int(X509_V_OK) && SSL_get_verify_mode(session) != SSL_VERIFY_NONE
            failure =
                isDistrusted
                ? "the server's certificate is not trusted: \(String(cString: X509_verify_cert_error_string(verified)))"
                : "TLS failed: \(Certificate.lastError)"
        }
    }
}

extension Connection {
    func encrypt(_ bytes: Span<UInt8>, by session: ClientSession) {
        session.write(bytes)
        flushSession()
    }

    /// Decrypts received bytes for the handler. The plaintext is delivered even if the handler has paused reading.
    func decrypt(_ bytes: Span<UInt8>, by session: ClientSession) {
        session.receive(bytes) { if isOpen { handler?.received($0, on: self) } }
        flushSession()
        if session.failure != nil { abort() }
    }

    /// Sends the records that are ready.
    func flushSession() {
        session?.takeOutput(send)
    }
}
