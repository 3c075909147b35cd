import CLibwebsockets

/// A certificate with its intermediates and key, as read from their files.
// Sendable because the OpenSSL objects are not changed after `init`, and OpenSSL counts their references atomically.
final class Certificate: @unchecked Sendable {
    /// An OpenSSL context that only stores the certificate and key.
    let context: OpaquePointer

    /// Reads the files and checks that the key belongs to the certificate.
    ///
    /// - Throws: ``TransportError`` naming the file and OpenSSL's reason.
    init(_ files: TLSConfiguration) throws(TransportError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .unavailable("OpenSSL made no context") }
        self.context = context
        // With an encrypted key OpenSSL would ask for the password on the terminal and block.
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

    /// Makes a connection present this certificate in place of any other.
    ///
    /// - Returns: true if OpenSSL accepted it.
    func use(in connection: OpaquePointer) -> Bool {
        // Otherwise an old certificate with another kind of key would remain, and be presented to some clients.
        SSL_certs_clear(connection)
        return SSL_use_cert_and_key(
            connection, SSL_CTX_get0_certificate(context), SSL_CTX_get0_privatekey(context),
            backscroll_ssl_chain(context), 1) == 1
    }

    /// The reason of OpenSSL's last error: the last part of its colon-separated message.
    static var lastError: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
            // The buffer belongs to this closure, and OpenSSL terminates the text with a NUL.
            ERR_error_string_n(ERR_get_error(), buffer.baseAddress!, buffer.count)
            let message = String(cString: buffer.baseAddress!)
            return message.split(separator: ":").last.map(String.init) ?? message
        }
    }
}
