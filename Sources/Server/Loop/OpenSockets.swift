import Synchronization
import Wire

/// The number of open sockets and event streams of each user, over all loops of the process.
final class OpenSockets: Sendable {
    private let counts = Mutex<[UserID: Int]>([:])

    /// Returns the number of a user.
    func count(of user: UserID) -> Int { counts.withLock { $0[user] ?? 0 } }

    /// Changes the number of a user by one.
    func count(_ user: UserID, by difference: Int) {
        counts.withLock { counts in
            let count = (counts[user] ?? 0) + difference
            counts[user] = count > 0 ? count : nil
        }
    }
}
