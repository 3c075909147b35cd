public import Wire

/// A place in a room, as a client names it in the cursor of a page.
public enum Place: Sendable, Hashable {
    /// A `seq`, not negative. It may be beyond either end of the room.
    case seq(Int64)
    /// Just before the first message created at or after a time.
    case time(Timestamp)
    /// The first message.
    case first
    /// The newest message.
    case last
    /// The caller's read mark.
    case read
    /// The first message of another user after the caller's read mark that is not deleted, or the newest message if
    /// there is none.
    case unread
    /// The first of these messages that mentions the caller or the room, or ``unread`` if there is none.
    case mention

    /// True for a place that depends on the caller. A page requested with one also has the caller's ``ReadState``.
    public var isPersonal: Bool { self == .read || self == .unread || self == .mention }

    /// Parses a place: decimal digits, an RFC 3339 time, `first`, `last`, `read`, `unread` or `mention`.
    ///
    /// A number that is too large for a `seq` is a place beyond the newest message.
    ///
    /// - Parameter field: The name of the parameter, for the error.
    /// - Throws: 400 `invalid_cursor`.
    public init(parsing string: String, field: String) throws(Problem) {
        switch string {
        case "first": self = .first
        case "last": self = .last
        case "read": self = .read
        case "unread": self = .unread
        case "mention": self = .mention
        default:
            if let number = Int64(clampingDigits: string) {
                self = .seq(number)
            } else if let time = Timestamp(rfc3339: Self.withPlus(string), roundsUp: true) {
                self = .time(time)
            } else {
                throw .invalidCursor(
                    field,
                    detail: "A cursor is a seq, an RFC 3339 time, or one of first, last, read, unread and mention.")
            }
        }
    }
}

extension Place {
    /// Returns a time with the plus of its offset, which in a query means a space. People type `+02:00` into URLs.
    private static func withPlus(_ string: String) -> String {
        guard let space = string.lastIndex(of: " "), string.distance(from: space, to: string.endIndex) == 6 else {
            return string
        }
        return string[..<space] + "+" + string[string.index(after: space)...]
    }
}

extension Int64 {
    /// Parses a text of decimal digits only. Numbers above `Int64.max` become `Int64.max`.
    init?(clampingDigits string: some StringProtocol) {
        guard !string.isEmpty else { return nil }
        var value: Int64 = 0
        for byte in string.utf8 {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, carries) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            // Once at the maximum, every further digit overflows again.
            value = overflows || carries ? .max : sum
        }
        self = value
    }
}
