import CLibwebsockets

/// A certificate with its intermediates and its key, as they were in their files when they were read.
// Sendable because the OpenSSL objects are not changed after `init`, and OpenSSL counts their references atomically.
final class Certificate: @unchecked Sendable {
    /// An OpenSSL context that serves nobody: it holds what was read.
    let context: OpaquePointer

    /// Reads the files, and checks that the key belongs to the certificate.
    ///
    /// - Throws: ``TransportError`` naming the file and OpenSSL's reason.
    init(_ files: TLSConfiguration) throws(TransportError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .unavailable("OpenSSL made no context") }
        self.context = context
        // An encrypted key would have OpenSSL ask for its password on the terminal, and wait.
        SSL_CTX_set_default_passwd_cb(context) { _, _, _, _ in -1 }
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(context, files.certificate) == 1 else {
            throw .badCertificate(files.certificate, reason: Self.lastError)
        }
        guard SSL_CTX_use_PrivateKey_file(context, files.key, SSL_FILETYPE_PEM) == 1,
            SSL_CTX_check_private_key(context) == 1
        else { throw .badCertificate(files.key, reason: Self.lastError) }
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// Has a connection show this certificate, instead of any other that it would have shown.
    ///
    /// - Returns: whether OpenSSL took it.
    func use(in connection: OpaquePointer) -> Bool {
        // An old certificate of another kind of key would stay beside the new one, and be shown to some.
        SSL_certs_clear(connection)
        return SSL_use_cert_and_key(
            connection, SSL_CTX_get0_certificate(context), SSL_CTX_get0_privatekey(context),
            backscroll_ssl_chain(context), 1) == 1
    }

    /// The reason why OpenSSL refused something: the last part of its colon-separated message.
    static var lastError: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            // The buffer is this closure's own, and OpenSSL ends what it writes with a zero.
            ERR_error_string_n(ERR_get_error(), buffer.baseAddress!, buffer.count)
            let message = String(cString: buffer.baseAddress!)
            return message.split(separator: ":").last.map(String.init) ?? message
        }
    }
}
