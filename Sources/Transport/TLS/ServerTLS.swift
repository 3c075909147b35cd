import CLibwebsockets

/// The TLS state that all loops of a server share.
struct ServerTLS: Sendable {
    let configuration: TLSConfiguration
    let certificate: Certificate
    /// The initial keys of session tickets (RFC 5077; RFC 8446, section 4.6.1). All loops share them, because a
    /// returning client may reach another loop. See ``LoopGroup/rotateTicketKeys()``.
    private let ticketKeys: [UInt8]

    init(_ configuration: TLSConfiguration) throws(TransportError) {
        self.configuration = configuration
        certificate = try Certificate(configuration)
        guard let keys = Self.makeTicketKeys() else { throw .unavailable("OpenSSL could not generate random bytes") }
        ticketKeys = keys
    }

    /// Returns random keys for session tickets; `nil` if OpenSSL has no randomness, in which case no handshake works
    /// either.
    static func makeTicketKeys() -> [UInt8]? {
        var keys = [UInt8](repeating: 0, count: Int(backscroll_ssl_ticket_keys_size))
        return RAND_bytes(&keys, Int32(keys.count)) == 1 ? keys : nil
    }

    /// The cipher suites of TLS 1.2, in OpenSSL's notation: those with forward secrecy and authenticated encryption. With
    /// others, somebody who obtains the key could decrypt recorded connections. All suites of TLS 1.3 have both.
    private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20"

    /// Sets the OpenSSL options that libwebsockets does not set. `library` must outlive `context`.
    func prepare(_ context: OpaquePointer, for library: LibraryContext) {
        backscroll_ssl_set_min_tls12(context)
        SSL_CTX_set_cipher_list(context, Self.ciphers)
        backscroll_ssl_set_ticket_keys(context, ticketKeys)
        SSL_CTX_set_cert_cb(
            context,
            { connection, library in
                // `library` was passed to OpenSSL below, and outlives the context whose connections call this.
                let library = Unmanaged<LibraryContext>.fromOpaque(library!).takeUnretainedValue()
                return library.certificate?.use(in: connection!) == true ? 1 : 0
            }, Unmanaged.passUnretained(library).toOpaque())
    }
}

/// The files of a server's certificate and key. Connections use TLS 1.2 or 1.3, by OpenSSL.
public struct TLSConfiguration: Sendable {
    /// The path of a PEM file with the certificate, followed by its intermediates.
    public var certificate: String
    /// The path of a PEM file with the unencrypted private key.
    public var key: String

    /// Creates a configuration with these files.
    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }
}

/// A certificate with its intermediates and key, as read from their files.
// Sendable because the OpenSSL objects are not changed after `init`, and OpenSSL counts their references atomically.
final class Certificate: @unchecked Sendable {
    /// An OpenSSL context that only stores the certificate and key.
    let context: OpaquePointer

    /// Reads the files and checks that the key belongs to the certificate.
    ///
    /// - Throws: ``TransportError`` naming the file and OpenSSL's reason.
    init(_ files: TLSConfiguration) throws(TransportError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else {
            throw .unavailable("OpenSSL could not create a context")
        }
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
