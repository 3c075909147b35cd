import Glibc
import TestSupport

/// Waits until `condition` holds, at most as long as a recorder would.
func waitUntil(_ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(Recorder<Never>.patience)
    while try !condition() {
        guard ContinuousClock.now < end else { throw Unexpected("what was waited for has not come") }
        sched_yield()
    }
}
