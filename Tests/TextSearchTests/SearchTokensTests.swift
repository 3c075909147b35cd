import Foundation
import TestSupport
import Testing

@testable import TextSearch

/// The planes in which Unicode has assigned scalars, apart from the ideographs of the third.
private let assigned = Array(0...0x1FFFF as ClosedRange<UInt32>) + Array(0xE0000...0xE0FFF)

@Suite("Search tokens") struct SearchTokensTests {
    @Test(arguments: [
        ("", ""), ("Hello, World!", "hello world"), ("회의는 3시", "회의 의는 는 3 시"), ("서버 재시작", "서버 버 재시 시작 작"),
        ("iPhone用ケース", "iphone 用ケ ケー ース ス"), ("กิน", "กิ ิน น"), ("done🎉🎉", "done 🎉🎉 🎉"), ("ｶﾞ", "ガ"),
        ("snake_case C++ $5", "snake case c 5"), ("don’t", "don t"), ("a\u{0}b", "a b"), ("㍿", "株式 式会 会社 社"),
        ("ab ab", "ab ab"), ("\u{1112}\u{1161}\u{11AB}", "한"), ("、。・", ""), ("x\u{200B}y", "xy"),
    ])
    func `are pairs of characters or words`(text: String, tokens: String) {
        #expect(SearchTokens.joined(of: text).unicodeScalars.elementsEqual(tokens.unicodeScalars))
        let words = Set(tokens.utf8.split(separator: 0x20).map { String($0)! })
        #expect(Set(SearchTokens.distinct(of: text)) == words)
    }

    @Test func `have at most 64 characters, by which longer words are found`() throws {
        let word = String(repeating: "x", count: 100)
        #expect(SearchTokens.joined(of: word) == String(repeating: "x", count: 64))
        #expect(try SearchQuery("\(word.prefix(64))").highlights(in: word) == [0..<64])
        #expect(try SearchQuery("\(word.prefix(64))").indexTerms.map(\.token.count) == [64])
        #expect(try SearchQuery(String(repeating: "ﬃ", count: 64)).indexTerms[0].token.count == 64)
    }

    @Test func `hold neither separators nor ASCII other than letters and digits`() {
        for value in assigned {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let tokens = SearchTokens.joined(of: "\(scalar)")
            let isClean = tokens.utf8.allSatisfy {
                $0 >= 0x80 || $0 == 0x20 || 0x61...0x7A ~= $0 || 0x30...0x39 ~= $0
            }
            if !isClean { Issue.record("U+\(String(value, radix: 16)) gives \(tokens)") }
        }
    }
}

@Suite("Folding") struct FoldingTests {
    private func folded(_ text: String) -> String {
        String(String.UnicodeScalarView(FoldedText(text).scalars.map { Unicode.Scalar($0)! }))
    }

    private func isSame(_ a: String, _ b: String) -> Bool { a.unicodeScalars.elementsEqual(b.unicodeScalars) }

    @Test func `is stable and composed for each scalar, and folds its case and compatibility`() {
        for value in assigned {
            guard let scalar = Unicode.Scalar(value), let age = scalar.properties.age, age.major <= 14,
                // Single jamo stay single.
                !(0x3131...0x318E).contains(value), !(0xFFA0...0xFFDC).contains(value)
            else { continue }
            let text = String(Character(scalar))
            let once = folded(text)
            // Spaces are merged, so a compatibility mapping to a space and a mark is compared in one piece.
            guard
                isSame(folded(once), once), isSame(once.precomposedStringWithCanonicalMapping, once),
                isSame(folded(text.precomposedStringWithCompatibilityMapping), once),
                isSame(folded(text.decomposedStringWithCanonicalMapping), once),
                isSame(folded(text.decomposedStringWithCompatibilityMapping), once),
                isSame(folded(scalar.properties.lowercaseMapping), once) || scalar.properties.lowercaseMapping == text
            else {
                Issue.record("U+\(String(value, radix: 16)) folds to \(once.unicodeScalars.map(\.value))")
                continue
            }
        }
    }

    @Test func `is the same for canonically equivalent texts`() {
        var random = SeededGenerator(seed: 7)
        let scalars = Array(
            "aeouAEOÅßſиеαωΩᾳᾼᾴι\u{200D}가각\u{1100}\u{1161}\u{11A8}\u{11C2}か".unicodeScalars)
        let marks = Array(
            "\u{300}\u{301}\u{302}\u{303}\u{308}\u{30A}\u{323}\u{328}\u{31B}\u{327}\u{345}\u{3099}\u{309A}"
                .unicodeScalars)
        for _ in 0..<10_000 {
            let text = String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 1...8, using: &random)).map { _ in
                        (Bool.random(using: &random) ? scalars : marks).randomElement(using: &random)!
                    }))
            let once = folded(text)
            #expect(
                isSame(folded(text.decomposedStringWithCanonicalMapping), once), "\(text.unicodeScalars.map(\.value))")
            #expect(
                isSame(folded(text.precomposedStringWithCanonicalMapping), once), "\(text.unicodeScalars.map(\.value))")
            #expect(isSame(once.precomposedStringWithCanonicalMapping, once), "\(text.unicodeScalars.map(\.value))")
        }
    }

    @Test(arguments: [
        ("α\u{345}\u{301}", "άι"), ("α\u{301}\u{345}", "άι"), ("ᾳ\u{301}", "άι"), ("ᾴ", "άι"), ("ᾼ\u{301}", "άι"),
        ("ᾳ\u{301}\u{323}", "ά\u{323}ι"), ("ᾴ\u{300}", "ά\u{300}ι"), ("\u{345}\u{300}", "\u{300}ι"),
        ("α\u{345}\u{345}\u{301}", "άιι"), ("ᾳι\u{301}", "αιί"), ("ᾳ\u{200D}\u{301}", "αί"),
        ("ͺ\u{301}", " \u{301}ι"), ("ᾼΙ", "αιι"), ("ΑΙ\u{301}", "αί"), ("a\u{323}\u{340}", "ạ\u{300}"),
        ("q\u{301}\u{323}", "q\u{323}\u{301}"), ("か\u{323}ﾞ", "が\u{323}"),
    ])
    func `gives marks their canonical order first, as toNFKC_Casefold(NFD(X)) does`(text: String, expected: String) {
        #expect(isSame(folded(text), expected), "\(folded(text).unicodeScalars.map { String($0.value, radix: 16) })")
    }

    @Test func `records the place of each scalar in the text`() {
        let folded = FoldedText("🎉ｶﾞ㍿ u\u{308}  x", keepingSources: true)
        #expect(folded.sources == [0..<2, 2..<4, 4..<5, 4..<5, 4..<5, 4..<5, 5..<6, 6..<8, 8..<10, 10..<11])
        #expect(FoldedText("ab").sources.isEmpty)
    }
}
