/// The outcome of one attempt to deliver.
public enum DeliveryAnswer: Sendable, Hashable {
    /// An answer with this status, and the seconds of its `Retry-After`.
    case status(Int, retryAfter: Int? = nil)
    /// No complete answer: no connection, a refused address, a timeout, or bytes that are not HTTP.
    case none

    /// What the answer says about the delivery.
    enum Meaning: Equatable {
        /// 2xx: the receiver has it.
        case received
        /// 410: the receiver wants no more deliveries.
        case gone
        /// 400, 413, 422: the receiver does not take this body.
        case refused
        /// Anything else, redirects among it: worth another attempt.
        case failed
    }

    var meaning: Meaning {
        switch self {
        case .status(200...299, _): .received
        case .status(410, _): .gone
        case .status(400, _), .status(413, _), .status(422, _): .refused
        case .status, .none: .failed
        }
    }

    var retryAfter: Int? {
        if case .status(_, let seconds) = self { seconds } else { nil }
    }
}
