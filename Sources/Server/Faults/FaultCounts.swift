import Synchronization

/// Counts the requests that ask for a fault on some occasions only, for each method, path and fault, from 1 on, while
/// the server runs.
///
/// Shared by all loops. The lock is held for one lookup.
final class FaultCounts: Sendable {
    /// Maximum number of counters. One more resets all of them.
    static let maximum = 10_000

    private struct Key: Hashable {
        let fault: Fault
        let method: String
        let path: String
    }

    private let counts = Mutex<[Key: Int]>([:])

    /// Counts a request and returns its number.
    func count(_ fault: Fault, _ method: String, _ path: String) -> Int {
        counts.withLock { counts in
            let key = Key(fault: fault, method: method, path: path)
            if counts[key] == nil, counts.count >= Self.maximum { counts = [:] }
            counts[key, default: 0] += 1
            return counts[key]!
        }
    }
}
