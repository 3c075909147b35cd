import Synchronization
public import Wire

/// The rate limit of typing notices. All loops share it, so the bounds hold whatever connections a user has.
///
/// A user's next notice in a room comes after ``interval`` at the earliest. Large rooms get fewer notices: at most
/// ``framesPerRoom`` frames in an interval, so that notices never delay messages.
public final class TypingRate: Sendable {
    /// Default of the minimum time between two notices of one user in a room.
    public static let defaultInterval = Duration.seconds(2)
    /// Maximum number of frames that a room's notices cause in an interval. One notice is always allowed.
    public static let framesPerRoom = 20_000

    private struct Typist: Hashable {
        var user: UserID
        var room: RoomID
    }

    /// The notices admitted in one interval, or in a longer time if nobody typed.
    private struct Stretch {
        var notices: [Typist: ContinuousClock.Instant] = [:]
        var frames: [RoomID: Int] = [:]
    }

    private struct State {
        var start: ContinuousClock.Instant?
        var current = Stretch()
        /// The interval before. Older notices no longer count.
        var previous = Stretch()
    }

    private let interval: Duration
    private let state = Mutex(State())

    /// Creates a limit without past notices.
    public init(interval: Duration = defaultInterval) {
        self.interval = interval
    }

    /// Returns true if a notice that a user is typing may be sent now, and counts it.
    ///
    /// - Parameter audience: The approximate number of frames that the notice causes.
    public func admits(_ user: UserID, in room: RoomID, audience: Int, at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            advance(&state, to: now)
            let typist = Typist(user: user, room: room)
            if let last = state.current.notices[typist] ?? state.previous.notices[typist], now - last < interval {
                return false
            }
            let frames = state.current.frames[room, default: 0]
            guard frames == 0 || frames + audience <= Self.framesPerRoom else { return false }
            state.current.frames[room] = frames + max(1, audience)
            state.current.notices[typist] = now
            return true
        }
    }

    private func advance(_ state: inout State, to now: ContinuousClock.Instant) {
        if let start = state.start, now - start < interval { return }
        let isRecent = state.start.map { now - $0 < interval * 2 } ?? false
        state.previous = isRecent ? state.current : Stretch()
        state.current = Stretch()
        state.start = now
    }
}
