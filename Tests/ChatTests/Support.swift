import Synchronization
import Wire

/// Returns the problem that `body` throws; `nil` if it throws none.
func problem<Value>(_ body: () throws(Problem) -> Value) -> Problem? {
    do throws(Problem) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

/// Returns the text that `write` appends.
func written(_ write: (inout [UInt8]) -> Void) -> String {
    var bytes: [UInt8] = []
    write(&bytes)
    return String(decoding: bytes, as: UTF8.self)
}

/// A clock that a test moves.
final class ManualClock: Sendable {
    private let time = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }
}
