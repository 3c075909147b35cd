import Chat
import Wire

/// The users whose claimed profiles were compared with the stored ones lately, so that a token costs one read a minute.
///
/// A plain value.
struct ClaimedProfiles {
    /// Time between two comparisons of a user's profile on one loop: a minute.
    static let interval: Int64 = 60
    /// Maximum number of users that are remembered. Beyond it all are forgotten, and compared again.
    static let maximumUsers = 10_000

    /// The times of the comparisons, in seconds since 1970.
    private var compared: [UserID: Int64] = [:]

    /// Returns true if the profile of a user is to be compared now, and remembers that.
    mutating func isDue(_ user: UserID, at seconds: Int64) -> Bool {
        // The clock may have been set back.
        if let last = compared[user], (0..<Self.interval).contains(seconds - last) { return false }
        if compared.count >= Self.maximumUsers { compared = [:] }
        compared[user] = seconds
        return true
    }
}

extension Worker {
    /// Sets the name and the picture that the caller's token claims, where they differ from the stored ones: at most once a
    /// minute, and without delaying the request. If that fails, a later request tries again.
    func applyClaims(of caller: Identity) {
        guard let claimed = caller.claimedProfile, let user = caller.user, claimedProfiles.isDue(user, at: seconds)
        else {
            return
        }
        log.ask(for: user, isAdmin: caller.isAdmin, client: .user(user), { .profiles([user], $0) }) { [log] result in
            guard case .success(let found) = result else { return }
            let stored = found.profiles.first ?? Profile(user: user)
            guard stored.applying(claimed) != stored else { return }
            log.submit(.user(user, .setProfile(claimed)), to: nil, by: user, isAdmin: caller.isAdmin, for: nil) { _ in }
        }
    }
}
