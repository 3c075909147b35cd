import COpenSSL
import Foundation

/// Keys and signatures for tokens, made with OpenSSL and without the server's code: pairs of keys by the `openssl` program, and
/// HS256, which most tests sign with, in this process.
public struct TestKeys: Sendable {
    /// A secret for HS256.
    public static let secret = "0123456789abcdef0123456789abcdef"

    /// The kinds of key pairs.
    public enum Kind: String, CaseIterable, Sendable {
        case rsa, ec, ed25519

        fileprivate var algorithm: [String] {
            switch self {
            case .rsa: ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"]
            case .ec: ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            case .ed25519: ["ED25519"]
            }
        }
    }

    private let directory: TemporaryDirectory

    /// Creates a directory for keys.
    public init() throws {
        directory = try TemporaryDirectory()
    }

    /// Creates a key pair.
    ///
    /// - Returns: The paths of the private and the public key (PEM).
    public func pair(_ kind: Kind, name: String = "key") throws -> (privateKey: String, publicKey: String) {
        let (secret, open) = (directory.path(of: "\(name).\(kind).pem"), directory.path(of: "\(name).\(kind).pub"))
        try shell("openssl genpkey -quiet -algorithm \(kind.algorithm.joined(separator: " ")) -out \(secret)")
        try shell("openssl pkey -in \(secret) -pubout -out \(open)")
        return (secret, open)
    }

    /// Writes a file beside the keys.
    ///
    /// - Returns: Its path.
    public func write(_ content: String, to file: String) throws -> String {
        try directory.write(content, to: file)
    }

    /// Returns a public key as a JSON Web Key (RFC 7518, section 6; RFC 8037, section 2).
    ///
    /// - Parameter more: Further members, for example `"kid":"a"`.
    public func jwk(_ kind: Kind, publicKey path: String, _ more: String...) throws -> String {
        // The numbers' positions in a SubjectPublicKeyInfo of this kind, from its end.
        func number(_ cut: String) throws -> String {
            try Self.base64URL("openssl pkey -pubin -in \(path) -outform DER | \(cut)")
        }
        let members =
            switch kind {
            case .rsa: [#""kty":"RSA","e":"AQAB","n":"\#(try number("tail -c 261 | head -c 256"))""#]
            case .ec:
                [
                    #""kty":"EC","crv":"P-256","x":"\#(try number("tail -c 64 | head -c 32"))""#,
                    #""y":"\#(try number("tail -c 32"))""#,
                ]
            case .ed25519: [#""kty":"OKP","crv":"Ed25519","x":"\#(try number("tail -c 32"))""#]
            }
        return "{" + (members + more).joined(separator: ",") + "}"
    }

    /// Returns a token with any header and payload, signed with HS256.
    public static func token(
        header: String = #"{"alg":"HS256","typ":"JWT"}"#, payload: String, secret: String = TestKeys.secret
    ) throws -> String {
        let text = signedText(header, payload)
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        guard
            HMAC(EVP_sha256(), secret, Int32(secret.utf8.count), Array(text.utf8), text.utf8.count, &code, &length)
                != nil
        else { throw CommandFailed(description: "OpenSSL makes no HMAC") }
        return text + "." + base64URL(code[..<Int(length)])
    }

    /// Returns a token with this payload, signed with RS256.
    public static func token(payload: String, rsaKey path: String) throws -> String {
        let text = signedText(#"{"alg":"RS256"}"#, payload)
        return try text + "." + base64URL("printf %s '\(text)' | openssl dgst -sha256 -binary -sign \(path)")
    }

    /// Returns a token with this payload, signed with a private key of this kind.
    public func token(payload: String, _ kind: Kind, privateKey path: String) throws -> String {
        switch kind {
        case .rsa:
            return try Self.token(payload: payload, rsaKey: path)
        case .ec:
            // The program writes DER. Its listing of the two integers has them without DER's prefixes.
            let text = Self.signedText(#"{"alg":"ES256"}"#, payload)
            let listing = try run(
                "/bin/sh", "-c",
                "printf %s '\(text)' | openssl dgst -sha256 -sign \(path) | openssl asn1parse -inform DER")
            let digits = listing.split(separator: "\n").filter { $0.contains("INTEGER") }.map { line in
                let digits = line.split(separator: ":").last ?? ""
                return String(repeating: "0", count: 64 - digits.count) + digits
            }.joined()
            let octal = stride(from: 0, to: digits.count, by: 2).map { offset in
                let pair = digits.dropFirst(offset).prefix(2)
                return "\\" + String(UInt8(pair, radix: 16) ?? 0, radix: 8)
            }.joined()
            return try text + "." + Self.base64URL("printf '\(octal)'")
        case .ed25519:
            // This command reads only files, because it needs their size.
            let text = Self.signedText(#"{"alg":"EdDSA"}"#, payload)
            let file = try write(text, to: "signed.txt")
            return try text + "." + Self.base64URL("openssl pkeyutl -sign -rawin -inkey \(path) -in \(file)")
        }
    }

    private static func signedText(_ header: String, _ payload: String) -> String {
        base64URL(header.utf8) + "." + base64URL(payload.utf8)
    }

    private static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Returns the output of a command in base64url.
    public static func base64URL(_ command: String) throws -> String {
        try run("/bin/sh", "-c", "\(command) | openssl base64 -A | tr '+/' '-_' | tr -d '='")
    }

    private func shell(_ command: String) throws {
        try run("/bin/sh", "-c", command)
    }
}
