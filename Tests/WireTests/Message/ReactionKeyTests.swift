import Testing
import Wire

@Suite struct ReactionKeyTests {
    @Test(arguments: [
        "❤️", "❤", "+1", "x", ":tada:", "👨‍👩‍👧‍👦", "👍🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🇩🇪", "é", "e\u{301}", "شكرا", "\u{1FAFF}", "a/b?c%",
        String(repeating: "x", count: 32), "\u{1F6D9}",
    ])
    func `emoji and words are keys`(key: String) throws {
        #expect(try ReactionKey(key).string.utf8.elementsEqual(key.utf8))
    }

    @Test(arguments: [
        "", " ", "a b", "a\n", "\u{7F}", "\u{0}", "\u{85}", "\u{A0}", "\u{2028}", "\u{FEFF}", "\u{202E}x", "\u{3000}",
        "\u{FFFF}", String(repeating: "x", count: 33), String(repeating: "❤️", count: 6),
    ])
    func `unprintable or long strings are refused`(key: String) {
        let fault = problem { () throws(Problem) in try ReactionKey(key) }
        #expect(fault == .invalidReaction)
        #expect(fault?.limit == 32)
    }

    @Test func `keys are compared by their bytes`() throws {
        #expect(try ReactionKey("\u{E9}") != ReactionKey("e\u{301}"))
        #expect(Set(try ["\u{E9}", "e\u{301}", "\u{E9}"].map { try ReactionKey($0) }).count == 2)
    }
}
