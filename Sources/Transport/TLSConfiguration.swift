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

    /// Checks the files, so that an error is reported before anything depends on them.
    ///
    /// - Throws: ``TransportError`` naming the file and OpenSSL's reason.
    public func validate() throws(TransportError) {
        _ = try Certificate(self)
    }
}
