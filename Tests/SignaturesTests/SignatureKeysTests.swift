import COpenSSL
import TestSupport
import Testing

@testable import Signatures

@Suite("A signature key")
struct SignatureKeysTests {
    private func pem(_ path: String) throws -> [UInt8] {
        Array(try run("cat", path).utf8)
    }

    /// Returns the key pairs of one issuer, one for each algorithm.
    private func keys(_ files: TestKeys) throws -> [(signing: SigningKey, verifying: VerifyingKey)] {
        let secret = Array(TestKeys.secret.utf8)
        return [(SigningKey(secret: secret), VerifyingKey(secret: secret))]
            + (try TestKeys.Kind.allCases.map { kind in
                let pair = try files.pair(kind)
                return (
                    try SigningKey(privateKeyPEM: pem(pair.privateKey)),
                    try VerifyingKey(publicKeyPEM: pem(pair.publicKey))
                )
            })
    }

    @Test(arguments: Vector.all)
    func `verifies the RFCs' examples, and nothing that differs in a bit`(vector: Vector) throws {
        let key = try vector.key()
        #expect(key.algorithm == vector.algorithm)
        let text = Array(vector.text.utf8)
        let signature = vector.signature
        #expect(key.verifies(signature, of: text[...]))
        for index in signature.indices {
            var wrong = signature
            wrong[index] ^= 1
            #expect(!key.verifies(wrong, of: text[...]))
        }
        #expect(!key.verifies(signature, of: text.dropLast()))
        #expect(!key.verifies(signature, of: (text + [0])[...]))
        #expect(!key.verifies(signature, of: []))
    }

