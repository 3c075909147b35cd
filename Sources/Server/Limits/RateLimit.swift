/// A rate limit: a number of actions in a period, and a burst after a pause.
public struct RateLimit: Sendable, Hashable, CustomStringConvertible {
    /// The period that ``count`` refers to.
    public enum Period: Character, Sendable, CaseIterable {
        case second = "s"
        case minute = "m"
        case hour = "h"

        /// The period in seconds.
        public var seconds: Int {
            switch self {
            case .second: 1
            case .minute: 60
            case .hour: 3600
            }
        }

        /// The period as it follows a number: `50 a second`.
        var name: String {
            switch self {
            case .second: "a second"
            case .minute: "a minute"
            case .hour: "an hour"
            }
        }
    }

    /// The upper bound of ``count`` and ``burst``, which keeps all calculations within 64 bits.
    public static let maximumCount = 1_000_000

    /// The number of actions in a period, 1 to ``maximumCount``.
    public let count: Int
    /// The period.
    public let period: Period
    /// The number of actions at once, 1 to ``maximumCount``.
    public let burst: Int

    /// Creates a limit; `nil` if a number is out of range.
    ///
    /// - Parameter burst: ``count`` by default.
    public init?(_ count: Int, per period: Period, burst: Int? = nil) {
        let burst = burst ?? count
        guard 1...Self.maximumCount ~= count, 1...Self.maximumCount ~= burst else { return nil }
        self.count = count
        self.period = period
        self.burst = burst
    }

    /// Parses `50/s`, or `50/s:200` for a burst of 200. The period is `s`, `m` or `h`.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let rate = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard rate.count == 2, let count = Int(rate[0]), rate[1].count == 1, let letter = rate[1].first,
            let period = Period(rawValue: letter)
        else { return nil }
        guard parts.count == 2 else {
            self.init(count, per: period)
            return
        }
        guard let burst = Int(parts[1]) else { return nil }
        self.init(count, per: period, burst: burst)
    }

    /// The limit in the form that the initializer parses.
    public var description: String {
        "\(count)/\(period.rawValue)" + (burst == count ? "" : ":\(burst)")
    }
}

/// The rate limits of a server; `nil` means unlimited.
///
/// Nothing is limited by default. Only the operator knows which rates are normal for an application, and whether an
/// address is one client or a proxy with all of them behind it. Load tests come from one address, too.
///
/// Each process counts for itself.
public struct RateLimits: Sendable, Equatable {
    /// Sends of a user.
    public var userSends: RateLimit?
    /// Changes by a user: of messages, read marks, rooms, members, bans and users.
    public var userChanges: RateLimit?
    /// Subscriptions started by a user.
    public var userSubscriptions: RateLimit?
    /// Reads by a user: of pages, messages, changes, rooms, members, bans, presence and lists.
    public var userReads: RateLimit?
    /// Searches by a user.
    public var userSearches: RateLimit?
    /// Other users that a user adds to rooms. Each addition also counts as a change. Additions by an admin count only
    /// as changes.
    public var userInvites: RateLimit?
    /// Sends from an address.
    public var addressSends: RateLimit?
    /// Changes from an address.
    public var addressChanges: RateLimit?
    /// Subscriptions started from an address.
    public var addressSubscriptions: RateLimit?
    /// Reads from an address.
    public var addressReads: RateLimit?
    /// Other users added to rooms from an address.
    public var addressInvites: RateLimit?
    /// Connections made from an address.
    public var addressConnections: RateLimit?

    /// No limits.
    public init() {}
}
