import Synchronization

/// Numbers the requests that ask for a fault which is for some of them only: for each method, path and fault from 1 on, as
/// long as the server runs.
///
/// All loops share it; it is locked for as long as a table is looked up.
final class FaultCounts: Sendable {
    /// Methods and paths that are remembered, at most; with one more, counting begins anew for all.
    static let maximum = 10_000

    private struct Key: Hashable {
        let fault: Fault
        let method: String
        let path: String
    }

    private let counts = Mutex<[Key: Int]>([:])

    /// The number of this request.
    func count(_ fault: Fault, _ method: String, _ path: String) -> Int {
        counts.withLock { counts in
            let key = Key(fault: fault, method: method, path: path)
            if counts[key] == nil, counts.count >= Self.maximum { counts = [:] }
            counts[key, default: 0] += 1
            return counts[key]!
        }
    }
}
