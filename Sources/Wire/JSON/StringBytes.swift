import Glibc

extension String {
    /// Returns whether both are the same code points, which `==` does not ask: to it, canonically equivalent is equal.
    package func hasSameBytes(as other: String) -> Bool {
        let (mine, others) = (utf8Span.span, other.utf8Span.span)
        guard mine.count == others.count, !mine.isEmpty else { return mine.count == others.count }
        // The pointers are used only inside the closures, while the spans' owners are borrowed, for as many bytes as
        // both have, and they are not null, because there are some.
        return mine.withUnsafeBytes { mine in
            others.withUnsafeBytes { memcmp(mine.baseAddress!, $0.baseAddress!, mine.count) == 0 }
        }
    }

    /// The beginning of what a client wrote, short enough to be told to it again.
    var excerpt: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(64)))
    }
}
