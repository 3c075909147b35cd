import COpenSSL

/// A public or private key (`EVP_PKEY`) for RS256, ES256 or EdDSA.
///
/// `@unchecked Sendable`: nothing changes the key after `init`, OpenSSL guards its internal caches with locks, and
/// every signature is made or verified in its own context. Any number of threads may use a key at once
/// (openssl-threads(7)).
///
/// Every function here leaves the thread's OpenSSL error queue empty. TLS runs on the same threads, and
/// `SSL_get_error(3)` would attribute a remaining error to a connection.
final class OpenSSLKey: @unchecked Sendable {
    /// Allowed sizes of RSA keys in bits. Smaller keys can be broken (RFC 7518, section 3.3). A single signature with a
    /// larger key would block a loop for milliseconds.
    static let rsaBits = 2048...8192
    /// Maximum size of an RSA key's public exponent in bits. Usual exponents have 2 or 17 bits. Larger ones only cost
    /// time.
    static let maximumExponentBits = 33

    let algorithm: SignatureAlgorithm
    private let handle: Handle

    /// The owner of an `EVP_PKEY`. It cannot be copied, so the key is freed exactly once.
    private struct Handle: ~Copyable {
        let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) {
            self.pointer = pointer
        }

        deinit {
            EVP_PKEY_free(pointer)
        }
    }

    private init(_ handle: consuming Handle) throws(UnusableKey) {
        algorithm = try Self.checkedAlgorithm(of: handle)
        self.handle = handle
    }

    // MARK: Loading

    convenience init(publicKeyPEM pem: [UInt8]) throws(UnusableKey) {
        try self.init(Self.read(pem) { PEM_read_bio_PUBKEY($0, nil, noPassphrase, nil) })
    }

    /// Reads an unencrypted private key in PEM.
    convenience init(privateKeyPEM pem: [UInt8]) throws(UnusableKey) {
        try self.init(Self.read(pem) { PEM_read_bio_PrivateKey($0, nil, noPassphrase, nil) })
    }

    /// Creates an RSA public key from its modulus and exponent, most significant byte first.
    convenience init(rsaModulus modulus: [UInt8], exponent: [UInt8]) throws(UnusableKey) {
        let (modulus, exponent) = (modulus.drop { $0 == 0 }, exponent.drop { $0 == 0 })
        // OpenSSL accepts numbers of any size, and checking a huge one would take hours.
        guard modulus.count <= Self.rsaBits.upperBound / 8 else { throw .rsaBits(modulus.count * 8) }
        // OpenSSL expects the least significant byte first: the byte order of every Linux platform that Swift supports.
        try self.init(
            Self.make(
                "RSA",
                [
                    Member(name: "n", type: OSSL_PARAM_UNSIGNED_INTEGER, value: modulus.reversed()),
                    Member(name: "e", type: OSSL_PARAM_UNSIGNED_INTEGER, value: exponent.reversed()),
                ]))
    }

    /// Creates a public key from the coordinates of its point on P-256: 32 bytes each, most significant first.
    convenience init(p256X x: [UInt8], y: [UInt8]) throws(UnusableKey) {
        let size = ECDSASignature.scalarSize
        guard x.count == size, y.count == size else { throw .invalid }
        try self.init(
            Self.make(
                "EC",
                [
                    Member(name: "group", type: OSSL_PARAM_UTF8_STRING, value: Array(Self.p256.utf8)),
                    // An uncompressed point (SEC 1, section 2.3.3).
                    Member(name: "pub", type: OSSL_PARAM_OCTET_STRING, value: [0x04] + x + y),
                ]))
    }

    /// Creates an Ed25519 public key from its 32 bytes.
    convenience init(ed25519 bytes: [UInt8]) throws(UnusableKey) {
        try self.init(Self.make("ED25519", [Member(name: "pub", type: OSSL_PARAM_OCTET_STRING, value: bytes)]))
    }

    /// Reads a key with one of OpenSSL's PEM functions.
    private static func read(
        _ pem: [UInt8], by function: (OpaquePointer) -> OpaquePointer?
    ) throws(UnusableKey) -> Handle {
        defer { ERR_clear_error() }
        let key: OpaquePointer? = pem.withUnsafeBytes { bytes in
            // The BIO reads the bytes in place, and is freed before they are.
            guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free_all(bio) }
            return function(bio)
        }
        guard let key else { throw .unreadable }
        return Handle(key)
    }

    /// A parameter of a key, as OpenSSL takes it (OSSL_PARAM(3)).
    private struct Member {
        /// A name from EVP_PKEY-RSA(7), EVP_PKEY-EC(7) or EVP_PKEY-ED25519(7).
        let name: StaticString
        let type: Int32
        let value: [UInt8]
    }

    /// Creates a public key from its parameters.
    private static func make(_ type: String, _ members: [Member]) throws(UnusableKey) -> Handle {
        defer { ERR_clear_error() }
        guard members.allSatisfy({ !$0.value.isEmpty }), let context = EVP_PKEY_CTX_new_from_name(nil, type, nil)
        else { throw .invalid }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        // Each value is followed by a NUL. Without it OpenSSL would read beyond the end of a text.
        var values: [UInt8] = []
        for member in members { values += member.value + [0] }
        let status = values.withUnsafeMutableBytes { values in
            var offset = 0
            var parameters = members.map { member in
                defer { offset += member.value.count + 1 }
                // The name is a literal, which is never freed and ends with a NUL. The value lies within `values`, and
                // OpenSSL copies it before the closure ends.
                return OSSL_PARAM(
                    key: UnsafeRawPointer(member.name.utf8Start).assumingMemoryBound(to: CChar.self),
                    data_type: UInt32(member.type), data: values.baseAddress! + offset,
                    data_size: member.value.count, return_size: 0)
            }
            parameters.append(OSSL_PARAM_construct_end())
            guard EVP_PKEY_fromdata_init(context) == 1 else { return Int32(0) }
            return EVP_PKEY_fromdata(context, &key, backscroll_public_key_members, &parameters)
        }
        guard status == 1, let key else { throw .invalid }
        return Handle(key)
    }

    // MARK: Checking

    /// The name of P-256 in OpenSSL.
    private static let p256 = "prime256v1"

    /// Returns the algorithm that a key is used for.
    ///
    /// - Throws: ``UnusableKey`` if the key is of another kind, too weak or invalid.
    private static func checkedAlgorithm(of handle: borrowing Handle) throws(UnusableKey) -> SignatureAlgorithm {
        defer { ERR_clear_error() }
        let key = handle.pointer
        let algorithm: SignatureAlgorithm
        if EVP_PKEY_is_a(key, "RSA") == 1 {
            let bits = Int(EVP_PKEY_get_bits(key))
            guard rsaBits.contains(bits) else { throw .rsaBits(bits) }
            // With an exponent of 1 every message would be its own signature. An even exponent has no private key.
            var exponent = 0
            guard EVP_PKEY_get_size_t_param(key, "e", &exponent) == 1, exponent % 2 == 1, exponent > 1,
                exponent >> maximumExponentBits == 0
            else { throw .rsaExponent }
            algorithm = .rs256
        } else if EVP_PKEY_is_a(key, "EC") == 1 {
            var name = [CChar](repeating: 0, count: 64)
            guard EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1 else { throw .curve("an unnamed curve") }
            let curve = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard curve == p256 else { throw .curve(curve) }
            algorithm = .es256
        } else if EVP_PKEY_is_a(key, "ED25519") == 1 {
            var bytes = [UInt8](repeating: 0, count: 32)
            var count = bytes.count
            guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == bytes.count else { throw .invalid }
            guard !isOfSmallOrder(bytes) else { throw .forgeable }
            algorithm = .edDSA
        } else {
            throw .kind(EVP_PKEY_get0_type_name(key).map { String(cString: $0) } ?? "unknown")
        }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { throw .invalid }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_public_check(context) == 1 else { throw .invalid }
        return algorithm
    }

    /// Returns true for the points of Ed25519 whose order divides 8. Anybody can forge signatures for such keys, and
    /// OpenSSL accepts them (RFC 8032, section 5.1; "Taming the many EdDSAs", section 2).
    private static func isOfSmallOrder(_ bytes: [UInt8]) -> Bool {
        var y = bytes
        // The highest bit is the sign of x. Each of these points occurs with both signs.
        y[31] &= 0x7F
        return smallOrder.contains(y)
    }

    /// The y coordinates of the points of small order, least significant byte first: 0 and 1 (also with the prime
    /// added), -1, and the two of order 8.
    private static let smallOrder: [[UInt8]] =
        [0, 1].map { [$0] + [UInt8](repeating: 0, count: 31) }
        + [0xEC, 0xED, 0xEE].map { [$0] + [UInt8](repeating: 0xFF, count: 30) + [0x7F] } + [
            [
                0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
                0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
            ],
            [
                0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
                0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
            ],
        ]

    // MARK: Signing and verifying

    /// The digest to sign; null for Ed25519, which signs the message itself.
    private var digest: OpaquePointer? { algorithm == .edDSA ? nil : EVP_sha256() }

    /// Returns true if `signature` is this key's signature of `message`.
    func verifies(_ signature: [UInt8], of message: ArraySlice<UInt8>) -> Bool {
        guard let signature = algorithm == .es256 ? ECDSASignature.der(fromRaw: signature) : signature else {
            return false
        }
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, digest, nil, handle.pointer) == 1 else { return false }
        // The result is 0 for a wrong signature, and negative for bytes that cannot be a signature.
        return message.withUnsafeBufferPointer { message in
            EVP_DigestVerify(context, signature, signature.count, message.baseAddress, message.count) == 1
        }
    }

    /// Signs `message`.
    ///
    /// - Throws: ``UnusableKey`` if this is a public key.
    func signature(of message: [UInt8]) throws(UnusableKey) -> [UInt8] {
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { throw .invalid }
        defer { EVP_MD_CTX_free(context) }
        var count = 0
        guard EVP_DigestSignInit(context, nil, digest, nil, handle.pointer) == 1,
            EVP_DigestSign(context, nil, &count, message, message.count) == 1
        else { throw .invalid }
        // The first call returned the maximum size; this call returns the actual size.
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else { throw .invalid }
        signature.removeLast(signature.count - count)
        guard let signature = algorithm == .es256 ? ECDSASignature.raw(fromDER: signature) : signature else {
            throw .invalid
        }
        return signature
    }
}

/// Refuses OpenSSL's request for the passphrase of an encrypted key. By default OpenSSL would ask at the terminal.
private func noPassphrase(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int32, _ isWriting: Int32, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    -1
}

extension UnusableKey {
    fileprivate static func rsaBits(_ bits: Int) -> UnusableKey {
        UnusableKey(
            reason: "an RSA key must have \(OpenSSLKey.rsaBits.lowerBound) to \(OpenSSLKey.rsaBits.upperBound) bits, "
                + "and this one has \(bits)")
    }

    fileprivate static let rsaExponent = UnusableKey(
        reason: "the public exponent of an RSA key must be odd, greater than 1 and of at most "
            + "\(OpenSSLKey.maximumExponentBits) bits")

    fileprivate static func curve(_ name: String) -> UnusableKey {
        UnusableKey(reason: "an EC key must be on P-256, and this one is on \(name)")
    }

    fileprivate static func kind(_ name: String) -> UnusableKey {
        UnusableKey(reason: "this is a key of the kind \(name)")
    }
}
