import CLibwebsockets

/// The TLS configuration of outgoing connections to one server: TLS 1.2 or 1.3, by OpenSSL.
///
/// Sendable because the OpenSSL context is not changed after `init`, and OpenSSL counts its references atomically.
public final class ClientTLS: @unchecked Sendable {
    /// The authority that must have signed the server's certificate.
    public enum Trust: Equatable, Sendable {
        /// The authorities that the system trusts.
        case system
        /// One of the certificates in this PEM file.
        case file(String)
        /// No verification: any certificate for any name is accepted. The connection is encrypted but not
        /// authenticated.
        case anyone
    }

    let context: OpaquePointer
    private let host: String

    /// - Parameters:
    ///   - host: the name or address that the server's certificate must be for; also sent as the server name.
    ///   - trust: the authority that must have signed it.
    /// - Throws: ``TransportError`` naming the file and OpenSSL's reason.
    public init(host: String, trust: Trust) throws(TransportError) {
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw .unavailable("OpenSSL could not create a context")
        }
        self.context = context
        self.host = host
        backscroll_ssl_set_min_tls12(context)
        SSL_CTX_ctrl(context, SSL_CTRL_MODE, Int(backscroll_ssl_release_buffers), nil)
        // Only HTTP/1.1, preceded by its length (RFC 7301, 3.1).
        let protocols = [8] + Array("http/1.1".utf8)
        SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count))
        ERR_clear_error()
        switch trust {
        case .system: SSL_CTX_set_default_verify_paths(context)
        case .file(let path):
            guard SSL_CTX_load_verify_file(context, path) == 1 else {
                throw .badCertificate(path, reason: Certificate.lastError)
            }
        case .anyone: break
        }
        SSL_CTX_set_verify(context, trust == .anyone ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// Makes a connection send the host name, and verify that the certificate is for it.
    func prepare(_ connection: OpaquePointer) {
        let parameters = SSL_get0_param(connection)
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1 { return }
        // This extension does not allow addresses (RFC 6066, 3).
        backscroll_ssl_set_host_name(connection, host)
        SSL_set1_host(connection, host)
    }
}
