public import Wire

/// What carries a subscription's bytes to its client: a WebSocket or an event stream.
public protocol SubscriptionCarrier: AnyObject {
    /// Where a feed may write by itself what it would give to ``send(_:)`` when the carrier is not congested; `nil` when all
    /// has to come by.
    var outlet: PushOutlet? { get }
    /// True if what was sent before is still on its way, so that nothing more should be sent.
    var isCongested: Bool { get }
    /// Sends ready frames. They are gone after the call.
    func send(_ frames: Span<UInt8>)
    /// Sends the notice that the subscription has caught up: `{"type":"live","room","rev"}`.
    func sendLive(_ subscription: Subscription)
    /// Asks the log for what changed after `rev`; the answer comes to ``Subscription/replayed(_:)``.
    func replay(_ subscription: Subscription, since rev: Int64)
    /// The subscription was cancelled for this reason, which its client is to be told.
    func ended(_ subscription: Subscription, because problem: Problem)
}

extension SubscriptionCarrier {
    /// None: all comes by.
    public var outlet: PushOutlet? { nil }
}
