#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Writing into reserved memory. The caller computes the size first, so that no append has to check the array's
/// capacity. Every write is still bounds-checked.
extension OutputSpan<UInt8> {
    /// Appends `span` without escaping. There must be room.
    package mutating func append(copying span: Span<UInt8>) {
        precondition(span.count <= freeCapacity)
        guard !span.isEmpty else { return }
        withUnsafeMutableBufferPointer { bytes, count in
            // The pointers are used only inside the closures. The copy is as long as the span, and there is room for
            // it.
            span.withUnsafeBytes { _ = memcpy(bytes.baseAddress! + count, $0.baseAddress!, $0.count) }
            count += span.count
        }
    }

    /// Appends the bytes of `string` without escaping. There must be room.
    package mutating func append(utf8 string: String) {
        string.withUTF8Span { append(copying: $0) }
    }

    /// Appends `literal` without escaping. There must be room.
    package mutating func append(literal: StaticString) {
        // A literal is never freed, and the pointer is used only here.
        append(copying: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount).span)
    }

    /// Appends the bytes of an integer, least significant first. There must be room.
    package mutating func append(littleEndian integer: UInt64) {
        precondition(freeCapacity >= 8)
        withUnsafeMutableBufferPointer { bytes, count in
            // There is room from `count` on, and an integer may be stored as any bytes.
            UnsafeMutableRawPointer(bytes.baseAddress! + count).storeBytes(of: integer.littleEndian, as: UInt64.self)
            count += 8
        }
    }

    /// Appends a number from 0 to 99 in two decimal digits. There must be room.
    mutating func append(twoDigits number: Int) {
        let tens = UInt8(truncatingIfNeeded: number / 10)
        append(UInt8(ascii: "0") &+ tens)
        append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number) &- tens &* 10)
    }

    /// Appends a number in decimal. `count` must be its `decimalCount`. There must be room.
    mutating func append(decimal number: Int64, count: Int) {
        var count = count
        if number < 0 {
            append(UInt8(ascii: "-"))
            count -= 1
        }
        precondition(count <= freeCapacity && count > 0)
        withUnsafeMutableBufferPointer { bytes, written in
            var rest = number.magnitude
            // There is room from `written` on.
            for index in stride(from: written + count - 1, through: written, by: -1) {
                bytes.initializeElement(at: index, to: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10))
                rest /= 10
            }
            written += count
        }
    }

    /// Appends UTF-8 as a JSON string: quoted, and escaped where necessary. There must be room.
    ///
    /// - Parameter count: the `escapedCount` of `text`.
    mutating func append(quoted text: Span<UInt8>, escapedCount count: Int) {
        append(UInt8(ascii: "\""))
        if count == text.count { append(copying: text) } else { append(escaped: text) }
        append(UInt8(ascii: "\""))
    }

    /// Appends UTF-8 as the contents of a JSON string: escaped where necessary, without quotes. There must be room.
    mutating func append(escaped text: Span<UInt8>) {
        var start = 0
        while true {
            let stop = text.firstSpecial(from: start)
            append(copying: text.extracting(start..<stop))
            guard stop < text.count else { return }
            append(escape: text[stop])
            start = stop + 1
        }
    }

    /// Appends the escape of one byte, in the form of RFC 8785, section 3.2.2.2.
    private mutating func append(escape byte: UInt8) {
        append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
        case 0x08: append(UInt8(ascii: "b"))
        case 0x09: append(UInt8(ascii: "t"))
        case 0x0A: append(UInt8(ascii: "n"))
        case 0x0C: append(UInt8(ascii: "f"))
        case 0x0D: append(UInt8(ascii: "r"))
        default:
            append(literal: "u00")
            append(UInt8(ascii: "0") + byte >> 4)
            let low = byte & 0x0F
            append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        }
    }
}

extension Int64 {
    /// Number of bytes of the decimal form, including the sign.
    var decimalCount: Int {
        var count = self < 0 ? 2 : 1
        var rest = magnitude
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }
}

extension Span<UInt8> {
    /// Number of bytes of the UTF-8 as the contents of a JSON string; see `append(escaped:)`.
    var escapedCount: Int {
        var total = count
        var offset = firstSpecial(from: 0)
        while offset < count {
            switch self[offset] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x08, 0x09, 0x0A, 0x0C, 0x0D: total += 1
            default: total += 5
            }
            offset = firstSpecial(from: offset + 1)
        }
        return total
    }
}
