import Transport

/// Where connections go, ready to be made.
struct Destination: Sendable {
    let address: PeerAddress
    /// Nil where the connection is not encrypted.
    let tls: ClientTLS?

    /// Looks the host up, and reads the certificates to be trusted.
    init(_ endpoint: Endpoint, trust: ClientTLS.Trust) throws(TransportError) {
        address = try PeerAddress(host: endpoint.host, port: endpoint.port)
        tls = endpoint.isSecure ? try ClientTLS(host: endpoint.host, trust: trust) : nil
    }
}