    @Test(arguments: Vector.all)
    func `rejects signatures that are truncated, too long or empty`(vector: Vector) throws {
        let key = try vector.key()
        let text = Array(vector.text.utf8)[...]
        let signature = vector.signature
        for count in 0..<signature.count { #expect(!key.verifies(Array(signature.prefix(count)), of: text)) }
        for more in [[0], [1], signature, [UInt8](repeating: 0, count: 4096)] {
            #expect(!key.verifies(signature + more, of: text))
            #expect(!key.verifies(more + signature, of: text))
        }
        #expect(!key.verifies([UInt8](repeating: 0, count: signature.count), of: text))
        if let der = ECDSASignature.der(fromRaw: signature) { #expect(!key.verifies(der, of: text)) }
    }

    @Test func `leaves no OpenSSL errors behind, which TLS on the same thread could take for its own`() throws {
        // Clears errors of other tests on this thread. Nothing here suspends, so the thread stays the same.
        ERR_clear_error()
        for vector in Vector.all {
            let key = try vector.key()
            for signature in [[], [0], [UInt8](repeating: 0xFF, count: vector.signature.count)] {
                #expect(!key.verifies(signature, of: Array(vector.text.utf8)[...]))
                #expect(ERR_peek_error() == 0)
            }
        }
        for bytes in [[], Array("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n".utf8)] {
            #expect(throws: UnusableKey.self) { try VerifyingKey(publicKeyPEM: bytes) }
            #expect(throws: UnusableKey.self) { try SigningKey(privateKeyPEM: bytes) }
            #expect(throws: UnusableKey.self) { try VerifyingKey(rsaModulus: bytes, exponent: [3]) }
            #expect(throws: UnusableKey.self) { try VerifyingKey(p256X: bytes, y: bytes) }
            #expect(throws: UnusableKey.self) { try VerifyingKey(ed25519: bytes) }
            #expect(ERR_peek_error() == 0)
        }
    }

    @Test func `verifies signatures of its own pair, and none of another algorithm or pair`() throws {
        let message = Array("a message".utf8)
        let (ours, others) = (try keys(TestKeys()), try keys(TestKeys()))
        #expect(ours.map(\.verifying.algorithm) == [.hs256, .rs256, .es256, .edDSA])
        for (index, key) in ours.enumerated() {
            #expect(key.signing.algorithm == key.verifying.algorithm)
            let signature = try key.signing.signature(of: message)
            for (other, pair) in ours.enumerated() {
                #expect(pair.verifying.verifies(signature, of: message[...]) == (index == other))
            }
            // HS256 pairs share the secret.
            if index > 0 { #expect(!others[index].verifying.verifies(signature, of: message[...])) }
        }
    }

    @Test func `can be used by many threads at once`() async throws {
        let vectors = try Vector.all.map { (try $0.key(), $0.signature, Array($0.text.utf8)) }
        let good = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<50).allSatisfy { _ in vectors.allSatisfy { $0.0.verifies($0.1, of: $0.2[...]) } }
                }
            }
            return await group.allSatisfy { $0 }
        }
        #expect(good)
    }

    @Test(arguments: Unusable.all)
    func `in PEM is refused unless it belongs to one of the algorithms`(case unusable: Unusable) throws {
        let directory = try TemporaryDirectory()
        let (secret, open) = (directory.path(of: "secret.pem"), directory.path(of: "open.pem"))
        try run("/bin/sh", "-c", "openssl genpkey -quiet \(unusable.options) -out \(secret)")
        try run("/bin/sh", "-c", "openssl pkey -in \(secret) -pubout -out \(open)")
        let publicFault = #expect(throws: UnusableKey.self) { try VerifyingKey(publicKeyPEM: pem(open)) }
        #expect(publicFault?.reason.contains(unusable.reason) == true)
        let privateFault = #expect(throws: UnusableKey.self) { try SigningKey(privateKeyPEM: pem(secret)) }
        #expect(privateFault?.reason.contains(unusable.reason) == true)
    }

    @Test func `in encrypted PEM is refused without asking for the passphrase`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "key.pem")
        try run(
            "/bin/sh", "-c",
            "openssl genpkey -quiet -algorithm ED25519 -aes-256-cbc -pass pass:secret -out \(path)")
        #expect(throws: UnusableKey.unreadable) { try SigningKey(privateKeyPEM: pem(path)) }
    }

    @Test func `for RSA is refused with an invalid modulus or exponent`() throws {
        let modulus = Vector.rsaModulus
        func refuses(_ reason: String, _ modulus: [UInt8], _ exponent: [UInt8]) {
            let fault = #expect(throws: UnusableKey.self) { try VerifyingKey(rsaModulus: modulus, exponent: exponent) }
            #expect(fault?.reason.contains(reason) == true)
        }
        _ = try VerifyingKey(rsaModulus: modulus, exponent: [1, 0, 1])
        // RFC 7518, section 6.3.1.1: some implementations put a zero in front.
        _ = try VerifyingKey(rsaModulus: [0] + modulus, exponent: [0, 3])
        for exponent: [UInt8] in [[1], [2], [1, 0, 0], [2, 0, 0, 0, 1], [UInt8](repeating: 1, count: 33)] {
            refuses("exponent", modulus, exponent)
        }
        for empty: [UInt8] in [[], [0], [0, 0]] {
            refuses("not those of a valid key", modulus, empty)
            refuses("not those of a valid key", empty, [1, 0, 1])
        }
        refuses("1024", Array(modulus.prefix(128)), [1, 0, 1])
        refuses("2040", Array(modulus.dropLast()), [1, 0, 1])
        refuses("8192", [UInt8](repeating: 0xFF, count: 1025), [1, 0, 1])
        refuses("8192", [UInt8](repeating: 0xFF, count: 1_000_000), [1, 0, 1])
        // An even modulus, and one with a small factor.
        refuses("valid key", modulus.dropLast() + [modulus[255] ^ 1], [1, 0, 1])
        refuses("valid key", [UInt8](repeating: 0xFF, count: 256), [1, 0, 1])
    }

    @Test func `for ES256 is refused unless its point is on the curve and of full length`() throws {
        let (x, y) = (Vector.p256X, Vector.p256Y)
        _ = try VerifyingKey(p256X: x, y: y)
        let zero = [UInt8](repeating: 0, count: 32)
        for (badX, badY) in [
            (x, x), (y, x), (zero, zero), (x, zero), (x.dropLast() + [x[31] ^ 1], y), ([], []), (x, []),
            (Array(x.dropLast()), y), ([0] + x, y), (x + y, []), ([UInt8](repeating: 0xFF, count: 32), y),
        ] as [([UInt8], [UInt8])] {
            #expect(throws: UnusableKey.self) { try VerifyingKey(p256X: badX, y: badY) }
        }
    }

    @Test func `for EdDSA is refused with another length, or if anybody could forge its signatures`() throws {
        for count in [0, 1, 31, 33, 57, 64] {
            #expect(throws: UnusableKey.self) { try VerifyingKey(ed25519: [UInt8](repeating: 7, count: count)) }
        }
        // The points of order 1, 2, 4 and 8, and their encodings with the prime added to y.
        for point in [
            "01" + String(repeating: "00", count: 31), "ec" + String(repeating: "ff", count: 30) + "7f",
            String(repeating: "00", count: 32), "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "ed" + String(repeating: "ff", count: 30) + "7f", "ee" + String(repeating: "ff", count: 30) + "7f",
        ] {
            let bytes = bytes(hex: point)
            for sign: UInt8 in [0, 0x80] {
                #expect(throws: UnusableKey.forgeable) {
                    try VerifyingKey(ed25519: bytes.dropLast() + [bytes[31] | sign])
                }
            }
        }
    }
}

/// An unusable key, as created by `openssl genpkey`.
struct Unusable: Sendable, CustomTestStringConvertible {
    let options: String
    let reason: String

    var testDescription: String { options }

    static let all = [
        Unusable(options: "-algorithm RSA -pkeyopt rsa_keygen_bits:1024", reason: "1024"),
        Unusable(options: "-algorithm RSA -pkeyopt rsa_keygen_bits:2047", reason: "2047"),
        Unusable(options: "-algorithm RSA -pkeyopt rsa_keygen_pubexp:8589934595", reason: "exponent"),
        Unusable(options: "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048", reason: "RSA-PSS"),
        Unusable(options: "-algorithm EC -pkeyopt ec_paramgen_curve:P-384", reason: "secp384r1"),
        Unusable(options: "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1", reason: "secp256k1"),
        Unusable(options: "-algorithm X25519", reason: "X25519"),
        Unusable(options: "-algorithm ED448", reason: "ED448"),
    ]
}
