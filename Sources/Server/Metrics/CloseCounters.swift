import CoreMetrics

/// ``ServerMetricName/webSocketCloses``: one counter for each close code that the server sends or expects, and one for
/// all others, since clients can send thousands of codes (RFC 6455, section 7.4.2).
public struct CloseCounters: Sendable {
    /// The codes with a counter of their own.
    static let codes: [UInt16] = [
        1000, 1001, 1002, 1003, 1005, 1006, 1007, 1008, 1009, 1011, 4400, 4401, 4403, 4404, 4408, 4410, 4429, 4503,
    ]

    /// The counters, in the order of ``codes``.
    private let counters: [Counter]
    private let other: Counter

    init(factory: any MetricsFactory) {
        func counter(_ code: String) -> Counter {
            Counter(label: ServerMetricName.webSocketCloses.rawValue, dimensions: [("code", code)], factory: factory)
        }
        counters = Self.codes.map { counter(String($0)) }
        other = counter("other")
    }

    /// Counts a WebSocket that ended with this code, or with 1006 if it ended without one.
    public func count(_ code: UInt16) {
        if let index = Self.codes.firstIndex(of: code) {
            counters[index].increment()
        } else {
            other.increment()
        }
    }
}
