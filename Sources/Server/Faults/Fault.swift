/// One thing that the server is to do wrong, as a request asks for it: `NAME` or `NAME=VALUE`, and behind it `:N` or `/N`
/// for some of the requests only.
struct Fault: Hashable, Sendable {
    /// What can go wrong. The order is that in which clients are told.
    enum Name: String, Sendable, CaseIterable {
        /// The request is refused with this status before anything is done.
        case status
        /// The request waits before anything is done.
        case delay
        /// The answer waits: what was asked for is done, and pushed, before it comes.
        case lateAnswer = "late-answer"
        /// What was asked for is done, and then the connection ends instead of an answer. A send that is repeated is
        /// answered, so that a client which does the right thing gets on.
        case lostAnswer = "lost-answer"
        /// The message that is sent or changed is pushed twice, to all subscribers that keep up.
        case doublePush = "double-push"
        /// Answers and frames name another epoch, and cursors of the true one are unknown.
        case newEpoch = "new-epoch"
        /// The message frame of this number is not sent.
        case dropFrame = "drop-frame"
        /// The message frame of this number is sent twice.
        case doubleFrame = "double-frame"
        /// The connection ends in the middle of the message frame of this number.
        case tornFrame = "torn-frame"
        /// The connection ends after so many replayed messages, without a Close frame.
        case cutReplay = "cut-replay"
        /// The connection ends after so many live messages, without a Close frame.
        case cutLive = "cut-live"
        /// WebSocket messages come in fragments of so many bytes (RFC 6455, section 5.4).
        case fragmentFrames = "fragment-frames"
    }

    /// What is to go wrong.
    let name: Name
    /// When, how long or how much, as the name has it; 0 where there is nothing to say.
    let value: Int
    /// The requests that it is for.
    var occasions = Occasions.all

    /// Requests that ask for a fault, counted for each method and path.
    enum Occasions: Hashable, Sendable {
        /// Every one.
        case all
        /// `:N`: the first N.
        case first(Int)
        /// `/N`: the Nth, the 2Nth and so on.
        case every(Int)

        /// True if the fault is for the request of this number, from 1 on.
        func contains(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .first(let count): number <= count
            case .every(let count): number.isMultiple(of: count)
            }
        }
    }

    /// The longest wait, in milliseconds.
    static let maximumMilliseconds = 60_000
    /// The highest number of a message.
    static let maximumNumber = 1_000_000
    /// The largest fragment, in bytes.
    static let maximumFragmentBytes = 65_536
    /// The statuses that may be asked for: 429 and 503 say when to try again, and 500 says nothing.
    static let statuses = [429, 500, 503]

    /// What may stand behind a name's equals sign.
    struct Argument: Hashable, Sendable {
        /// As clients are told: `MS`.
        let symbol: String
        /// What it must be, for a sentence.
        let meaning: String
        let range: ClosedRange<Int>
        /// What it is when it is left out.
        let usual: Int
        /// The only values, if not all of the range are.
        var choice: [Int]?

        func allows(_ value: Int) -> Bool {
            choice?.contains(value) ?? range.contains(value)
        }
    }
}

extension Fault.Name {
    /// What may stand behind the name; `nil` when nothing may.
    var argument: Fault.Argument? {
        switch self {
        case .status:
            Fault.Argument(
                symbol: "429|500|503", meaning: "one of the statuses", range: 429...503, usual: 503,
                choice: Fault.statuses)
        case .delay, .lateAnswer:
            Fault.Argument(
                symbol: "MS", meaning: "a number of milliseconds", range: 1...Fault.maximumMilliseconds, usual: 1000)
        case .lostAnswer, .doublePush, .newEpoch:
            nil
        case .dropFrame, .doubleFrame, .tornFrame, .cutReplay, .cutLive:
            Fault.Argument(symbol: "N", meaning: "a number of messages", range: 1...Fault.maximumNumber, usual: 1)
        case .fragmentFrames:
            Fault.Argument(
                symbol: "BYTES", meaning: "a number of bytes", range: 1...Fault.maximumFragmentBytes, usual: 16)
        }
    }

    /// True if a request may ask for it more than once.
    var isRepeatable: Bool { self == .dropFrame || self == .doubleFrame }

    /// True if it is about the frames of a subscription.
    var isOfFrames: Bool {
        switch self {
        case .dropFrame, .doubleFrame, .tornFrame, .cutReplay, .cutLive, .fragmentFrames: true
        case .status, .delay, .lateAnswer, .lostAnswer, .doublePush, .newEpoch: false
        }
    }

    /// True if `:N` or `/N` may follow: it is about a request and its answer.
    var isCountable: Bool {
        switch self {
        case .status, .delay, .lateAnswer, .lostAnswer: true
        default: false
        }
    }

    /// All that there are, as clients are told.
    static let synopsis = allCases.map { name in name.rawValue + (name.argument.map { "=" + $0.symbol } ?? "") }
        .joined(separator: ", ")
}
