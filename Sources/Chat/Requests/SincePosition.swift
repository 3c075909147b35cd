public import Wire

/// The position up to which a client knows a room: a revision and, if the client names it, the epoch of the history.
public struct SincePosition: Sendable, Hashable {
    /// The epoch that the client knows: 1 to ``maximumEpochBytes`` letters and digits.
    public var epoch: String?
    /// The revision up to which the client has all changes, not negative.
    public var rev: Int64

    /// Maximum number of bytes of an epoch.
    public static let maximumEpochBytes = 64

    /// Creates the position after `rev` of `epoch`.
    public init(epoch: String? = nil, rev: Int64) {
        self.epoch = epoch
        self.rev = rev
    }

    /// Parses `REV` or `EPOCH:REV`, and the separate `epoch` parameter.
    ///
    /// A number that is too large for a revision becomes the largest revision.
    ///
    /// - Throws: 400 `invalid_cursor`, also if two different epochs are given.
    public init(parsing since: String, epoch: String? = nil) throws(Problem) {
        var rev = Substring(since)
        var prefix: Substring?
        if let colon = since.utf8.firstIndex(of: UInt8(ascii: ":")) {
            prefix = since[..<colon]
            rev = since[since.utf8.index(after: colon)...]
        }
        guard let number = Int64(clampingDigits: rev), prefix.map(Self.isEpoch) ?? true else {
            throw .invalidCursor("since", detail: "since must be a revision, or an epoch, a colon and a revision.")
        }
        if let epoch {
            guard Self.isEpoch(epoch) else {
                throw .invalidCursor("epoch", detail: "An epoch is 1 to \(Self.maximumEpochBytes) letters and digits.")
            }
            guard prefix.map({ $0 == epoch }) ?? true else {
                throw .invalidCursor("epoch", detail: "The epoch differs from the one in since.")
            }
        }
        self.init(epoch: epoch ?? prefix.map(String.init), rev: number)
    }

    /// Returns true if a cursor that names `epoch` can be read in the history with the epoch `current`. One that names none
    /// can be read in every history.
    public static func isOfHistory(_ epoch: String?, current: String) -> Bool { epoch == nil || epoch == current }

    /// Returns the revision in the history with this epoch.
    ///
    /// A position of another history lies beyond every revision. So it is refused like a revision that the room has not
    /// reached, after the log has checked the caller's access.
    public func rev(inHistory current: String) -> Int64 {
        Self.isOfHistory(epoch, current: current) ? rev : .max
    }

    /// Returns the revision of a client that names an epoch, but no revision: `nil` in this history, where nothing can be
    /// misread, and one beyond every revision in another.
    ///
    /// - Throws: 400 `invalid_cursor` for a malformed epoch.
    public static func rev(withoutPosition epoch: String?, inHistory current: String) throws(Problem) -> Int64? {
        guard let epoch, try SincePosition(parsing: "0", epoch: epoch).rev(inHistory: current) != 0 else { return nil }
        return .max
    }

    static func isEpoch(_ string: some StringProtocol) -> Bool {
        let bytes = string.utf8
        return !bytes.isEmpty && bytes.count <= maximumEpochBytes
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: false
                }
            }
    }
}
