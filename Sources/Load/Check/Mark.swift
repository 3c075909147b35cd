import Glibc
import Wire

/// The mark by which a message of a run is recognized wherever it arrives: `BSL:<run>:<room>:<number>:<time>;`.
///
/// It is printable ASCII that no JSON encoder escapes. A server may therefore wrap the body in any way, and the mark is
/// still found in what subscribers receive.
struct Mark: Equatable, Sendable {
    /// The prefix of every mark.
    static let prefix: StaticString = "BSL:"

    /// The run that sent the message, to ignore messages of earlier runs.
    var run: Int64
    /// The room that the message was sent to, from 0.
    var room: Int
    /// The message's number in its room, from 0.
    var number: Int
    /// The time when the message was due to be sent, in nanoseconds since the run began.
    var time: Int64

    func append(to output: inout [UInt8]) {
        output.append(literal: Self.prefix)
        output.append(decimal: run)
        output.append(UInt8(ascii: ":"))
        output.append(decimal: Int64(room))
        output.append(UInt8(ascii: ":"))
        output.append(decimal: Int64(number))
        output.append(UInt8(ascii: ":"))
        output.append(decimal: time)
        output.append(UInt8(ascii: ";"))
    }

    /// Returns the first whole mark at or after `offset`, and moves `offset` behind it. Returns nil if there is none,
    /// with `offset` at the end or at the start of a mark that the end may have cut.
    static func next(in bytes: Span<UInt8>, at offset: inout Int) -> Mark? {
        bytes.withUnsafeBufferPointer { buffer in
            // The pointers stay within the buffer and within the call, during which `bytes` is borrowed.
            guard let start = buffer.baseAddress else { return nil }
            let end = start + buffer.count
            var place = start + offset
            while let found = memchr(place, Int32(UInt8(ascii: "B")), end - place) {
                place = UnsafePointer(found.assumingMemoryBound(to: UInt8.self))
                var isCut = false
                let mark = parse(&place, end, &isCut)
                if mark != nil || isCut {
                    offset = place - start
                    return mark
                }
                place += 1
            }
            offset = buffer.count
            return nil
        }
    }

    /// Parses the mark at `place` and moves `place` behind it. Returns nil, without moving `place`, if there is no
    /// mark. `isCut` is then true if more bytes could complete one.
    private static func parse(
        _ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ isCut: inout Bool
    ) -> Mark? {
        let begun = min(end - place, prefix.utf8CodeUnitCount)
        // Both regions have at least that many bytes.
        guard memcmp(place, prefix.utf8Start, begun) == 0 else { return nil }
        var cursor = place + begun
        guard let run = number(&cursor, end, until: UInt8(ascii: ":")),
            let room = number(&cursor, end, until: UInt8(ascii: ":")),
            let number = number(&cursor, end, until: UInt8(ascii: ":")),
            let time = self.number(&cursor, end, until: UInt8(ascii: ";"))
        else {
            isCut = cursor == end
            return nil
        }
        guard room <= Int64(UInt32.max), number <= Int64(UInt32.max) else { return nil }
        place = cursor
        return Mark(run: run, room: Int(room), number: Int(number), time: time)
    }

    /// Reads a number of at most 18 digits, so that it cannot overflow, and the byte after it. Returns nil if there is
    /// no number, with `cursor` at the first byte that does not fit, or at the end.
    private static func number(
        _ cursor: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, until terminator: UInt8
    ) -> Int64? {
        let start = cursor
        var value: Int64 = 0
        while cursor < end {
            let byte = cursor.pointee
            let digit = byte &- UInt8(ascii: "0")
            guard digit <= 9 else {
                guard byte == terminator, cursor > start else { return nil }
                cursor += 1
                return value
            }
            guard cursor - start < 18 else { return nil }
            value = value &* 10 &+ Int64(digit)
            cursor += 1
        }
        return nil
    }
}
