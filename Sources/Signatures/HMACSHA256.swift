import COpenSSL

/// HMAC with SHA-256 (RFC 2104, FIPS 180-4).
package enum HMACSHA256 {
    /// Size of a code in bytes.
    package static let size = 32

    /// Returns the 32-byte authentication code of `message` under `secret`.
    package static func code(of message: ArraySlice<UInt8>, secret: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: size)
        let result = message.withUnsafeBufferPointer { message in
            // SHA-256 writes 32 bytes, the size of the buffer.
            HMAC(EVP_sha256(), secret, Int32(secret.count), message.baseAddress, message.count, &code, nil)
        }
        precondition(result != nil, "libcrypto has no SHA-256")
        return code
    }

    /// Returns true if `code` is the code of `message` under `secret`.
    ///
    /// The comparison takes constant time, so a code cannot be guessed byte by byte.
    static func verifies(_ code: [UInt8], of message: ArraySlice<UInt8>, secret: [UInt8]) -> Bool {
        guard code.count == size else { return false }
        return CRYPTO_memcmp(code, Self.code(of: message, secret: secret), size) == 0
    }
}
