/// What a user searches for: words and `"phrases"` that must all occur in a text, and words that must not.
///
/// A word of a spaced script, such as Latin, occurs where a word begins with it; one of an unspaced script or of Korean
/// occurs wherever its characters do. A phrase also ends where a word ends, so `"cat"` does not find `category`. Punctuation within
/// a word or phrase is compared, too.
public struct SearchQuery: Sendable, Equatable {
    /// Maximum number of words and phrases of a query.
    public static let maximumTerms = 8
    /// Maximum number of Unicode scalars of a word or phrase.
    public static let maximumTermCharacters = 64
    /// Maximum number of terms that the index is asked for. It may find more texts than match.
    public static let maximumIndexTerms = 32
    /// Maximum number of highlights of a text; further occurrences are left out.
    public static let maximumHighlights = 100

    /// The tokens that every matching text has: at least one, each once.
    public let indexTerms: [IndexTerm]
    private var included: [SearchTerm] = []
    private var excluded: [SearchTerm] = []

    /// Parses a query.
    ///
    /// - Throws: What is wrong with it.
    public init(_ text: String) throws(SearchQueryError) {
        var parser = QueryParser(text)
        while let (term, isExcluded) = try parser.next() {
            guard included.count + excluded.count < Self.maximumTerms else { throw .tooManyTerms }
            if isExcluded { excluded.append(term) } else { included.append(term) }
        }
        guard !included.isEmpty else { throw excluded.isEmpty ? .empty : .onlyExclusions }
        indexTerms = IndexTerm.distinct(of: included)
        guard !indexTerms.isEmpty else { throw .nothingIndexed }
    }

    /// Returns where the query's words and phrases occur in `text`, as offsets of UTF-16, or nil if it does not match.
    ///
    /// The ranges cover whole characters, are in order, and do not touch. There are at most ``maximumHighlights``.
    public func highlights(in text: String) -> [Range<Int>]? {
        let folded = FoldedText(text)
        guard included.allSatisfy({ $0.firstOccurrence(in: folded.scalars) != nil }),
            excluded.allSatisfy({ $0.firstOccurrence(in: folded.scalars) == nil })
        else { return nil }
        let sources = FoldedText(text, keepingSources: true).sources
        var ranges: [Range<Int>] = []
        for term in included {
            var start = 0
            var count = 0
            while count < Self.maximumHighlights, let place = term.firstOccurrence(in: folded.scalars, from: start) {
                let matched = sources[place..<place + term.scalars.count]
                ranges.append(matched.map(\.lowerBound).min()!..<matched.map(\.upperBound).max()!)
                start = place + 1
                count += 1
            }
        }
        return Self.merged(Self.wholeCharacters(ranges, of: text))
    }

    /// Returns ordered ranges that cover the same offsets.
    private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else if merged.count < maximumHighlights {
                merged.append(range)
            } else {
                break
            }
        }
        return merged
    }

    /// Widens ranges to the characters (grapheme clusters) that they touch.
    private static func wholeCharacters(_ ranges: [Range<Int>], of text: String) -> [Range<Int>] {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return ranges }
        let last = ranges.map(\.upperBound).max() ?? 0
        // For each offset of UTF-16, where its character begins, and after the last one where it ends.
        var starts: [Int] = []
        for character in text {
            guard starts.count <= last else { break }
            starts.append(contentsOf: repeatElement(starts.count, count: character.utf16.count))
        }
        starts.append(starts.count)
        return ranges.map { range in
            var end = range.upperBound
            while starts[end] != end { end += 1 }
            return starts[range.lowerBound]..<end
        }
    }
}

/// A token that a text must have, or have one that begins with it.
public struct IndexTerm: Sendable, Hashable {
    /// The token as ``SearchTokens`` makes it.
    public let token: String
    /// True if tokens that begin with ``token`` count as well.
    public let isPrefix: Bool

    /// Creates a term from a token that ``SearchTokens`` made, or the beginning of one.
    public init(token: String, isPrefix: Bool) {
        (self.token, self.isPrefix) = (token, isPrefix)
    }

    /// Returns what a text that contains all of `terms` must have, those first that fewer texts have.
    static func distinct(of terms: [SearchTerm]) -> [IndexTerm] {
        var distinct: [IndexTerm] = []
        for term in terms {
            for indexTerm in term.indexTerms where !distinct.contains(indexTerm) { distinct.append(indexTerm) }
        }
        let needed = distinct.filter { term in
            !term.isPrefix || !distinct.contains { $0 != term && $0.token.utf8.starts(with: term.token.utf8) }
        }
        return Array((needed.filter { !$0.isPrefix } + needed.filter(\.isPrefix)).prefix(SearchQuery.maximumIndexTerms))
    }
}

/// A word or phrase of a query, folded.
struct SearchTerm: Sendable, Equatable {
    let scalars: [UInt32]
    let isPhrase: Bool

    /// Returns where the term occurs first at or after `start`, or nil.
    func firstOccurrence(in text: [UInt32], from start: Int = 0) -> Int? {
        let table = FoldingTable.shared
        let first = scalars[0]
        let beginsWithWord = table[first].kind == .word
        let endsWithWord = isPhrase && table[scalars[scalars.count - 1]].kind == .word
        var place = start
        while place + scalars.count <= text.count {
            defer { place += 1 }
            guard text[place] == first else { continue }
            let end = place + scalars.count
            if beginsWithWord, place > 0, table[text[place - 1]].kind == .word { continue }
            if endsWithWord, end < text.count, table[text[end]].kind == .word { continue }
            if text[place..<end].elementsEqual(scalars) { return place }
        }
        return nil
    }

    /// What the index has of every text in which this term occurs.
    var indexTerms: [IndexTerm] {
        var terms: [IndexTerm] = []
        SearchTokens.forEachRun(of: scalars) { kind, run in
            // Within the term the run ends where that of the text does.
            let isWhole = run.upperBound < scalars.count
            switch kind {
            case .unspaced where run.count > 1:
                for index in run.dropLast() {
                    terms.append(IndexTerm(token: SearchTokens.string(index..<index + 2, of: scalars), isPrefix: false))
                }
            case .unspaced:
                terms.append(IndexTerm(token: SearchTokens.string(run, of: scalars), isPrefix: !isWhole))
            default:
                let token = run.prefix(SearchTokens.maximumScalars)
                terms.append(
                    IndexTerm(token: SearchTokens.string(token, of: scalars), isPrefix: !isWhole && !isPhrase))
            }
        }
        return terms
    }
}
