import Chat
import HTTP
import Logging
import Store
import Transport
import Wire

/// The services that all loops share.
struct Services: Sendable {
    let configuration: ServerConfiguration
    let log: any MessageLog
    let health: Health
    let live: Live
    let notices: Notices
    let guards: Guards
    let webhooks: WebhookService
    /// `nil` if the app is not asked before messages are stored.
    let beforeSend: BeforeSend?
    let metrics: ServerMetrics
    let exposition: SharedExposition
    let logger: Logger
    /// `nil` if requests are not logged.
    let requestLog: RequestLog?

    /// The state of the log, for health checks.
    struct Health: Sendable {
        /// Returns the problem while the log cannot commit or is cut off from other nodes; `nil` otherwise. It has no
        /// details that only the operator should see.
        let problem: @Sendable () -> Problem?
        /// Returns the number of rooms that are read-only because their part of the database is damaged.
        let damagedRooms: @Sendable () -> Int
    }

    /// The ways from one loop to others.
    struct Live: Sendable {
        let subscribedLoops: SubscribedLoops
        /// Sends events of one loop or of the log to all loops.
        let dispatcher: LoopDispatcher
        /// The number of open sockets of each user.
        let openSockets = OpenSockets()
    }

    /// The notices to subscribers, beside messages.
    struct Notices: Sendable {
        let typing: TypingRate
        /// `nil` if presence is off.
        let presence: Presence?
        /// `nil` if read notices are off.
        let readNotices: ReadNotices?
        /// Exchanges notices with other nodes; `nil` if there are none.
        let nodes: NodeExchange?
    }

    /// The checks of requests before those of their routes.
    struct Guards: Sendable {
        let origins: OriginPolicy
        /// The host names that requests may use; `nil` to accept any.
        let hosts: HostPolicy?
        /// The bytes of request bodies that are arriving or waiting for a commit.
        let pending: ByteBudget
        /// `nil` if no proxy is trusted.
        let proxies: TrustedProxies?
        /// `nil` without limits.
        let limiter: Limiter?
    }
}
