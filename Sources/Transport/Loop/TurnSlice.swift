/// The time that a connection's handler may take for pieces of input that have arrived together. The rest of them waits
/// for ``Connection/awaitTurn()``.
///
/// Its first piece costs no look at the clock, because in most cases there is no second one. A plain value.
public struct TurnSlice {
    /// Time for the pieces after the first: 1 ms. All connections that wait for a turn share as much in each turn of
    /// their loop.
    public static let length = Duration.milliseconds(1)

    private var hasBegun = false
    private var end: ContinuousClock.Instant?

    /// Creates a slice that has not begun.
    public init() {}

    /// Returns true if the time is over. Call it before each piece.
    ///
    /// - Parameters:
    ///   - hasMore: True if there may be a piece at hand.
    ///   - now: Read from the second piece on.
    public mutating func isOver(hasMore: Bool, at now: @autoclosure () -> ContinuousClock.Instant = .now) -> Bool {
        guard hasBegun, hasMore else {
            hasBegun = true
            return false
        }
        let now = now()
        let end = self.end ?? now + Self.length
        self.end = end
        return now >= end
    }
}

/// Waiting for a turn.
extension Connection {
    /// Lets the loop's other connections go first: call it when a ``TurnSlice`` is over. Reading pauses until
    /// ``ConnectionHandler/turnCame(_:)``, so what a client sends ahead waits in its own kernel.
    public func awaitTurn() {
        guard isOpen, !isAwaitingTurn else { return }
        isAwaitingTurn = true
        updateReading()
        loop.awaitingTurn.append(self)
        loop.lookAgain()
    }

    /// Ends the wait of ``awaitTurn()``.
    fileprivate func takeTurn() {
        isAwaitingTurn = false
        guard isOpen else { return }
        handler?.turnCame(self)
        if !isAwaitingTurn { updateReading() }
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
