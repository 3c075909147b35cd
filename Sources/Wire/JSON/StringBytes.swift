import Glibc

extension String {
    /// Returns true if both have the same code points. `==` also holds for canonically equivalent strings.
    package func hasSameBytes(as other: String) -> Bool {
        let (mine, others) = (utf8Span.span, other.utf8Span.span)
        guard mine.count == others.count, !mine.isEmpty else { return mine.count == others.count }
        // The pointers are used only inside the closures, while the spans' owners are borrowed, and within the count
        // that both share. They are not null, because the count is not 0.
        return mine.withUnsafeBytes { mine in
            others.withUnsafeBytes { memcmp(mine.baseAddress!, $0.baseAddress!, mine.count) == 0 }
        }
    }

    /// The beginning of a client's text, short enough to repeat in an error.
    var excerpt: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(64)))
    }
}
