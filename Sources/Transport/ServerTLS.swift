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
        guard let keys = Self.makeTicketKeys() else { throw .unavailable("OpenSSL has no randomness") }
        ticketKeys = keys
    }

    /// Returns random keys for session tickets; `nil` if OpenSSL has no randomness, in which case no handshake works
    /// either.
    static func makeTicketKeys() -> [UInt8]? {
        var keys = [UInt8](repeating: 0, count: Int(backscroll_ssl_ticket_keys_size))
        return RAND_bytes(&keys, Int32(keys.count)) == 1 ? keys : nil
    }

    /// Sets the OpenSSL options that libwebsockets does not set. `library` must outlive `context`.
    func prepare(_ context: OpaquePointer, for library: LibraryContext) {
        backscroll_ssl_set_min_tls12(context)
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
