extension Timestamp {
    /// Parses a `date-time` of RFC 3339, section 5.6. It accepts any offset, any number of fraction digits, and `t` and
    /// `z`.
    ///
    /// A leap second is accepted where one can occur (23:59:60 UTC at the end of a month). It becomes the midnight
    /// after it, because the system's clock does not represent it.
    ///
    /// - Parameter roundsUp: True to round fractions of a millisecond up, for a bound; false to drop them.
    /// - Returns: `nil` for text outside the grammar and for dates that do not exist.
    public init?(rfc3339: String, roundsUp: Bool = false) {
        var reader = Reader(bytes: Array(rfc3339.utf8))
        guard let year = reader.number(digits: 4), reader.skip("-"),
            let month = reader.number(digits: 2), (1...12).contains(month), reader.skip("-"),
            let day = reader.number(digits: 2), (1...CivilDate.days(inMonth: month, year: year)).contains(day),
            reader.skip("T") || reader.skip("t"),
            let hour = reader.number(digits: 2), hour < 24, reader.skip(":"),
            let minute = reader.number(digits: 2), minute < 60, reader.skip(":"),
            let second = reader.number(digits: 2), second <= 60,
            let fraction = reader.fraction(roundsUp: roundsUp), let offset = reader.offset(), reader.isAtEnd
        else { return nil }
        let days = CivilDate(year: year, month: month, day: day).daysSince1970
        let seconds = Int64(days) * 86_400 + Int64(hour * 3600 + minute * 60 + second) - Int64(offset * 60)
        if second == 60 {
            // The second after a leap second must be the first of a month, in UTC.
            guard seconds % 86_400 == 0, CivilDate(daysSince1970: Int(seconds / 86_400)).day == 1 else { return nil }
            self.init(milliseconds: seconds * 1000)
        } else {
            self.init(milliseconds: seconds * 1000 + Int64(fraction))
        }
    }

    private struct Reader {
        let bytes: [UInt8]
        var index = 0

        var isAtEnd: Bool { index == bytes.count }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
            index += 1
            return true
        }

        mutating func digit() -> Int? {
            guard index < bytes.count, bytes[index] >= UInt8(ascii: "0"), bytes[index] <= UInt8(ascii: "9") else {
                return nil
            }
            index += 1
            return Int(bytes[index - 1] - UInt8(ascii: "0"))
        }

        mutating func number(digits: Int) -> Int? {
            var value = 0
            for _ in 0..<digits {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        /// Reads the fraction in milliseconds, 0 to 1000; 0 if there is none.
        mutating func fraction(roundsUp: Bool) -> Int? {
            guard skip(".") else { return 0 }
            guard let first = digit() else { return nil }
            var milliseconds = first * 100
            var weight = 10
            var isFiner = false
            while let digit = digit() {
                milliseconds += digit * weight
                if weight == 0, digit != 0 { isFiner = true }
                weight /= 10
            }
            return isFiner && roundsUp ? milliseconds + 1 : milliseconds
        }

        /// Reads the offset in minutes east of UTC.
        mutating func offset() -> Int? {
            if skip("Z") || skip("z") { return 0 }
            let isEast = skip("+")
            guard isEast || skip("-"), let hours = number(digits: 2), hours < 24, skip(":"),
                let minutes = number(digits: 2), minutes < 60
            else { return nil }
            return isEast ? hours * 60 + minutes : -(hours * 60 + minutes)
        }
    }
}
