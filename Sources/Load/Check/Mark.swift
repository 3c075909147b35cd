import Glibc
import Wire

/// What a message of a run carries so that it is recognised wherever it arrives: `BSL:<run>:<room>:<number>:<time>;`.
///
/// All of it is printable ASCII that no JSON encoder escapes, so a server may wrap the body as it likes: the mark is
/// found anywhere in what subscribers receive.
struct Mark: Equatable, Sendable {
    /// What a mark begins with.
    static let prefix: StaticString = "BSL:"

    /// The run that sent the message; tells apart what an earlier run has left behind.
    var run: Int64
    /// The room that the message was sent to, from 0.
    var room: Int
    /// The message's number in its room, from 0.
    var number: Int
    /// The time when the message was due to be sent, in nanoseconds since the run began.
    var time: Int64

    /// Appends the mark's text.
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

    /// The first whole mark at or after `offset`, which is moved behind it; nil when there is none, with `offset` at
    /// the end, or at the beginning of what the end may have cut.
    static func next(in bytes: Span<UInt8>, at offset: inout Int) -> Mark? {
        bytes.withUnsafeBufferPointer { buffer in
            // The pointers stay within the buffer, and the call, for the whole of which `bytes` is borrowed.
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

    /// Reads a mark that begins at `place`, and moves `place` behind it; nil, with `place` unmoved, if there is none,
    /// or if it `isCut`: there might be one, were there more bytes.
    private static func parse(
        _ place: inout UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ isCut: inout Bool
    ) -> Mark? {
        let begun = min(end - place, prefix.utf8CodeUnitCount)
        // Both regions have that many bytes at least.
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

    /// Reads digits, 18 at most so that they fit, and the byte behind them; nil, with `cursor` at what does not fit or
    /// at the end, if they are no number.
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
