extension String {
    /// True if the text shows nothing: it is empty, or has only white space and invisible characters.
    public var isBlank: Bool {
        unicodeScalars.allSatisfy(\.isInvisible)
    }

    /// True for `.` and `..`. Clients remove these from the path of a URL (RFC 3986, section 5.2.4), so no id may be one.
    package var isDotSegment: Bool { self == "." || self == ".." }
}

extension Unicode.Scalar {
    /// True for white space, control characters, characters that are not shown by default, such as zero-width ones and
    /// fillers, and the braille pattern without dots.
    fileprivate var isInvisible: Bool {
        if isASCII { return value <= 0x20 || value == 0x7F }
        return properties.isWhitespace || properties.isDefaultIgnorableCodePoint || value == 0x2800
            || properties.generalCategory == .control
    }
}
