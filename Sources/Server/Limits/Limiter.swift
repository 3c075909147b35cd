import Chat
import HTTPTypes
import Transport
import Wire

/// Enforces the rate limits of users and addresses. Safe to use from any thread.
final class Limiter: Sendable {
    enum Action: String, Sendable, CaseIterable {
        case sends, changes, subscriptions, reads, searches, invites, connections
    }

    /// The limits of one action.
    private struct Tables: Sendable {
        let users: BucketTable<UserID>?
        let addresses: BucketTable<AddressBlock>?

        init(users: RateLimit?, addresses: RateLimit?) {
            self.users = users.map(BucketTable.init)
            self.addresses = addresses.map(BucketTable.init)
        }
    }

    private let sends: Tables
    private let changes: Tables
    private let subscriptions: Tables
    private let reads: Tables
    private let searches: Tables
    private let invites: Tables
    private let connections: Tables

    /// Creates a limiter; `nil` if there are no limits.
    init?(_ limits: RateLimits) {
        guard limits != RateLimits() else { return nil }
        sends = Tables(users: limits.userSends, addresses: limits.addressSends)
        changes = Tables(users: limits.userChanges, addresses: limits.addressChanges)
        subscriptions = Tables(users: limits.userSubscriptions, addresses: limits.addressSubscriptions)
        reads = Tables(users: limits.userReads, addresses: limits.addressReads)
        searches = Tables(users: limits.userSearches, addresses: nil)
        invites = Tables(users: limits.userInvites, addresses: limits.addressInvites)
        connections = Tables(users: nil, addresses: limits.addressConnections)
    }

    /// A limit that has been reached.
    struct Exceeded: Equatable {
        /// The action and the kind of client: `sends-per-user`.
        let policy: String
        let limit: RateLimit
        /// The number of seconds until the next token, rounded up, at least 1.
        let retryAfter: Int

        fileprivate init(_ action: Action, per whom: String, _ limit: RateLimit, wait: Int64) {
            policy = "\(action.rawValue)-per-\(whom)"
            self.limit = limit
            retryAfter = max(1, Int((wait + 999_999_999) / 1_000_000_000))
        }
    }

    /// Counts an action if it is within all limits. A refused action is not counted.
    ///
    /// - Parameters:
    ///   - user: The user; `nil` without a name.
    ///   - address: The address; `nil` if unknown.
    ///   - now: The time in nanoseconds, on a clock that all loops share.
    func admit(_ action: Action, user: UserID?, address: AddressBlock?, at now: Int64) -> Exceeded? {
        let tables = tables(of: action)
        if let users = tables.users, let user, let wait = users.take(user, at: now) {
            return Exceeded(action, per: "user", users.limit, wait: wait)
        }
        if let addresses = tables.addresses, let address, let wait = addresses.take(address, at: now) {
            if let user { tables.users?.putBack(user) }
            return Exceeded(action, per: "address", addresses.limit, wait: wait)
        }
        return nil
    }

    /// Returns true if anybody's actions of this kind are limited.
    func isLimited(_ action: Action) -> Bool {
        let tables = tables(of: action)
        return tables.users != nil || tables.addresses != nil
    }

    /// Takes back the count of an action that was not done.
    func putBack(_ action: Action, user: UserID?, address: AddressBlock?) {
        let tables = tables(of: action)
        if let user { tables.users?.putBack(user) }
        if let address { tables.addresses?.putBack(address) }
    }

    private func tables(of action: Action) -> Tables {
        switch action {
        case .sends: sends
        case .changes: changes
        case .subscriptions: subscriptions
        case .reads: reads
        case .searches: searches
        case .invites: invites
        case .connections: connections
        }
    }
}

extension Limiter.Exceeded {
    /// 429 `rate_limited`.
    var problem: Problem {
        var problem = Problem.rateLimited(retryAfter: retryAfter)
        let words = policy.split(separator: "-")
        problem.detail =
            "Too many \(words[0]): \(limit.count) \(limit.period.name) is the limit of \(article) \(words[2])."
        problem.limit = limit.count
        return problem
    }

    private var article: String { policy.hasSuffix("address") ? "an" : "a" }

    /// The header fields of the refusal: the policy, and its remaining quota of 0
    /// (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4). The burst is a parameter of our own, which section
    /// 3.1 allows.
    var fields: [HTTPField] {
        [
            HTTPField(
                name: .rateLimitPolicy,
                value: "\"\(policy)\";q=\(limit.count);w=\(limit.period.seconds);backscroll-burst=\(limit.burst)"),
            HTTPField(name: .rateLimit, value: "\"\(policy)\";r=0;t=\(retryAfter)"),
        ]
    }
}

extension HTTPField.Name {
    /// The policy that was exceeded (draft-ietf-httpapi-ratelimit-headers-10, section 3).
    static let rateLimitPolicy = HTTPField.Name("RateLimit-Policy")!
    /// The remaining quota (section 4).
    static let rateLimit = HTTPField.Name("RateLimit")!
}

/// The unit by which addresses are limited: an IPv4 address, or the first 64 bits of an IPv6 address, since every IPv6
/// subscriber has at least that many addresses to choose from (RFC 6177, section 2).
struct AddressBlock: LimitKey {
    private let bits: UInt64
    private let kind: Kind

    private enum Kind {
        case v4, v6
        /// The first 48 bits of IPv6 addresses, as many as providers assign to a site.
        case site
    }

    /// Creates the block that contains an address.
    init(_ address: IPAddress) {
        self.init(bits: address.network, address.isIPv4 ? .v4 : .v6)
    }

    private init(bits: UInt64, _ kind: Kind) {
        self.bits = bits
        self.kind = kind
    }

    /// The site of an IPv6 block: in a crowded table, somebody with a /48 could otherwise be 65,536 clients.
    var wider: AddressBlock? {
        kind == .v6 ? AddressBlock(bits: bits & ~0xFFFF, .site) : nil
    }

    /// The client of callers without a name whose addresses are in this block.
    var client: QueryClient { .address(bits) }
}
