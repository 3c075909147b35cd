import Chat
import Transport
import Wire

/// Stands between a subscription and what carries it, and lets frames go wrong on their way.
///
/// The subscription takes it for its carrier, and the carrier owns it; so those whose requests ask for nothing go
/// without a step between.
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
        // What was sent arrives, and then the connection ends without a word, whatever the protocol wants to be said.
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
    /// What is to stand before a carrier for this subscription; `nil` when nothing is to go wrong with its frames. The
    /// carrier must keep it for as long as the subscription lasts.
    func carrier(
        of subscription: Subscription, before carrier: any SubscriptionCarrier, on connection: Connection
    ) -> FaultyCarrier? {
        FrameFaults(self, format: subscription.format, epoch: subscription.feed.epoch)
            .map { FaultyCarrier($0, before: carrier, on: connection) }
    }
}
