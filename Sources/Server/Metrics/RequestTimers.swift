import CoreMetrics
import Wire

/// ``ServerMetricName/requestSeconds``: a timer for each resource, method and class of status that occurs.
///
/// The timers themselves are shared. Each loop has a table of its own, so that counting takes an index and no lock, and a
/// timer appears among the metrics once it is used.
///
/// The clock is not read for each request. A request begins when the loop begins to serve its socket, and the answers of
/// one commit share a reading for each ``LogClient/answersPerReading`` of them, so a time is short by what the loop needs to
/// send that many answers: less than a millisecond.
struct RequestTimers {
    private var timers = [Timer?](
        repeating: nil,
        count: (Resource.all.count + 1) * RequestCounters.Method.allCases.count * RequestCounters.statusClasses)
    private let factory: any MetricsFactory

    init(factory: any MetricsFactory) {
        self.factory = factory
    }

    /// Counts an answered request.
    ///
    /// - Parameters:
    ///   - resource: The resource that was served, or `nil` if there is none or it does not have the method. So clients
    ///     cannot add series.
    ///   - nanoseconds: The time from the request's last byte to its answer.
    mutating func count(
        _ method: RequestCounters.Method, _ resource: Resource?, status: Int, nanoseconds: Int64
    ) {
        let statusClass = RequestCounters.statusClass(status)
        let row = resource.map { $0.index + 1 } ?? 0
        let index =
            (row * RequestCounters.Method.allCases.count + method.rawValue) * RequestCounters.statusClasses
            + statusClass - 1
        let timer: Timer
        if let known = timers[index] {
            timer = known
        } else {
            timer = Timer(
                label: ServerMetricName.requestSeconds.rawValue,
                dimensions: [
                    ("route", resource?.path ?? "other"), ("method", method.label), ("status", "\(statusClass)xx"),
                ], factory: factory)
            timers[index] = timer
        }
        timer.recordNanoseconds(nanoseconds)
    }
}
