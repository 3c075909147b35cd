extension String {
    /// Whether both are the same code points, which `==` does not ask: to it, canonically equivalent is equal.
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8Span.bytesEqual(to: other.utf8)
    }

    /// The beginning of what a client wrote, short enough to be told to it again.
    var excerpt: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(64)))
    }
}
