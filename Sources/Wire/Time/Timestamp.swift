#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A time in UTC with millisecond precision, as used by `created_at` and cursors.
///
/// It is within the years that RFC 3339 can represent, 0000 to 9999.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted (POSIX time).
    public let milliseconds: Int64

    /// 0000-01-01T00:00:00.000Z.
    public static let earliest = Timestamp(unchecked: -62_167_219_200_000)
    /// 9999-12-31T23:59:59.999Z.
    public static let latest = Timestamp(unchecked: 253_402_300_799_999)

    /// Creates the time this many milliseconds after the start of 1970, clamped to ``earliest`` through ``latest``.
    public init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, Self.earliest.milliseconds), Self.latest.milliseconds)
    }

    private init(unchecked milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Returns the current time of the system's clock.
    public static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }

    /// Returns true if `a` is before `b`.
    public static func < (a: Timestamp, b: Timestamp) -> Bool {
        a.milliseconds < b.milliseconds
    }

    /// The number of bytes of a time in RFC 3339.
    public static let byteCount = 24

    /// Appends the ``byteCount`` bytes of RFC 3339 in UTC, such as `2026-11-21T01:02:03.004Z`.
    public func append(to out: inout [UInt8]) {
        out.append(addingCapacity: Self.byteCount) { append(to: &$0) }
    }

    /// Appends the same bytes. There must be room.
    func append(to out: inout OutputSpan<UInt8>) {
        let days = milliseconds.flooredQuotient(dividingBy: 86_400_000)
        let time = Int(milliseconds - days * 86_400_000)
        let date = CivilDate(daysSince1970: Int(days))
        out.append(twoDigits: date.year / 100)
        out.append(twoDigits: date.year % 100)
        out.append(UInt8(ascii: "-"))
        out.append(twoDigits: date.month)
        out.append(UInt8(ascii: "-"))
        out.append(twoDigits: date.day)
        out.append(UInt8(ascii: "T"))
        out.append(twoDigits: time / 3_600_000)
        out.append(UInt8(ascii: ":"))
        out.append(twoDigits: time / 60_000 % 60)
        out.append(UInt8(ascii: ":"))
        out.append(twoDigits: time / 1000 % 60)
        out.append(UInt8(ascii: "."))
        out.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: time % 1000 / 100))
        out.append(twoDigits: time % 100)
        out.append(UInt8(ascii: "Z"))
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time as ``append(to:)`` writes it.
    public var description: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
