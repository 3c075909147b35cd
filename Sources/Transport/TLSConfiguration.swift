/// Where the certificate is with which a server proves who it is. Connections speak TLS 1.2 or 1.3, by OpenSSL.
public struct TLSConfiguration: Sendable {
    /// The path of a PEM file: the certificate, then its intermediates.
    public var certificate: String
    /// The path of a PEM file: the private key, not encrypted.
    public var key: String

    /// The certificate and key in these files.
    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    /// Tries the files, so that what is wrong with them is said before anything depends on them.
    ///
    /// - Throws: ``TransportError`` naming the file and OpenSSL's reason.
    public func validate() throws(TransportError) {
        _ = try Certificate(self)
    }
}
