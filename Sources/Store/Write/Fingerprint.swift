import GRDB
import Signatures
import Wire

/// Tells contents apart without keeping them.
///
/// A send under a client message id that was used before is compared with what was first sent under it. Once that has
/// been edited or deleted it must not be there any more, so what is kept is a hash: HMAC-SHA256 (RFC 2104) under a secret
/// that each database makes for itself. A bare hash of a short text would be found in tables of the hashes of all of them,
/// and equal texts in two databases would show. Whoever has this database and guesses a text can still see whether he is
/// right; only forgetting what was sent would keep that from him.
struct Fingerprinter {
    private let secret: [UInt8]

    /// The fingerprints of a database.
    ///
    /// - Throws: `DatabaseError` `SQLITE_CORRUPT` when its secret is missing.
    init(_ db: Database) throws {
        guard let secret = try String.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'fingerprint_secret'")
        else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the secret of its fingerprints is missing")
        }
        self.secret = Array(secret.utf8)
    }

    /// 32 bytes that are the same for contents that are the same, and for others are not.
    func fingerprint(of content: Content) -> [UInt8] {
        HMACSHA256.code(of: content.canonicalBytes[...], secret: secret)
    }

    /// A random secret: 64 hexadecimal digits, 256 bits.
    static func makeSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<32).map { _ in
            let byte = UInt8.random(in: 0...255, using: &generator)
            return String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
    }
}
