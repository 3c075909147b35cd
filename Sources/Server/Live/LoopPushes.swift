import Chat
import CoreMetrics
import Transport

/// Brings a loop's feeds to its sockets without a look at what carries the subscriptions.
final class LoopPushes: DirectPushes {
    private unowned let loop: Loop
    private let deliveredBytes: Counter
    /// What has been written since the last count.
    private var bytes = 0

    /// - Parameter deliveredBytes: counts what is written, now and then.
    init(_ loop: Loop, deliveredBytes: Counter) {
        self.loop = loop
        self.deliveredBytes = deliveredBytes
    }

    func push(_ frames: Span<UInt8>, to outlet: PushOutlet) -> Bool {
        guard loop.push(frames, to: Outlet(rawValue: outlet.rawValue)) else { return false }
        bytes += frames.count
        return true
    }

    /// Counts what was written. Not for each write: all loops count in one place.
    func count() {
        guard bytes > 0 else { return }
        deliveredBytes.increment(by: Int64(bytes))
        bytes = 0
    }
}

extension Connection {
    /// Where a feed may write what a subscription of this connection's client is to get.
    var pushOutlet: PushOutlet { PushOutlet(rawValue: outlet.rawValue) }
}
