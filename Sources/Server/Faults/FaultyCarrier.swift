import Chat
import Transport
import Wire

/// A carrier that wraps another one and injects faults into its frames.
///
/// The subscription treats it as its carrier, and the wrapped carrier owns it. Requests without faults have no wrapper.
final class FaultyCarrier: SubscriptionCarrier {
    private unowned let carrier: any SubscriptionCarrier
    private let connection: Connection
    private var faults: FrameFaults

    fileprivate init(_ faults: FrameFaults, before carrier: any SubscriptionCarrier, on connection: Connection) {
        self.faults = faults
        self.carrier = carrier
        self.connection = connection
    }

    var isCongested: Bool { carrier.isCongested }

    func send(_ frames: Span<UInt8>) {
        var left: [UInt8] = []
        let isEnd = faults.pass(frames, into: &left)
        if !left.isEmpty { carrier.send(left.span) }
        // The frames sent so far still arrive; then the connection ends without a close handshake.
        if isEnd { connection.finish() }
    }

    func sendLive(_ subscription: Subscription) {
        faults.replayEnded()
        carrier.sendLive(subscription)
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        carrier.replay(subscription, since: rev)
    }

    func ended(_ subscription: Subscription, because problem: Problem) {
        carrier.ended(subscription, because: problem)
    }
}

extension FaultPlan {
    /// Returns a carrier that injects this plan's faults into a subscription; `nil` when none of them concerns frames.
    /// The wrapped carrier must keep it for as long as the subscription lasts.
    func carrier(
        of subscription: Subscription, before carrier: any SubscriptionCarrier, on connection: Connection
    ) -> FaultyCarrier? {
        FrameFaults(self, format: subscription.format, epoch: subscription.feed.context.epoch)
            .map { FaultyCarrier($0, before: carrier, on: connection) }
    }
}
