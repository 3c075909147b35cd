/// A fetch, a POST or a connection that is retried until it succeeds, with its wait after a failure.
struct Attempt: Sendable {
    /// A pause before the next attempt.
    struct Wait: Sendable {
        /// The end, in the timeline's milliseconds.
        var until: Double
        /// True if a `retry_after` requested this wait.
        var isAsked: Bool
    }

    enum State {
        case idle, loading, failed
    }

    /// Maximum wait between two attempts without a `retry_after`, in seconds.
    static let maximumBackoffSeconds = 30.0

    /// The request under way. Only fetches use it.
    private(set) var request: Int?
    /// The `seq` that the last request started from. Only the edge after uses it.
    var from: Int64 = 0
    /// True after a failure, until the next attempt begins.
    private(set) var hasFailed = false
    /// The wait before the next attempt.
    var wait: Wait?
    private var failures = 0

    var state: State {
        request != nil ? .loading : hasFailed ? .failed : .idle
    }

    mutating func begin(_ request: Int) {
        self.request = request
        hasFailed = false
        wait = nil
    }

    /// Ends the attempt. The next one starts only on demand.
    mutating func fail() {
        request = nil
        hasFailed = true
    }

    /// Ends the attempt and waits `retryAfter` seconds, or 1, 2, 4 … 30 by the number of failures since the last
    /// success. A failure with a `retryAfter` counts too.
    mutating func failAndWait(now: Double, retryAfter: Double? = nil) {
        fail()
        failures += 1
        var seconds = Self.maximumBackoffSeconds
        if failures <= 5 { seconds = Double(1 << (failures - 1)) }
        wait = Wait(until: now + (retryAfter ?? seconds) * 1000, isAsked: retryAfter != nil)
    }

    mutating func succeed() {
        self = Attempt(from: from)
    }

    private init(from: Int64) {
        self.from = from
    }

    init() {}
}
