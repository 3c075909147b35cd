import Chat
import HTTP
import Logging

/// What all loops share.
struct Services: Sendable {
    let configuration: ServerConfiguration
    let log: any MessageLog
    /// The error for which the log cannot commit at the moment; `nil` when it can.
    let logFailure: @Sendable () -> String?
    let interest: Interest
    let origins: OriginPolicy
    /// `nil` without limits.
    let limiter: Limiter?
    let metrics: ServerMetrics
    let registry: PrometheusRegistry
    let logger: Logger
}
