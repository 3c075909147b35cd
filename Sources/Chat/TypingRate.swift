import Synchronization
public import Wire

/// How often users are said to be typing: one for all loops, so that the bounds hold however a user is connected.
///
/// A user's next notice in a room comes after ``interval`` at the earliest. And in a room of thousands notices are
/// rare: in an interval they make at most ``framesPerRoom`` frames, so that they never keep messages waiting.
public final class TypingRate: Sendable {
    /// The time that a user's notice in a room keeps further ones back, unless somebody says otherwise.
    public static let defaultInterval = Duration.seconds(2)
    /// The most frames that a room's notices make in an interval; one notice is always allowed.
    public static let framesPerRoom = 20_000

    private struct Typist: Hashable {
        var user: UserID
        var room: RoomID
    }

    /// What was admitted in a stretch of time of one interval, or longer if nobody asked.
    private struct Stretch {
        var notices: [Typist: ContinuousClock.Instant] = [:]
        var frames: [RoomID: Int] = [:]
    }

    private struct State {
        var start: ContinuousClock.Instant?
        var current = Stretch()
        /// The stretch before. What is older holds nobody back, and is forgotten.
        var previous = Stretch()
    }

    private let interval: Duration
    private let state = Mutex(State())

    /// Nobody has typed yet.
    public init(interval: Duration = defaultInterval) {
        self.interval = interval
    }

    /// Returns whether a user may be said to be typing in a room now. If so, it counts as said.
    ///
    /// - Parameter audience: about how many frames it makes.
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
