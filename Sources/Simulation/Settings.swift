/// Wrong behavior of the simulated environment, each of which the oracle must find.
enum Mutation: String, CaseIterable {
    case hintTrusted = "a hint moves the position of a feed without a look"
    case noSweep = "hints are lost, and sweeps find nothing"
    case restForgotten = "a look with more messages is taken for a whole one"
    case cursorOffByOne = "a slice of a replay begins one change late"
    case sliceRepeated = "a slice of a replay begins one change early"
    case sliceUntold = "the start of a subscription does not begin its room's position"
    case answerBeforeCommit = "the database answers before its commit"
    case noUniqueIndex = "a commit whose answer was lost is tried again without a look for its messages"
    case rowNotReadAgain = "a locked row is not read again after the wait for it"
    case noRowLock = "a commit does not lock the rows of its rooms"
    case revocationForgotten = "a removal does not raise the numbers that sends compare"
    case serverBanUnseen = "a batch of sends does not compare the number of revocations"
    case banDuringWait = "a transaction does not look for bans that were set while it waited for a lock"
    case eventsForgotten = "a node does not read the events of access"
    case endForgotten = "a loop does not end the subscriptions of a removed member"
    case frameLost = "a socket loses a frame and stays open"
    case frameRepeated = "a socket sends a frame twice"
    case pageAhead = "a page names a later revision than it contains"
    case timeSetBack = "messages have the time of a clock that is set back"
    case batchLost = "a batch does not reach a loop"
}

/// What a seed decides before the first step.
struct Settings {
    var nodes: Int
    var loops: Int
    var clients: Int
    /// The time in which clients do something and faults happen, in microseconds.
    var time: Int64
    var database = Faults()
    /// The probability that a hint is lost, or arrives twice.
    var lostHints = 0.0
    /// Probabilities of one request, or of one frame of a socket.
    var lostRequests = 0.0
    var lostAnswers = 0.0
    var repeatedRequests = 0.0
    var cutSockets = 0.0
    /// The mean times between two faults, in microseconds; `nil` for none.
    var kills: Int64?
    var stops: Int64?
    var crashes: Int64?
    var clocks: Int64?
    var removals: Int64?
    /// Maximum number of messages of a look, and of bytes of a slice and of a feed.
    var lookMessages: Int
    var sliceBytes: Int
    var feedBytes: Int
    var pageLimit: Int
    var windowLimit: Int?

    struct Faults {
        /// The probabilities that a connection breaks before a statement, and before its answer.
        var lostStatements = 0.0
        var lostAnswers = 0.0
    }

    /// Each seed has its own mix of faults, so that some runs have many of one kind.
    init(_ random: inout Random) {
        nodes = 1 + random.below(3)
        loops = 1 + random.below(2)
        clients = 3 + random.below(3)
        time = .seconds(random.within(4...10))
        func some(_ probability: Double, _ most: Double) -> Double {
            random.chance(probability) ? most * Double(random.below(100) + 1) / 100 : 0
        }
        func every(_ probability: Double, _ range: ClosedRange<Int64>) -> Int64? {
            random.chance(probability) ? .milliseconds(random.within(range)) : nil
        }
        database.lostStatements = some(0.4, 0.03)
        database.lostAnswers = some(0.5, 0.06)
        lostHints = some(0.6, random.chance(0.2) ? 1 : 0.3)
        lostRequests = some(0.4, 0.1)
        lostAnswers = some(0.5, 0.2)
        repeatedRequests = some(0.4, 0.2)
        cutSockets = some(0.5, 0.03)
        kills = every(0.4, 1500...6000)
        stops = every(0.4, 1000...5000)
        crashes = every(0.25, 2000...6000)
        clocks = every(0.4, 500...3000)
        removals = every(0.6, 300...2500)
        lookMessages = 1 + random.below(12)
        sliceBytes = random.chance(0.5) ? 400 + random.below(2000) : 65_536
        feedBytes = random.chance(0.5) ? 300 + random.below(3000) : 32_768
        pageLimit = 2 + random.below(12)
        windowLimit = random.chance(0.3) ? 4 * pageLimit + random.below(20) : nil
    }
}
