import Chat
import Wire

/// A cache of recently verified tokens, so that a signature is checked once and not with every request.
///
/// It has two halves. When the young half is full it replaces the old one, whose tokens are evicted. A token found in
/// the old half moves to the young one. The size is therefore bounded, tokens in use stay, and each operation is a few
/// look-ups.
struct TokenCache {
    /// Maximum number of tokens in a half. A loop's cache takes about 1 MiB with usual tokens of 300 bytes, and 16 MiB
    /// with the largest tokens.
    static let halfCapacity = 1024

    private var young: [Token: Identity] = [:]
    private var old: [Token: Identity] = [:]

    var count: Int { young.count + old.count }

    /// Returns the identity of a cached token; `nil` if the token is not cached or its identity has ended. If the token
    /// is verified again within the leeway, it gets an identity with a later end.
    mutating func identity(of token: Token, at now: Timestamp) -> Identity? {
        guard let identity = young[token] ?? recall(token) else { return nil }
        if let end = identity.end, now >= end {
            young[token] = nil
            return nil
        }
        return identity
    }

    /// Finds a token in the old half and moves it to the young one.
    private mutating func recall(_ token: Token) -> Identity? {
        guard let identity = old.removeValue(forKey: token) else { return nil }
        insert(token, identity)
        return identity
    }

    /// Adds a verified token.
    mutating func insert(_ token: Token, _ identity: Identity) {
        if young.count >= Self.halfCapacity {
            old = young
            young = [:]
        }
        young[token] = identity
    }

    /// A token, compared by its bytes. `String` would also equate canonically equivalent texts.
    struct Token: Hashable {
        let bytes: [UInt8]

        init(_ text: String) {
            bytes = Array(text.utf8)
        }

        func hash(into hasher: inout Hasher) {
            bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        }
    }
}
