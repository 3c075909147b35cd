import CoreMetrics

/// ``ServerMetricName/httpRequests``: a counter for each method and each class of status, all made beforehand, so that
/// a request costs no look-up by name and no client can add series.
public struct RequestCounters: Sendable {
    /// The methods that are told from each other.
    public enum Method: Int, CaseIterable, Sendable {
        case get, head, post, put, patch, delete, options, other

        /// The method of this name (RFC 9110, section 9.1: case matters); `other` if it is none that the server has.
        public init(_ name: String) {
            self =
                switch name {
                case "GET": .get
                case "HEAD": .head
                case "POST": .post
                case "PUT": .put
                case "PATCH": .patch
                case "DELETE": .delete
                case "OPTIONS": .options
                default: .other
                }
        }

        /// The value of the label `method`.
        var label: String {
            switch self {
            case .get: "GET"
            case .head: "HEAD"
            case .post: "POST"
            case .put: "PUT"
            case .patch: "PATCH"
            case .delete: "DELETE"
            case .options: "OPTIONS"
            case .other: "other"
            }
        }
    }

    /// The classes of status (RFC 9110, section 15), 1xx to 5xx, of a method are next to each other.
    private let counters: [Counter]
    private static let statusClasses = 5

    init(factory: any MetricsFactory) {
        counters = Method.allCases.flatMap { method in
            (1...Self.statusClasses).map { statusClass in
                Counter(
                    label: ServerMetricName.httpRequests.rawValue,
                    dimensions: [("method", method.label), ("status", "\(statusClass)xx")], factory: factory)
            }
        }
    }

    /// Counts a request that was answered with `status`: 100 to 599, and what is beyond is as the nearest.
    public func count(_ method: Method, status: Int) {
        let statusClass = min(max(status / 100, 1), Self.statusClasses)
        counters[method.rawValue * Self.statusClasses + statusClass - 1].increment()
    }
}
