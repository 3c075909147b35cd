import Glibc

/// Waits until `condition` holds, at most as long as a recorder would. It looks again and again, with pauses that grow to
/// 10 ms, so that what it waits for has the processor.
public func waitUntil(_ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(Recorder<Never>.patience)
    var pause: Int32 = 1
    while try !condition() {
        guard ContinuousClock.now < end else {
            throw PatienceExhausted(description: "the condition does not hold after \(Recorder<Never>.patience) s")
        }
        poll(nil, 0, pause)
        pause = min(2 * pause, 10)
    }
}
