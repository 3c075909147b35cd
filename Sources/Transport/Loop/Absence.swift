/// Notices that a loop did not run for a while: its process was stopped, or had no processor.
///
/// Requests that its sockets have received meanwhile are older than the loop can see, and their clients may have given
/// up. The clock may leave out a sleep of the machine, because nothing arrives during one.
///
/// A plain value.
struct Absence {
    /// Time between two notes: 500 ms.
    static let interval = Duration.milliseconds(500)
    /// Time between two notes from which on the loop was away: 1 second.
    static let shortest = Duration.seconds(1)
    /// Time after an absence in which the loop reads what has arrived during it: 5 seconds.
    static let aftermath = Duration.seconds(5)

    private var latest: Duration?
    private var end: Duration?

    /// Notes that the loop runs.
    mutating func note(at now: Duration) {
        if let latest, now - latest >= Self.shortest { end = now + Self.aftermath }
        latest = now
    }

    /// Returns true if bytes that are read now may have arrived long ago.
    mutating func isRecent(at now: Duration) -> Bool {
        if let latest, now - latest >= Self.shortest { note(at: now) }
        return end.map { now < $0 } ?? false
    }
}
