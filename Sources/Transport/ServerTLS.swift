import CLibwebsockets

/// What all loops of a server need to serve TLS alike.
struct ServerTLS: Sendable {
    let configuration: TLSConfiguration
    let certificate: Certificate
    /// The keys of session tickets at the start (RFC 5077; RFC 8446, section 4.6.1). All loops have the same ones, because a
    /// client that comes back may come to another loop than before. See ``LoopGroup/rotateTicketKeys()``.
    private let ticketKeys: [UInt8]

    init(_ configuration: TLSConfiguration) throws(TransportError) {
        self.configuration = configuration
        certificate = try Certificate(configuration)
        guard let keys = Self.makeTicketKeys() else { throw .unavailable("OpenSSL has no randomness") }
        ticketKeys = keys
    }

    /// Random keys for session tickets; `nil` when OpenSSL has no randomness, with which it makes no handshakes either.
    static func makeTicketKeys() -> [UInt8]? {
        var keys = [UInt8](repeating: 0, count: Int(backscroll_ssl_ticket_keys_size))
        return RAND_bytes(&keys, Int32(keys.count)) == 1 ? keys : nil
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
