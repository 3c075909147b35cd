import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Returns the 32 bytes of a message's digest.
    package static func digest(of message: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        // SHA-256 writes 32 bytes, the size of the buffer.
        let result = EVP_Digest(message, message.count, &digest, nil, EVP_sha256(), nil)
        precondition(result == 1, "libcrypto has no SHA-256")
        return digest
    }
}
