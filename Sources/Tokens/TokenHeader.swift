import Chat
import Signatures
import Wire

/// The parameters in the header of a token that the server uses (RFC 7515, section 4.1).
struct TokenHeader {
    /// `alg`.
    let algorithm: SignatureAlgorithm
    /// `kid`.
    let keyID: String?

    /// Parses a header.
    ///
    /// - Parameter json: the decoded header.
    /// - Throws: 401 `token_invalid` if it is malformed, if the algorithm is not supported, or if it has a `crit`: the
    ///   server implements no extension (section 4.1.11).
    init(_ json: [UInt8]) throws(Problem) {
        var algorithm: String?
        var keyID: String?
        var isCritical = false
        do throws(Problem) {
            var json = try JSONScanner(json)
            try json.enterObject()
            while let name = try json.nextName() {
                if json.matches(name, "alg") {
                    algorithm = json.string(try json.readString())
                } else if json.matches(name, "kid") {
                    keyID = json.string(try json.readString())
                } else {
                    if json.matches(name, "crit") { isCritical = true }
                    try json.skipValue()
                }
            }
            try json.finish()
        } catch {
            throw .tokenInvalid("The token's header cannot be read.")
        }
        guard !isCritical else {
            throw .tokenInvalid("The token's header has a crit, which this server does not support.")
        }
        guard let known = algorithm.flatMap(SignatureAlgorithm.init(rawValue:)) else {
            throw .tokenInvalid("The token must be signed with HS256, RS256, ES256 or EdDSA.")
        }
        self.algorithm = known
        self.keyID = keyID
    }
}
