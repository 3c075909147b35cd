import Chat
import Wire

/// The tokens that have been found good of late, so that a signature is checked once and not with every request.
///
/// There are two halves. When the young one is full it becomes the old one, and the old one is forgotten; a token that
/// is found in the old one moves to the young one. So there is a bound, what is in use stays, and nothing costs more
/// than a few look-ups.
struct TokenCache {
    /// The most tokens in a half. With the largest of tokens a loop keeps 16 MiB, with usual ones of 300 bytes 1 MiB.
    static let halfCapacity = 1024

    private var young: [Token: Identity] = [:]
    private var old: [Token: Identity] = [:]

    /// The number of tokens that are kept.
    var count: Int { young.count + old.count }

    /// Whom a token names, if it is known; `nil` also when its time is over, or only the leeway is left.
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

    /// Keeps a token that has been found good.
    mutating func insert(_ token: Token, _ identity: Identity) {
        if young.count >= Self.halfCapacity {
            old = young
            young = [:]
        }
        young[token] = identity
    }

    /// A token: the same when it is the same bytes, which `String` alone does not ask.
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
