/// Splits texts into the tokens of a search index.
///
/// The tokens of a run of a script without spaces, such as Han, Kana, Hangul and Thai, are its overlapping pairs of
/// characters, and its last character by itself: so the index finds any substring of two characters by equality,
/// and of one by a prefix. Of other scripts, the tokens are the words, which the index finds by a prefix.
///
/// A token consists of `a` to `z`, `0` to `9` and characters beyond ASCII, is folded, and has at most 64 scalars.
public enum SearchTokens {
    /// Changes when the same text gets other tokens, so that an index of an older version must be built again.
    public static let version = 2
    /// Maximum number of scalars of a token. Longer words are found by their beginning.
    static let maximumScalars = 64

    /// Returns the tokens of `text` without repetitions, in the order of their bytes.
    public static func distinct(of text: String) -> [String] {
        let folded = FoldedText(text).scalars
        var tokens: Set<String> = []
        forEachRun(of: folded) { kind, run in
            forEachToken(kind, run) { tokens.insert(string($0, of: folded)) }
        }
        return tokens.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the tokens of `text` in its order, with a space between them. They may repeat.
    public static func joined(of text: String) -> String {
        let folded = FoldedText(text).scalars
        var joined: [UInt8] = []
        joined.reserveCapacity(text.utf8.count * 2)
        forEachRun(of: folded) { kind, run in
            forEachToken(kind, run) { token in
                if !joined.isEmpty { joined.append(0x20) }
                for scalar in folded[token] { append(scalar, to: &joined) }
            }
        }
        return String(decoding: joined, as: UTF8.self)
    }

    /// Calls `body` with each run of scalars of the same kind, except separators.
    static func forEachRun(of folded: [UInt32], _ body: (FoldingTable.Kind, Range<Int>) -> Void) {
        let table = FoldingTable.shared
        var start = 0
        var kind = FoldingTable.Kind.separator
        for index in folded.indices {
            let next = table[folded[index]].kind
            guard next != kind else { continue }
            if kind == .word || kind == .unspaced { body(kind, start..<index) }
            (start, kind) = (index, next)
        }
        if kind == .word || kind == .unspaced { body(kind, start..<folded.count) }
    }

    static func string(_ token: Range<Int>, of folded: [UInt32]) -> String {
        var bytes: [UInt8] = []
        for scalar in folded[token] { append(scalar, to: &bytes) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func forEachToken(_ kind: FoldingTable.Kind, _ run: Range<Int>, _ body: (Range<Int>) -> Void) {
        switch kind {
        case .unspaced:
            for index in run { body(index..<min(index + 2, run.upperBound)) }
        default:
            body(run.prefix(maximumScalars))
        }
    }

    private static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
        if scalar < 0x80 {
            bytes.append(UInt8(scalar))
        } else {
            bytes.append(contentsOf: UTF8.encode(Unicode.Scalar(scalar)!)!)
        }
    }
}
