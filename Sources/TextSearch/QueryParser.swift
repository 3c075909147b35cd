/// Splits a query into its terms.
struct QueryParser {
    /// The quotation marks of keyboards, which all enclose phrases.
    private static let quotes: Set<Unicode.Scalar> = ["\"", "“", "”", "„", "＂"]
    private static let minuses: Set<Unicode.Scalar> = ["-", "－"]

    private var rest: Substring.UnicodeScalarView

    init(_ text: String) {
        rest = text[...].unicodeScalars
    }

    /// Returns the next term, and whether it is excluded, or nil at the end.
    mutating func next() throws(SearchQueryError) -> (term: SearchTerm, isExcluded: Bool)? {
        while let first = rest.first, Self.isSpace(first) { rest.removeFirst() }
        guard let first = rest.first else { return nil }
        let isExcluded = Self.minuses.contains(first)
        if isExcluded { rest.removeFirst() }
        guard let first = rest.first, !Self.isSpace(first) else { throw .missingExclusion }
        let isPhrase = Self.quotes.contains(first)
        if isPhrase { rest.removeFirst() }
        let end = rest.firstIndex { isPhrase ? Self.quotes.contains($0) : Self.isSpace($0) }
        guard !isPhrase || end != nil else { throw .unclosedPhrase }
        let text = rest[..<(end ?? rest.endIndex)]
        rest = rest[(end ?? rest.endIndex)...]
        if isPhrase { rest.removeFirst() }
        guard text.count <= SearchQuery.maximumTermCharacters else { throw .termTooLong }
        var scalars = FoldedText(Substring(text)).scalars
        if scalars.first == 0x20 { scalars.removeFirst() }
        if scalars.last == 0x20 { scalars.removeLast() }
        guard !scalars.isEmpty else { throw .emptyTerm }
        return (SearchTerm(scalars: scalars, isPhrase: isPhrase), isExcluded)
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        FoldingTable.shared[scalar.value].kind == .space
    }
}
