/// A text as search compares it: folded by NFKC_Casefold and composed, with one space for each run of white space.
///
/// The folding is Unicode's default and knows no language: `ß` folds to `ss`, and `ü` and `ı` stay what they are. It differs
/// from NFKC_Casefold in that single jamo stay single, since `ㅋㅋㅠㅠ` should be found by `ㅠㅠ`.
struct FoldedText {
    /// The folded scalars.
    private(set) var scalars: [UInt32] = []
    /// For each folded scalar, the UTF-16 offsets of the scalars that it was made of. Empty if they were not wanted.
    private(set) var sources: [Range<Int>] = []
    /// True if U+0345 has occurred.
    private var hasIota = false

    /// Folds `text`, and with `keepingSources` records where each folded scalar comes from.
    init(_ text: some StringProtocol, keepingSources: Bool = false) {
        let table = FoldingTable.shared
        scalars.reserveCapacity(text.utf8.count)
        var offset = 0
        var needsComposition = false
        for scalar in text.unicodeScalars {
            let width = scalar.value > 0xFFFF ? 2 : 1
            let source = offset..<offset + width
            offset += width
            let entry = table[scalar.value]
            if entry.isUnchanged {
                append(scalar.value, entry, keepingSources ? source : nil, &needsComposition)
            } else if entry.mapping.isEmpty {
                // Marks do not move over a scalar that is dropped.
                if scalars.last == Self.iotaSubscript { scalars[scalars.count - 1] = Self.iota }
            } else {
                for place in entry.mapping {
                    let mapped = table.mapped[place]
                    append(mapped, table[mapped], keepingSources ? source : nil, &needsComposition)
                }
            }
        }
        if hasIota {
            for index in scalars.indices where scalars[index] == Self.iotaSubscript { scalars[index] = Self.iota }
        }
        if needsComposition { compose(table) }
    }

    /// The only mark that folds to a letter, which no longer moves behind other marks.
    private static let iotaSubscript: UInt32 = 0x345
    private static let iota: UInt32 = 0x3B9

    private mutating func append(
        _ scalar: UInt32, _ entry: FoldingTable.Entry, _ source: Range<Int>?, _ needsComposition: inout Bool
    ) {
        if entry.kind == .space {
            if scalars.last == 0x20 {
                if let source { sources[sources.count - 1] = sources[sources.count - 1].lowerBound..<source.upperBound }
            } else {
                scalars.append(0x20)
                if let source { sources.append(source) }
            }
            return
        }
        needsComposition = needsComposition || entry.isSecondOfComposition
        var place = scalars.count
        let combiningClass = entry.combiningClass
        if combiningClass > 0 {
            hasIota = hasIota || scalar == Self.iotaSubscript
            // Canonical order: marks that do not interact are sorted by their class.
            while place > 0, FoldingTable.shared[scalars[place - 1]].combiningClass > combiningClass { place -= 1 }
        }
        scalars.insert(scalar, at: place)
        if let source { sources.insert(source, at: place) }
    }

    /// Replaces each pair that has a composite (The Unicode Standard, section 3.11).
    private mutating func compose(_ table: FoldingTable) {
        var starter: Int?
        var lastClass: UInt32 = 0
        var count = 0
        for index in scalars.indices {
            let scalar = scalars[index]
            let entry = table[scalar]
            let combiningClass = entry.combiningClass
            if entry.isSecondOfComposition, let starter, starter == count - 1 || lastClass < combiningClass,
                let composite = table.composite(scalars[starter], scalar)
            {
                scalars[starter] = composite
                if !sources.isEmpty {
                    let (first, second) = (sources[starter], sources[index])
                    sources[starter] =
                        min(first.lowerBound, second.lowerBound)..<max(first.upperBound, second.upperBound)
                }
                continue
            }
            if combiningClass == 0 { starter = count }
            lastClass = combiningClass
            scalars[count] = scalar
            if !sources.isEmpty { sources[count] = sources[index] }
            count += 1
        }
        scalars.removeSubrange(count...)
        if !sources.isEmpty { sources.removeSubrange(count...) }
    }
}
