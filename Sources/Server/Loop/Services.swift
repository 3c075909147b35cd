import Chat
import HTTP
import Logging
import Transport
import Wire

/// What all loops share.
struct Services: Sendable {
    let configuration: ServerConfiguration
    let log: any MessageLog
    /// The reason why the log cannot commit at the moment, without what only the operator is to know; `nil` when it
    /// can.
    let logProblem: @Sendable () -> Problem?
    let subscribedLoops: SubscribedLoops
    /// Brings to all loops what one of them has to say.
    let dispatcher: LoopDispatcher
    /// `nil` unless requests may ask for faults.
    let doublePush: DoublePush?
    /// Numbers requests that ask for faults; `nil` unless they may.
    let faultCounts: FaultCounts?
    let typing: TypingRate
    /// `nil` when nobody is counted.
    let presence: Presence?
    /// `nil` when nobody is told of read marks.
    let readNotices: ReadNotices?
    /// The number of open sockets of each user.
    let openSockets = OpenSockets()
    let origins: OriginPolicy
    /// The hosts that requests may be sent to; `nil` if they do not matter.
    let hosts: HostPolicy?
    /// The bytes of requests that are arriving or wait for a commit.
    let pending: ByteBudget
    /// `nil` when no proxy is trusted.
    let proxies: TrustedProxies?
    /// `nil` without limits.
    let limiter: Limiter?
    let metrics: ServerMetrics
    let registry: PrometheusRegistry
    let logger: Logger
    /// `nil` when requests are not logged.
    let requestLog: RequestLog?
}
