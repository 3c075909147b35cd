import Signatures
import Wire

/// What the header of a token says (RFC 7515, section 4.1), as far as it matters here.
struct TokenHeader {
    /// `alg`.
    let algorithm: SignatureAlgorithm
    /// `kid`.
    let keyID: String?

    /// Reads a header.
    ///
    /// - Parameter json: the header, decoded.
    /// - Throws: 401 `token_invalid` if it is none, if the algorithm is not one of the server's, or if it has a `crit`:
    ///   the server knows of no extension that it would have to understand (section 4.1.11).
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
        guard !isCritical else { throw .tokenInvalid("The token's header has a crit, and none is understood.") }
        guard let known = algorithm.flatMap(SignatureAlgorithm.init(rawValue:)) else {
            throw .tokenInvalid("The token must be signed with HS256, RS256, ES256 or EdDSA.")
        }
        self.algorithm = known
        self.keyID = keyID
    }
}
