import Foundation
import Testing
import Wire

@Suite struct ReactionKeyTests {
    @Test(arguments: [
        "❤️", "❤", "+1", "x", ":tada:", "👨‍👩‍👧‍👦", "👍🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🇩🇪", "é", "e\u{301}", "شكرا", "\u{1FAFF}", "a/b?c%",
        String(repeating: "x", count: 64), "\u{1F6D9}", "...", ".a", "\u{2024}",
    ])
    func `emoji and words are keys`(key: String) throws {
        #expect(try ReactionKey(key).string.utf8.elementsEqual(key.utf8))
    }

    @Test(arguments: [
        "", " ", "a b", "a\n", "\u{7F}", "\u{0}", "\u{85}", "\u{A0}", "\u{2028}", "\u{FEFF}", "\u{202E}x", "\u{3000}",
        "\u{FFFF}", String(repeating: "x", count: 65), String(repeating: "❤️", count: 11), ".", "..",
    ])
    func `unprintable or long strings are refused`(key: String) {
        let fault = problem { () throws(Problem) in try ReactionKey(key) }
        #expect(fault == .invalidReaction)
        #expect(fault?.limit == 64)
    }

    /// `Tests/emoji.txt` has all emoji that Unicode recommends for general interchange (RGI), as of Emoji 18.
    @Test func `every emoji that Unicode recommends is a key`() throws {
        let file = URL(filePath: #filePath).appending(path: "../../../emoji.txt").standardized
        let emoji = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isWhitespace)
        #expect(emoji.count == 3963)
        #expect(emoji.count { $0.utf8.count > 32 } == 95)
        for key in emoji { #expect(throws: Never.self, "\(key)") { try ReactionKey(key) } }
    }

    @Test func `keys are compared by their bytes`() throws {
        #expect(try ReactionKey("\u{E9}") != ReactionKey("e\u{301}"))
        #expect(Set(try ["\u{E9}", "e\u{301}", "\u{E9}"].map { try ReactionKey($0) }).count == 2)
    }
}
