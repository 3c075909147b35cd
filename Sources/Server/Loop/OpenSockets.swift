import Synchronization
import Wire

/// The number of sockets and event streams that each user has open, over all loops of the process.
final class OpenSockets: Sendable {
    private let counts = Mutex<[UserID: Int]>([:])

    /// The number that a user has.
    func count(of user: UserID) -> Int { counts.withLock { $0[user] ?? 0 } }

    /// A user has one more, or one fewer.
    func count(_ user: UserID, by difference: Int) {
        counts.withLock { counts in
            let count = (counts[user] ?? 0) + difference
            counts[user] = count > 0 ? count : nil
        }
    }
}
