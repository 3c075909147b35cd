import Signatures
import Wire

/// A JSON Web Key Set (RFC 7517, section 5).
enum KeySet {
    /// Reads the supported keys.
    ///
    /// Other keys are skipped (RFC 7517, section 5): sets may contain keys for other algorithms and for encryption.
    ///
    /// - Throws: 400 `invalid_json` if `json` is not a key set.
    static func keys(in json: [UInt8]) throws(Problem) -> [KeyRing.Key] {
        var keys: [KeyRing.Key]?
        var json = try JSONScanner(json)
        try json.enterObject()
        while let name = try json.nextName() {
            guard json.matches(name, "keys") else {
                try json.skipValue()
                continue
            }
            var usable: [KeyRing.Key] = []
            try json.enterArray()
            while try json.nextElement() {
                if try json.peek() == .object {
                    if let key = try JSONWebKey(&json).key { usable.append(key) }
                } else {
                    try json.skipValue()
                }
            }
            keys = usable
        }
        try json.finish()
        guard let keys else { throw .invalidJSON("The member \"keys\" is missing.") }
        return keys
    }
}

/// A JSON Web Key (RFC 7517, section 4).
private struct JSONWebKey {
    /// The members that are used. All of them are strings.
    private static let known: Set = ["kty", "use", "alg", "kid", "crv", "n", "e", "x", "y"]

    private var members: [String: String] = [:]
    /// True if a used member is not a string.
    private var isMalformed = false

    /// Reads an object with any members.
    init(_ json: inout JSONScanner) throws(Problem) {
        try json.enterObject()
        while let name = try json.nextName() {
            let name = json.string(name)
            if try json.peek() == .string {
                members[name] = json.string(try json.readString())
            } else {
                if Self.known.contains(name) { isMalformed = true }
                try json.skipValue()
            }
        }
    }

    /// The key, if it is a public one that the server can verify signatures with.
    var key: KeyRing.Key? {
        guard !isMalformed, (members["use"] ?? "sig") == "sig", let verifyingKey else { return nil }
        let algorithm = verifyingKey.algorithm.rawValue
        guard (members["alg"] ?? algorithm) == algorithm else { return nil }
        return KeyRing.Key(id: members["kid"], verifyingKey: verifyingKey)
    }

    /// The key made from its numbers (RFC 7518, section 6; RFC 8037, section 2).
    private var verifyingKey: VerifyingKey? {
        switch (members["kty"], members["crv"]) {
        case ("RSA", _):
            guard let n = number("n"), let e = number("e") else { return nil }
            return try? VerifyingKey(rsaModulus: n, exponent: e)
        case ("EC", "P-256"):
            guard let x = number("x"), let y = number("y") else { return nil }
            return try? VerifyingKey(p256X: x, y: y)
        case ("OKP", "Ed25519"):
            guard let x = number("x") else { return nil }
            return try? VerifyingKey(ed25519: x)
        default:
            return nil
        }
    }

    private func number(_ name: String) -> [UInt8]? {
        members[name].flatMap { Base64URL.decode(Array($0.utf8)[...]) }
    }
}
