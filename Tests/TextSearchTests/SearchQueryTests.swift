import Foundation
import TestSupport
import Testing
import TextSearch

@Suite("Search query") struct SearchQueryTests {
    /// A query, a text, and what of it is highlighted: nothing if the text does not match.
    struct Example: Sendable, CustomTestStringConvertible {
        let query: String
        let text: String
        let highlights: [String]

        init(_ query: String, _ text: String, _ highlights: String...) {
            (self.query, self.text, self.highlights) = (query, text, highlights)
        }

        var testDescription: String { "\(query) in \(text)" }
    }

    static let korean = [
        Example("회의", "오늘 회의는 3시입니다", "회의"),
        Example("회의", "정기회의록을 올렸어요", "회의"),
        Example("회의록", "정기회의록을 올렸어요", "회의록"),
        Example("회의", "회 의"),
        Example("의", "회의는", "의"),
        Example("회", "회의는", "회"),
        Example("서버 재시작", "재시작하면 서버가 느려요", "재시작", "서버"),
        Example("\"서버 재시작\"", "서버 재시작했어요", "서버 재시작"),
        Example("\"서버 재시작\"", "재시작한 서버 재부팅"),
        Example("서버 -장애", "서버장애"),
        Example("서버 -장애", "서버점검", "서버"),
        Example(
            "한글", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}"
        ),
        Example("\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "한글날", "한글"),
        Example("하", "한글"),
        Example("ㅠㅠ", "ㅋㅋㅠㅠ", "ㅠㅠ"),
        Example("ㅋㅋ", "하하ㅋㅋㅋ", "ㅋㅋㅋ"),
        Example("ﾡ", "ㄱㄴ", "ㄱ"),
        Example("2024년", "그건 2024년 일", "2024년"),
        Example("24년", "그건 2024년 일"),
    ]

    static let japaneseAndChinese = [
        Example("東京", "東京都へ行く", "東京"),
        Example("京都", "東京都へ行く", "京都"),
        Example("ガ", "ｶﾞﾗｽ", "ｶﾞ"),
        Example("がらす", "ガラス"),
        Example("ガラス", "ｶﾞﾗｽの靴", "ｶﾞﾗｽ"),
        Example("か", "がっこう"),
        Example("が", "か\u{3099}っこう", "か\u{3099}"),
        Example("会社", "㍿山田", "㍿"),
        Example("株", "㍿山田", "㍿"),
        Example("㍿", "株式会社山田", "株式会社"),
        Example("コーヒー", "アイスコーヒー", "コーヒー"),
        Example("ｺｰﾋｰ", "アイスコーヒー", "コーヒー"),
        Example("人々", "村の人々は", "人々"),
        Example("明日　会議", "会議は明日です", "会議", "明日"),
        Example("会议", "明天的会议取消了", "会议"),
        Example("會議", "明天的会议取消了"),
        Example("\"会议，取消\"", "会议，取消", "会议，取消"),
        Example("會", "會議", "會"),
        Example("車", "\u{F902}", "\u{F902}"),
        Example("𠮷野", "𠮷野家で", "𠮷野"),
    ]

    static let otherScripts = [
        Example("ประชุม", "วันนี้มีประชุมตอนบ่าย", "ประชุม"),
        Example("น้ำ", "ดื่มน้ำเย็น", "น้ำ"),
        Example("น\u{E49}\u{E4D}\u{E32}", "ดื่มน้ำเย็น", "น้ำ"),
        Example("กิน", "ไม่กินเผ็ด", "กิน"),
        Example("uber", "über"),
        Example("ÜBER", "ein Überblick", "Über"),
        Example("u\u{308}ber", "über", "über"),
        Example("über", "u\u{308}ber", "u\u{308}ber"),
        Example("u", "u\u{308}ber"),
        Example("strasse", "die Straße", "Straße"),
        Example("straße", "HAUPT STRASSE", "STRASSE"),
        Example("straße", "Hauptstraße"),
        Example("stras", "Straße", "Straß"),
        Example("istanbul", "İstanbul"),
        Example("i\u{307}stanbul", "İstanbul", "İstanbul"),
        Example("ışık", "Işık"),
        Example("ışık", "gün ışıkları", "ışık"),
        Example("οδος", "ΟΔΟΣ", "ΟΔΟΣ"),
        Example("привет", "ПРИВЕТ всем", "ПРИВЕТ"),
        Example("е", "ёлка"),
        Example("שלום", "שלום עולם", "שלום"),
        Example("سلام", "سلام عليكم", "سلام"),
        Example("ﺳﻼﻡ", "سلام", "سلام"),
        Example("नमस्ते", "नमस्ते दुनिया", "नमस्ते"),
        Example("tiế", "tiếng Việt", "tiế"),
        Example("tie\u{301}\u{302}", "tiếng Việt"),
        Example("tie\u{302}\u{301}", "tiếng Việt", "tiế"),
        Example("a\u{323}\u{302}", "a\u{302}\u{323}", "a\u{302}\u{323}"),
    ]

