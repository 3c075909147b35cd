/// The time until a failed delivery is attempted again.
public enum RetryDelay {
    /// Longest wait in seconds, with or without `Retry-After`.
    public static let maximumSeconds = 3600

    /// Returns the wait after a number of failures in a row, at least 1: a random share of 1, 2, 4 … seconds (full
    /// jitter), but at least what `Retry-After` asks for.
    ///
    /// - Parameter share: A random number from 0 to 1.
    public static func after(failures: Int, retryAfter: Int? = nil, share: Double) -> Duration {
        // The shift is bounded, since a receiver may fail for days.
        let longest = min(maximumSeconds, 1 << min(max(0, failures - 1), 12))
        let asked = min(maximumSeconds, max(0, retryAfter ?? 0))
        return max(.seconds(asked), .milliseconds(Int((Double(longest) * 1000 * share).rounded())))
    }
}
