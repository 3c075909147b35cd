import Wire

@testable import Chat

/// A client that keeps what it is sent, and can be told to stall.
final class Client: SubscriptionCarrier {
    var isCongested = false
    var outlet: UInt64?
    var isGone = false
    var bytes: [UInt8] = []
    var writes = 0
    /// How many of the writes came past ``send(_:)``'s caller, the subscription.
    var directWrites = 0
    var liveRev: Int64?
    var asked: [Int64] = []
    var end: Problem?
    /// Whether the client stalls after each write.
    var stallsAfterWrite = false

    func send(_ frames: Span<UInt8>) {
        frames.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        writes += 1
        if stallsAfterWrite { isCongested = true }
    }

    func sendLive(_ subscription: Subscription) {
        liveRev = subscription.rev
    }

    func replay(_ subscription: Subscription, since rev: Int64) {
        asked.append(rev)
    }

    func ended(_ subscription: Subscription, because problem: Problem) {
        end = problem
    }
}
