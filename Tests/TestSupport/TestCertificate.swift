/// A self-signed certificate made by the `openssl` command, in files that are removed with the value.
public final class TestCertificate: Sendable {
    /// The kind of its key.
    public enum Key: Sendable {
        /// ECDSA with P-256.
        case ec
        /// RSA with 2048 bits.
        case rsa
    }

    private let directory: TemporaryDirectory

    /// The path of the certificate (PEM).
    public var certificatePath: String { directory.path(of: "certificate.pem") }
    /// The path of its key (PEM).
    public var keyPath: String { directory.path(of: "key.pem") }

    /// Creates a certificate for `name`.
    public init(name: String = "localhost", key: Key = .ec) throws {
        directory = try TemporaryDirectory()
        try replace(name: name, key: key)
    }

    /// Creates another certificate in the same files.
    public func replace(name: String, key: Key = .ec) throws {
        let algorithm = key == .ec ? "ec" : "rsa"
        let option = key == .ec ? "ec_paramgen_curve:prime256v1" : "rsa_keygen_bits:2048"
        try run(
            "openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-newkey", algorithm,
            "-pkeyopt", option, "-keyout", keyPath, "-out", certificatePath)
    }

    /// The text of the key's file.
    public func keyText() throws -> String {
        try run("cat", keyPath)
    }

    /// Overwrites the files with other text.
    public func overwrite(certificate: String? = nil, key: String? = nil) throws {
        if let certificate { try directory.write(certificate, to: "certificate.pem") }
        if let key { try directory.write(key, to: "key.pem") }
    }
}
