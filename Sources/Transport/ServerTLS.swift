import CLibwebsockets

/// What all loops of a server need to serve TLS alike.
struct ServerTLS: Sendable {
    let configuration: TLSConfiguration
    let certificate: Certificate
    /// The keys of session tickets (RFC 5077): a client that comes back may come to another loop than before.
    private let ticketKeys: [UInt8]

    init(_ configuration: TLSConfiguration) throws(TransportError) {
        self.configuration = configuration
        certificate = try Certificate(configuration)
        var keys = [UInt8](repeating: 0, count: Int(backscroll_ssl_ticket_keys_size))
        guard RAND_bytes(&keys, Int32(keys.count)) == 1 else { throw .unavailable("OpenSSL has no randomness") }
        ticketKeys = keys
    }

    /// Sets what we want of OpenSSL beyond what libwebsockets sets. `library` outlives `context`.
    func prepare(_ context: OpaquePointer, for library: LibraryContext) {
        backscroll_ssl_set_min_tls12(context)
        backscroll_ssl_set_ticket_keys(context, ticketKeys)
        SSL_CTX_set_cert_cb(
            context,
            { connection, library in
                // `library` was given to OpenSSL below, and outlives the context whose connections call this.
                let library = Unmanaged<LibraryContext>.fromOpaque(library!).takeUnretainedValue()
                return library.certificate?.use(in: connection!) == true ? 1 : 0
            }, Unmanaged.passUnretained(library).toOpaque())
    }
}
