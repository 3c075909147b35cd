import CLibwebsockets

/// The client's side of TLS on one connection: plaintext in, records out, and the other way round, without a socket.
///
/// The library's own TLS is for those who connect to us: for sockets that it has not opened itself it knows the server's
/// side only.
final class ClientSession {
    /// Bytes that are decrypted, or taken out, at a time.
    private static let chunk = LibraryContext.recordSize

    /// The reason why the session has ended, if it has failed.
    private(set) var failure: String?

    private let tls: ClientTLS
    // Freed in `deinit`; the BIOs belong to it.
    private let session: OpaquePointer
    private let input: OpaquePointer
    private let output: OpaquePointer
    /// What is to be sent when the handshake has ended.
    private var waiting: [UInt8] = []

    /// A session whose first record is ready; nil when OpenSSL has no memory for it.
    init?(_ tls: ClientTLS) {
        guard let session = SSL_new(tls.context) else { return nil }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else { return nil }
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

    /// Encrypts bytes; before the end of the handshake they wait for it.
    func write(_ bytes: Span<UInt8>) {
        guard failure == nil else { return }
        // The pointer does not leave the call; a memory BIO takes all that it is given.
        bytes.withUnsafeBufferPointer { buffer in
            if isEstablished {
                check(SSL_write(session, buffer.baseAddress, Int32(buffer.count)))
            } else {
                waiting.append(contentsOf: buffer)
            }
        }
    }

    /// Takes records, and calls `body` with what they decrypt to.
    func receive(_ records: Span<UInt8>, _ body: (Span<UInt8>) -> Void) {
        // As above.
        records.withUnsafeBufferPointer { _ = BIO_write(input, $0.baseAddress, Int32($0.count)) }
        advance()
        guard isEstablished else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.chunk) { buffer in
            while failure == nil {
                ERR_clear_error()
                let count = SSL_read(session, buffer.baseAddress, Int32(buffer.count))
                guard count > 0 else { return check(count) }
                // OpenSSL has written the first `count` bytes of the buffer, which outlives the span.
                body(Span(_unsafeStart: UnsafePointer(buffer.baseAddress!), count: Int(count)))
            }
        }
    }

    /// Calls `body` with the records that are to be sent.
    func takeOutput(_ body: (Span<UInt8>) -> Void) {
        guard BIO_ctrl_pending(output) > 0 else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.chunk) { buffer in
            while case let count = BIO_read(output, buffer.baseAddress, Int32(buffer.count)), count > 0 {
                // As above.
                body(Span(_unsafeStart: UnsafePointer(buffer.baseAddress!), count: Int(count)))
            }
        }
    }

    /// Says that nothing more will be sent (RFC 8446, 6.1).
    func sayGoodbye() {
        guard failure == nil, isEstablished else { return }
        ERR_clear_error()
        SSL_shutdown(session)
    }

    /// Goes on with the handshake, as far as what has been received allows.
    private func advance() {
        guard failure == nil, !isEstablished else { return }
        ERR_clear_error()
        check(SSL_do_handshake(session))
        guard failure == nil, isEstablished, !waiting.isEmpty else { return }
        let early = waiting
        waiting = []
        write(early.span)
    }

    /// Notes the failure of a call, if it failed and does not just wait for more.
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
    /// Encrypts and sends.
    func encrypt(_ bytes: Span<UInt8>, by session: ClientSession) {
        session.write(bytes)
        flushSession()
    }

    /// Decrypts what was received, for the handler. What is in it is told though the handler may have paused reading.
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
