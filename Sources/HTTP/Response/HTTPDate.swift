/// A point in time as `Sun, 06 Nov 1994 08:49:37 GMT`: `IMF-fixdate` (RFC 9110, section 5.6.7).
enum HTTPDate {
    /// The last second of the year 9999, in seconds since 1970.
    static let latest: Int64 = 253_402_300_799

    private static let days = "ThuFriSatSunMonTueWed"
    private static let months = "JanFebMarAprMayJunJulAugSepOctNovDec"

    /// Appends the 29 bytes of the date of a second since 1970-01-01T00:00:00Z. The range is clamped to 1970 through
    /// 9999.
    static func append(secondsSince1970: Int64, to output: inout [UInt8]) {
        let seconds = Int(min(max(secondsSince1970, 0), latest))
        let (day, time) = seconds.quotientAndRemainder(dividingBy: 86400)
        let date = civilDate(daysSince1970: day)
        output.append(name: day % 7, of: days)
        output.append(text: ", ")
        output.append(twoDigits: date.day)
        output.append(ASCII.space)
        output.append(name: date.month - 1, of: months)
        output.append(ASCII.space)
        output.append(twoDigits: date.year / 100)
        output.append(twoDigits: date.year % 100)
        output.append(ASCII.space)
        output.append(twoDigits: time / 3600)
        output.append(ASCII.colon)
        output.append(twoDigits: time / 60 % 60)
        output.append(ASCII.colon)
        output.append(twoDigits: time % 60)
        output.append(text: " GMT")
    }

    /// Returns the proleptic Gregorian date of a day. Years are counted from March: the leap day is then the last of
    /// its year, and the months before it follow a regular pattern of 153 days in every five.
    private static func civilDate(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = daysSince1970 + 719_468
        let (era, dayOfEra) = shifted.quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * fromMarch + 2) / 5 + 1
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, day)
    }
}

extension [UInt8] {
    fileprivate mutating func append(twoDigits number: Int) {
        append(ASCII.zero + UInt8(number / 10))
        append(ASCII.zero + UInt8(number % 10))
    }

    fileprivate mutating func append(name index: Int, of names: String) {
        names.withUTF8Span { append(copying: $0.extracting(index * 3..<index * 3 + 3)) }
    }
}
