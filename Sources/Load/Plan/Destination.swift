import Transport

/// A resolved address that connections are made to.
struct Destination: Sendable {
    let address: PeerAddress
    /// The TLS configuration; nil if the connection is not encrypted.
    let tls: ClientTLS?

    /// Resolves the host and reads the trusted certificates.
    init(_ endpoint: Endpoint, trust: ClientTLS.Trust) throws(TransportError) {
        address = try PeerAddress(host: endpoint.host, port: endpoint.port)
        tls = endpoint.isSecure ? try ClientTLS(host: endpoint.host, trust: trust) : nil
    }
}
