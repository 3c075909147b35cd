/// The time that a connection's handler may take for pieces of input that have arrived together. The rest of them waits
/// for ``Connection/awaitTurn()``.
///
/// Its first piece costs no look at the clock, because in most cases there is no second one. A plain value.
public struct TurnSlice {
    /// Time for the pieces after the first: 1 ms. All connections that wait for a turn share as much in each turn of
    /// their loop.
    public static let length = Duration.milliseconds(1)

    private var end: ContinuousClock.Instant?

    /// Creates a slice that begins with the second piece.
    public init() {}

    /// Returns true if the time is over. Call it before each piece but the first.
    public mutating func isOver(at now: ContinuousClock.Instant) -> Bool {
        guard let end else {
            self.end = now + Self.length
            return false
        }
        return now >= end
    }
}

/// Connections whose input waits for a turn, so that no client keeps a loop from the others.
extension Loop {
    /// Serves connections that have waited longest, for up to ``TurnSlice/length`` all together. The others wait for
    /// the next turn, which begins at once.
    func serveWaiting() {
        guard !awaitingTurn.isEmpty, !isStopping else { return }
        let end = ContinuousClock.now + TurnSlice.length
        repeat { awaitingTurn.removeFirst().takeTurn() } while !awaitingTurn.isEmpty && ContinuousClock.now < end
        if !awaitingTurn.isEmpty { lookAgain() }
    }
}
