/// One fault that a request asks for: `NAME` or `NAME=VALUE`, followed by `:N` or `/N` to limit it to some requests.
struct Fault: Hashable, Sendable {
    /// The faults, in the order in which clients see them listed.
    enum Name: String, Sendable, CaseIterable {
        /// Refuses the request with this status before anything is done.
        case status
        /// Delays the request before anything is done.
        case delay
        /// Delays the answer. The request is carried out, and its changes are pushed, before the answer comes.
        case lateAnswer = "late-answer"
        /// Carries out the request, then closes the connection instead of answering. A repeated send is answered, so
        /// that a client that handles the fault correctly succeeds.
        case lostAnswer = "lost-answer"
        /// Pushes the sent or changed message twice, to all subscribers behind the proxy.
        case doublePush = "double-push"
        /// Uses another epoch in answers and frames; cursors of the true epoch are unknown.
        case newEpoch = "new-epoch"
        /// Leaves out the message frame with this number.
        case dropFrame = "drop-frame"
        /// Sends the message frame with this number twice.
        case doubleFrame = "double-frame"
        /// Ends the connection in the middle of the message frame with this number.
        case tornFrame = "torn-frame"
        /// Ends the connection after this many replayed messages, without a Close frame.
        case cutReplay = "cut-replay"
        /// Ends the connection after this many live messages, without a Close frame.
        case cutLive = "cut-live"
        /// Splits WebSocket messages into fragments of this many bytes (RFC 6455, section 5.4).
        case fragmentFrames = "fragment-frames"
    }

    let name: Name
    /// The value, in the unit of the name; 0 for faults without a value.
    let value: Int
    /// The requests that the fault applies to.
    var occasions = Occasions.all

    /// The occasions on which a fault applies. Requests that ask for it are counted for each method and path.
    enum Occasions: Hashable, Sendable {
        /// Every request.
        case all
        /// `:N`: the first N requests.
        case first(Int)
        /// `/N`: every Nth request.
        case every(Int)

        /// Returns true if the fault applies to the request with this number, counted from 1.
        func contains(_ number: Int) -> Bool {
            switch self {
            case .all: true
            case .first(let count): number <= count
            case .every(let count): number.isMultiple(of: count)
            }
        }
    }

    /// The longest delay, in milliseconds.
    static let maximumMilliseconds = 60_000
    /// The highest number of a message.
    static let maximumNumber = 1_000_000
    /// The largest fragment, in bytes.
    static let maximumFragmentBytes = 65_536
    /// The statuses that can be requested. 429 and 503 carry `Retry-After`, 500 does not.
    static let statuses = [429, 500, 503]

    /// The value that a fault takes.
    struct Argument: Hashable, Sendable {
        /// The symbol of the value in the list of faults: `MS`.
        let symbol: String
        /// The value's description in error messages.
        let meaning: String
        let range: ClosedRange<Int>
        /// The default.
        let usual: Int
        /// The allowed values, if not all of the range.
        var choice: [Int]?

        func allows(_ value: Int) -> Bool {
            choice?.contains(value) ?? range.contains(value)
        }
    }
}

extension Fault.Name {
    /// The value that the fault takes; `nil` if it takes none.
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

    /// True if a request may ask for the fault more than once.
    var isRepeatable: Bool { self == .dropFrame || self == .doubleFrame }

    /// True if `:N` or `/N` may follow, which only faults of requests and answers allow.
    var isCountable: Bool {
        switch self {
        case .status, .delay, .lateAnswer, .lostAnswer: true
        default: false
        }
    }

    /// A list of all faults, for error messages.
    static let synopsis = allCases.map { name in name.rawValue + (name.argument.map { "=" + $0.symbol } ?? "") }
        .joined(separator: ", ")
}