    static let wordsAndCode = [
        Example("hell", "Hello, hello world", "Hell", "hell"),
        Example("ello", "Hello"),
        Example("\"hell\"", "hello"),
        Example("\"hello\"", "Hello!", "Hello"),
        Example("\"hello wor\"", "hello world"),
        Example("\"hello  world\"", "Hello\n\tworld", "Hello\n\tworld"),
        Example("“hello world”", "hello world", "hello world"),
        Example("hello -wor", "hello world"),
        Example("hello -\"wor\"", "hello world", "hello"),
        Example("hello -world", "hello there", "hello"),
        Example("c++", "I write C++ and C", "C++"),
        Example("c++", "I write C"),
        Example("don't", "I don't know", "don't"),
        Example("snake_case", "use snake_case here", "snake_case"),
        Example("case", "use snake_case here", "case"),
        Example("foo.bar(", "call foo.bar(1)", "foo.bar("),
        Example("https://example.com/a?b=1", "see https://example.com/a?b=1&c=2", "https://example.com/a?b=1"),
        Example("example.com", "see https://example.com/a", "example.com"),
        Example("/a?b", "see https://example.com/a?b=1", "/a?b"),
        Example("#1234", "fixes #12345", "#1234"),
        Example("ＡＢＣ", "abc １２３", "abc"),
        Example("123", "ABC １２３", "１２３"),
        Example("ﬁle", "Files", "File"),
        Example("file", "ﬁles", "ﬁle"),
        Example("㎏", "5 kg", "kg"),
        Example("soft\u{AD}ware", "software", "software"),
        Example("software", "soft\u{AD}ware", "soft\u{AD}ware"),
        Example("iphone ケース", "iPhone用ケース", "iPhone", "ケース"),
        Example("iphone用", "新しいiPhone用", "iPhone用"),
        Example("swift로", "서버를 Swift로 쓴다", "Swift로"),
        Example("a b a", "b a", "b", "a"),
        Example("ab abc", "abcd", "abc"),
    ]

