import CoreMetrics

/// ``ServerMetricName/httpRequests``: a counter for each method and class of status. All are created in advance, so a
/// request needs no lookup by name and clients cannot add series.
public struct RequestCounters: Sendable {
    /// The methods that are counted separately.
    public enum Method: Int, CaseIterable, Sendable {
        case get, head, post, put, patch, delete, options, other

        /// Returns the method of this name (RFC 9110, section 9.1: case matters), or `other`.
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

    /// The counters by method and then by class of status (RFC 9110, section 15), 1xx to 5xx.
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

    /// Counts a request answered with `status`, 100 to 599; values beyond count as the nearest class.
    public func count(_ method: Method, status: Int) {
        let statusClass = min(max(status / 100, 1), Self.statusClasses)
        counters[method.rawValue * Self.statusClasses + statusClass - 1].increment()
    }
}
