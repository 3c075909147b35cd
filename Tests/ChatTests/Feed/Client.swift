import Wire

@testable import Chat

/// A client that records what it receives, and can be told to stall.
final class Client: SubscriptionCarrier {
    var isCongested = false
    var outlet: UInt64?
    var isGone = false
    var bytes: [UInt8] = []
    var writes = 0
    /// The number of writes that bypassed ``send(_:)``.
    var directWrites = 0
    var liveRev: Int64?
    var asked: [Int64] = []
    var end: Problem?
    /// True if the client stalls after each write.
    var stallsAfterWrite = false
    /// Called after each write.
    var onWrite: () -> Void = {}

    func send(_ frames: Span<UInt8>) {
        frames.withUnsafeBufferPointer { bytes.append(contentsOf: $0) }
        writes += 1
        if stallsAfterWrite { isCongested = true }
        onWrite()
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