    static let emoji = [
        Example("🎉", "좋아요🎉🎉", "🎉🎉"),
        Example("🎉", "done🎉", "🎉"),
        Example("👍", "👍🏽 ok", "👍🏽"),
        Example("👍🏽", "👍 ok"),
        Example("👩", "👨‍👩‍👧 family", "👨‍👩‍👧"),
        Example("👨👩👧", "👨‍👩‍👧 family", "👨‍👩‍👧"),
        Example("❤", "I ❤️ it", "❤️"),
        Example("❤️", "I ❤ it", "❤"),
        Example("🇰🇷", "🇰🇷 vs 🇯🇵", "🇰🇷"),
        Example("🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿 wins", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"),
        Example("€50", "costs €500", "€50"),
        Example("→", "a → b", "→"),
        Example("\u{1FAE9}", "new \u{1FAE9}", "\u{1FAE9}"),
    ]

    @Test(arguments: korean + japaneseAndChinese + otherScripts + wordsAndCode + emoji)
    func `finds and highlights whole characters`(example: Example) throws {
        let query = try SearchQuery(example.query)
        let highlights = query.highlights(in: example.text)
        let units = Array(example.text.utf16)
        #expect(
            highlights?.map { String(decoding: units[$0], as: UTF16.self).unicodeScalars.map(\.self) } ?? []
                == example.highlights.map { $0.unicodeScalars.map(\.self) })
        #expect(highlights?.isEmpty != true)
        if highlights != nil { #expect(query.isFound(in: SearchTokens.distinct(of: example.text))) }
    }

    @Test func `counts highlights in units of UTF-16`() throws {
        #expect(try SearchQuery("회의").highlights(in: "🎉 회의") == [3..<5])
        #expect(try SearchQuery("🎉").highlights(in: "🎉 회의 🎉") == [0..<2, 6..<8])
    }

    @Test func `merges highlights that touch, and leaves out those beyond the bound`() throws {
        #expect(try SearchQuery("ab bc b").highlights(in: "ab bc") == [0..<2, 3..<5])
        #expect(try SearchQuery("가나 나다").highlights(in: "가나다") == [0..<3])
        let many = String(repeating: "가 ", count: SearchQuery.maximumHighlights + 1)
        #expect(try SearchQuery("가").highlights(in: many)?.count == SearchQuery.maximumHighlights)
    }

    @Test func `asks the index for pairs of characters, and for words by their beginning`() throws {
        #expect(try SearchQuery("회의록 Foo").indexTerms == [.exact("회의"), .exact("의록"), .prefix("foo")])
        #expect(try SearchQuery("회").indexTerms == [.prefix("회")])
        #expect(try SearchQuery("fo foo").indexTerms == [.prefix("foo")])
        #expect(try SearchQuery("foo.bar").indexTerms == [.exact("foo"), .prefix("bar")])
        #expect(try SearchQuery("\"foo bar\" -baz").indexTerms == [.exact("foo"), .exact("bar")])
        #expect(try SearchQuery("2024년 :)").indexTerms == [.exact("2024"), .prefix("년")])
        #expect(try SearchQuery("년!").indexTerms == [.exact("년")])
    }

    @Test func `asks the index for a bounded number of terms`() throws {
        let terms = (0..<8).map { term in
            String(String.UnicodeScalarView((0..<64).map { Unicode.Scalar(0x4E00 + term * 64 + $0)! }))
        }
        let query = try SearchQuery(terms.joined(separator: " "))
        #expect(query.indexTerms.count == SearchQuery.maximumIndexTerms)
        #expect(query.highlights(in: terms.joined())?.count == 1)
    }

    @Test(
        arguments: [
            ("", .empty), (" \n\u{3000}", .empty), ("-a", .onlyExclusions), ("-\"a b\" -c", .onlyExclusions),
            ("1 2 3 4 5 6 7 8 9", .tooManyTerms), ("1 2 3 4 5 6 7 8 -9", .tooManyTerms),
            (String(repeating: "가", count: 65), .termTooLong),
            ("a \"" + String(repeating: " ", count: 65) + "\"", .termTooLong),
            ("\"\"", .emptyTerm), ("a \" \"", .emptyTerm), ("\u{200B}", .emptyTerm), ("a -\u{FE0F}", .emptyTerm),
            ("\"a", .unclosedPhrase), ("a \"", .unclosedPhrase), ("a -\"b", .unclosedPhrase),
            ("a -", .missingExclusion), ("a - b", .missingExclusion), (":)", .nothingIndexed),
            ("++ \"- -\"", .nothingIndexed), ("-a ++", .nothingIndexed),
        ] as [(String, SearchQueryError)])
    func `says what is wrong with a query`(text: String, error: SearchQueryError) {
        #expect(throws: error) { try SearchQuery(text) }
        #expect(error.detail.hasSuffix("."))
    }

    @Test(arguments: [
        "1 2 3 4 5 6 7 8", String(repeating: "가", count: 64), String(repeating: "ﷺ", count: 64), "foo\"bar",
        "\"a\"\"b\"c", "--a b", "a:)",
    ])
    func `accepts queries within the bounds`(text: String) throws {
        _ = try SearchQuery(text)
    }

    /// Looks for a word with Foundation's folding, which differs for no character of the test.
    private func scan(_ text: String, for word: String) -> Bool {
        func folded(_ text: String) -> [Unicode.Scalar] {
            text.precomposedStringWithCompatibilityMapping.lowercased().unicodeScalars.filter {
                !$0.properties.isDefaultIgnorableCodePoint
            }
        }
        func isSpaced(_ scalar: Unicode.Scalar) -> Bool {
            switch scalar.value {
            case 0xE00...0xEFF, 0x1100...0x11FF, 0x3000...0xD7FF, 0x1_F000...: false
            case ..<0x80: scalar.properties.isAlphabetic || 0x30...0x39 ~= scalar.value
            default:
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || scalar.properties.canonicalCombiningClass != .notReordered
            }
        }
        let (text, word) = (folded(text), folded(word))
        return (0..<max(0, text.count - word.count + 1)).contains { place in
            text[place...].starts(with: word) && !(isSpaced(word[0]) && place > 0 && isSpaced(text[place - 1]))
        }
    }

    @Test func `finds what a naive scan finds in ten languages`() throws {
        var random = SeededGenerator(seed: 9)
        let words = [
            "회의는", "정기회의록", "\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "東京都へ", "ｶﾞﾗｽ", "タワー", "人々", "𠮷野家", "會議",
            "会议取消",
            "ประชุม", "น้ำเย็น", "Überblick", "u\u{308}ber", "Grün", "çay", "ığdır", "👍🏽", "👨‍👩‍👧", "🇰🇷", "https://a.kr/길?b=1",
            "foo.bar(1)",
            "snake_case", "ＡＢＣ１２", "㎏", "سلام", "ﺳﻼﻡ", "الْعَرَبِيَّة", "שָׁלוֹם", "नमस्ते", "क़लम", "ПРИВЕТ", "tiếng",
        ]
        var found = 0
        for _ in 0..<10_000 {
            let chosen = (0..<Int.random(in: 1...5, using: &random)).map { _ in words.randomElement(using: &random)! }
            let text = chosen.map { $0 + [" ", " ", "", ", ", "。"].randomElement(using: &random)! }.joined()
            let word = Array((Bool.random(using: &random) ? chosen : words).randomElement(using: &random)!)
            let start = Int.random(in: 0..<word.count, using: &random)
            let part = String(word[start...].prefix(.random(in: 1...4, using: &random)))
            guard let query = try? SearchQuery(part) else { continue }
            let isFound = query.highlights(in: text) != nil
            found += isFound ? 1 : 0
            #expect(isFound == scan(text, for: part), "\(part) in \(text)")
        }
        #expect(found > 2000)
    }

    @Test func `never misses in the index what a scan of the texts finds`() throws {
        var random = SeededGenerator(seed: 4)
        let alphabets = [
            "abAB1ßüu\u{308}İı_'-.", "가각나회의는ㅋㅠㄱ\u{1100}\u{1161}\u{11A8}", "ｶﾞカ\u{3099}か会社㍿々ーﾞ　", "กิน้ำ\u{E4D}\u{E32}",
            "🎉👍🏽👩\u{200D}👧🇰🇷❤\u{FE0F}€", "a\u{301}\u{323}\u{302}e\u{328}\u{345}\u{AD}", "１２３㎏ﬁ½…™",
            "سلام\u{64B}ﻼلا١", "שלם\u{5B8}ץ־", "नमस्\u{94D}ते\u{93C}", "İIıiŞß", "𠮷\u{F902}龍\u{20000}〇", "々ゝヽーｰ",
            "ក\u{17D2}ម", "\u{1F1F0}\u{20E3}1",
        ].map { Array($0.unicodeScalars) + [" ", " "] }
        var found = 0
        for _ in 0..<10_000 {
            let letters = alphabets.randomElement(using: &random)! + alphabets.randomElement(using: &random)!
            func scalars(_ range: ClosedRange<Int>) -> [Unicode.Scalar] {
                (0..<Int.random(in: range, using: &random)).map { _ in letters.randomElement(using: &random)! }
            }
            let text = scalars(1...30)
            // Most queries are parts of the text, since others would hardly be found.
            var query = scalars(1...3)
            if Int.random(in: 0..<4, using: &random) > 0 {
                let start = Int.random(in: 0..<text.count, using: &random)
                query = Array(text[start...].prefix(Int.random(in: 1...6, using: &random)))
            }
            var string = String(String.UnicodeScalarView(query))
            if Bool.random(using: &random) { string = "\"" + string + "\"" }
            guard let query = try? SearchQuery(string) else { continue }
            let content = String(String.UnicodeScalarView(text))
            guard let highlights = query.highlights(in: content) else { continue }
            found += 1
            let tokens = SearchTokens.distinct(of: content)
            #expect(query.isFound(in: tokens), "\(string) in \(content)")
            #expect(highlights.allSatisfy { !$0.isEmpty && $0.upperBound <= content.utf16.count })
            #expect(zip(highlights, highlights.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
        }
        #expect(found > 2500)
    }
}

extension IndexTerm {
    fileprivate static func exact(_ token: String) -> IndexTerm { IndexTerm(token: token, isPrefix: false) }
    fileprivate static func prefix(_ token: String) -> IndexTerm { IndexTerm(token: token, isPrefix: true) }
}

extension SearchQuery {
    /// Returns true if the tokens of a text answer all that the query asks of the index.
    fileprivate func isFound(in tokens: [String]) -> Bool {
        indexTerms.allSatisfy { term in
            tokens.contains {
                term.isPrefix ? $0.utf8.starts(with: term.token.utf8) : $0.utf8.elementsEqual(term.token.utf8)
            }
        }
    }
}
