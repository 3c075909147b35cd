/// Where the bytes of a subscription go when nothing stands between it and its client's socket.
///
/// A name that ``DirectPushes`` gives and understands. It may be used for as long as its subscription lasts.
public struct PushOutlet: Hashable, Sendable {
    /// The name.
    public let rawValue: UInt64

    /// An outlet of this name.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// A loop's sockets, to which a feed writes without a look at what carries its subscriptions.
public protocol DirectPushes: AnyObject {
    /// Writes ready frames if the client takes bytes now: what does not fit at once is kept and follows.
    ///
    /// - Returns: whether it does. If not, nothing was written, and who carries the subscription knows what to do.
    func push(_ frames: Span<UInt8>, to outlet: PushOutlet) -> Bool
}
