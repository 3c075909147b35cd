#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension String {
    /// Calls `body` with the UTF-8 of the string.
    ///
    /// It takes the place of the properties `utf8.span` and `utf8Span`. The standard library has them only since macOS 26 and iOS
    /// 26. And the bytes of a short string are in the string itself: the optimizer of Swift 6.3 may use the memory of a
    /// temporary copy again while its span is read, as it did in a build with ThreadSanitizer.
    @inline(__always)
    package func withUTF8Span<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ body($0.span) }) { return result }
        var copy = self
        return copy.withUTF8 { body($0.span) }
    }

    /// Returns true if both have the same code points. `==` also holds for canonically equivalent strings.
    package func hasSameBytes(as other: String) -> Bool {
        withUTF8Span { mine in
            other.withUTF8Span { others in
                guard mine.count == others.count, !mine.isEmpty else { return mine.count == others.count }
                // The pointers are used only inside the closures, while the spans' owners are borrowed, and within the
                // count that both share. They are not null, because the count is not 0.
                return mine.withUnsafeBytes { mine in
                    others.withUnsafeBytes { memcmp(mine.baseAddress!, $0.baseAddress!, mine.count) == 0 }
                }
            }
        }
    }

    /// The beginning of a client's text, short enough to repeat in an error.
    package var excerpt: String { String(String.UnicodeScalarView(unicodeScalars.prefix(64))) }
}

/// The bytes of arrays as spans. The standard library provides them as properties only since macOS 26 and iOS 26. Clients
/// also run on earlier systems, where closures provide them.
extension [UInt8] {
    /// Returns the offset of the first byte at or after `start` that a JSON string cannot contain unescaped, or the
    /// count.
    @inline(__always)
    func firstSpecial(from start: Int) -> Int {
        #if canImport(Darwin)
        withUnsafeBufferPointer { $0.span.firstSpecial(from: start) }
        #else
        span.firstSpecial(from: start)
        #endif
    }

    /// The offset of the first byte that is not valid UTF-8; `nil` if all bytes are valid.
    var firstInvalidUTF8: Int? {
        #if canImport(Darwin)
        parsedFirstInvalidUTF8
        #else
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: span)
            return nil
        } catch {
            return error.byteOffsets.lowerBound
        }
        #endif
    }

    /// The value of ``firstInvalidUTF8``, computed with only what every version of the standard library has.
    package var parsedFirstInvalidUTF8: Int? {
        var parser = UTF8.ForwardParser()
        var bytes = makeIterator()
        var offset = 0
        while true {
            switch parser.parseScalar(from: &bytes) {
            case .valid(let scalar): offset += scalar.count
            case .emptyInput: return nil
            case .error: return offset
            }
        }
    }
}
