/// How often something may be done: so many times in a period, and so many at once after a pause.
public struct RateLimit: Sendable, Hashable, CustomStringConvertible {
    /// The time that ``count`` is for.
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

    /// The most that ``count`` and ``burst`` can be, so that all there is to reckon fits 64 bits.
    public static let maximumCount = 1_000_000

    /// The number of times in a period, 1 to ``maximumCount``.
    public let count: Int
    /// The period.
    public let period: Period
    /// How many times at once, 1 to ``maximumCount``.
    public let burst: Int

    /// A limit; `nil` if a number is out of its range.
    ///
    /// - Parameter burst: ``count`` if absent.
    public init?(_ count: Int, per period: Period, burst: Int? = nil) {
        let burst = burst ?? count
        guard 1...Self.maximumCount ~= count, 1...Self.maximumCount ~= burst else { return nil }
        self.count = count
        self.period = period
        self.burst = burst
    }

    /// Reads `50/s`, or `50/s:200` for 200 at once. The period is `s`, `m` or `h`.
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

    /// The limit as it is read.
    public var description: String {
        "\(count)/\(period.rawValue)" + (burst == count ? "" : ":\(burst)")
    }
}

/// What a server limits; `nil` for what it does not.
///
/// Nothing, by default. Only the operator knows what is much for an application, and whether an address is one client
/// or a proxy with all of them behind it; and whoever tries out how fast the server is does so from one address.
///
/// Each process counts for itself.
public struct RateLimits: Sendable, Equatable {
    /// Sends of a user.
    public var userSends: RateLimit?
    /// Changes by a user: of messages, read marks, rooms and members.
    public var userChanges: RateLimit?
    /// Subscriptions that a user begins.
    public var userSubscriptions: RateLimit?
    /// Reads by a user: of pages, messages, changes, rooms, members and lists of rooms.
    public var userReads: RateLimit?
    /// Other users that a user adds to rooms. Each is a change, too. Admins are not limited.
    public var userInvites: RateLimit?
    /// Sends from an address.
    public var addressSends: RateLimit?
    /// The same from an address.
    public var addressChanges: RateLimit?
    /// Subscriptions that are begun from an address.
    public var addressSubscriptions: RateLimit?
    /// Reads from an address.
    public var addressReads: RateLimit?
    /// Other users that are added to rooms from an address.
    public var addressInvites: RateLimit?
    /// Connections that are made from an address.
    public var addressConnections: RateLimit?

    /// No limits.
    public init() {}
}
