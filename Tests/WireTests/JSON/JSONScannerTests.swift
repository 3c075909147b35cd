import Testing
import Wire

@Suite struct JSONScannerTests {
    /// Reads a whole text, and returns it without whitespace and needless escapes.
    private func compact(_ text: [UInt8]) throws(Problem) -> String {
        var json = try JSONScanner(text)
        let value = try json.readCompact()
        try json.finish()
        return String(decoding: value.bytes, as: UTF8.self)
    }

    private func compact(_ text: String) throws(Problem) -> String {
        try compact(Array(text.utf8))
    }

    @Test(arguments: [
        ("null", "null"), (" true ", "true"), ("\r\n\tfalse", "false"), ("0", "0"), ("-0", "-0"), ("-12", "-12"),
        ("1.50", "1.50"), ("1E5", "1E5"), ("1e+05", "1e+05"), ("1e-5", "1e-5"), ("0.0", "0.0"), ("1e400", "1e400"),
        ("123456789012345678901234567890", "123456789012345678901234567890"), ("\"\"", "\"\""), ("[]", "[]"),
        ("[ ]", "[]"), ("{ }", "{}"), ("[ 1 , 2 ]", "[1,2]"), ("[[ ], {}]", "[[],{}]"),
        ("{ \"a\" : 1 , \"b\" : [ { \"c\" : null } ] }", "{\"a\":1,\"b\":[{\"c\":null}]}"),
        ("[{\"a\":1},{\"a\":2}]", "[{\"a\":1},{\"a\":2}]"), ("{\"\":0}", "{\"\":0}"),
        ("{\"a\":{\"a\":{\"a\":1}}}", "{\"a\":{\"a\":{\"a\":1}}}"),
    ])
    func `a value is parsed by the grammar and written without whitespace`(text: String, expected: String) throws {
        #expect(try compact(text) == expected)
    }

    @Test(arguments: [
        #""\/\u0041\u00e9""#: #""/Aé""#, #""\"\\""#: #""\"\\""#, #""\b\f\n\r\t""#: #""\b\f\n\r\t""#,
        #""\u0008\u000A\u001F\u007f""#: "\"\\b\\n\\u001f\u{7F}\"", #""\uD83D\uDE00""#: #""😀""#,
        #""\ud83d\ude00x""#: #""😀x""#, #""\uDBFF\uDFFF""#: "\"\u{10FFFF}\"", #""\u0000""#: #""\u0000""#,
        #""\u2028\uFFFF\ufeff""#: "\"\u{2028}\u{FFFF}\u{FEFF}\"", #""1234567\n1234567\t""#: #""1234567\n1234567\t""#,
        #"{"\u0061\n":1}"#: #"{"a\n":1}"#,
    ])
    func `strings keep only the escapes they need`(text: String, expected: String) throws {
        #expect(try compact(text) == expected)
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "tru", "True", "fals", "NaN", "Infinity", "-", "+1", "01", "-01", "00", ".5", "1.",
        "1.e5", "1e", "1e+", "0x1", "1_000", "- 1", "'a'", "\"", "\"a", "\"\\", "\"\\u12\"", "\"\\u12g4\"", "\"\\x41\"",
        "\"\\\"", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]",
        "[1,,2]", "[1}", "{", "}", "{]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{,}", "{a:1}",
        "{1:1}", "{\"a\" 1}", "{\"a\"::1}", "{\"a\":1 \"b\":2}", "{\"a\":1]", "{\"a\":}", "{null:1}", "1 2", "{} {}",
        "[]]", "{}}", "\"a\" \"b\"", "[1] // no", "/* no */ 1", "{}#", "{},", "\u{A0}1", "\u{FEFF}{}",
    ])
    func `text that is not JSON is refused`(text: String) {
        let fault = problem { () throws(Problem) in try compact(text) }
        #expect(fault?.status == 400)
        #expect(fault?.code == .invalidJSON)
    }

    @Test func `control characters are refused, in strings and instead of whitespace`() throws {
        for byte in UInt8(0x00)..<0x20 {
            let quote = UInt8(ascii: "\"")
            #expect(problem { () throws(Problem) in try compact([quote, byte, quote]) }?.code == .invalidJSON)
            guard ![0x09, 0x0A, 0x0D].contains(byte) else { continue }
            for text in [[byte, quote, quote], [quote, quote, byte]] {
                #expect(problem { () throws(Problem) in try compact(text) }?.code == .invalidJSON)
            }
        }
        #expect(try compact("\"\u{7F}\"") == "\"\u{7F}\"")
    }

    @Test(arguments: [
        #""\ud800""#, #""\udc00""#, #""\ud800x""#, #""\ud800\n""#, #""\ud800\ud800""#, #""\udc00\ud800""#,
        #""\ud800\u0041""#, #""\ud83d\ude0""#, #""\ud800\""#, #"{"\udfff":1}"#, #"[{"a":["\uDBFF"]}]"#,
    ])
    func `lone surrogates are refused`(text: String) {
        #expect(problem { () throws(Problem) in try compact(text) }?.code == .invalidJSON)
    }

    @Test(arguments: [
        [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xE2, 0x82],
    ])
    func `invalid UTF-8 is refused inside and outside of strings`(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        for text in [[quote] + bytes + [quote], bytes + [quote, quote], [quote, quote] + bytes] {
            #expect(problem { () throws(Problem) in try compact(text) }?.code == .invalidJSON)
        }
    }

    @Test(arguments: [
        #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":2}"#, #"{"\u0061":1,"\u0061":2}"#,
        #"{"é":1,"\u00e9":2}"#, #"{"x":{"a":1,"a":2}}"#, #"[[{"":1,"":2}]]"#, #"{"a":{},"b":{},"a":{}}"#,
        #"{"\/":1,"/":2}"#, #"{"😀":1,"\uD83D\uDE00":2}"#,
    ])
    func `a repeated member name is refused at any depth`(text: String) {
        #expect(problem { () throws(Problem) in try compact(text) }?.code == .invalidJSON)
    }

    @Test func `names that only look or sort alike are different`() throws {
        // The second é is e with a combining accent: equal to the first as a String, but not as JSON.
        for text in [#"{"a":1,"A":2,"aa":3,"":4}"#, "{\"\u{E9}\":1,\"e\u{301}\":2}", #"{"a":{"a":1},"b":{"a":1}}"#] {
            #expect(try compact(text) == text)
        }
    }

    @Test(arguments: [8, 9, 20, 20_000])
    func `a repeated name is found among many`(count: Int) throws {
        let members = (0..<count).map { "\"k\($0)\":0" }
        #expect(try compact("{" + members.joined(separator: ",") + "}").utf8.count > count)
        for index in [0, count / 2, count - 1] {
            let repeated = members + ["\"\\u006b\(index)\":1"]
            #expect(problem { () throws(Problem) in try compact("{" + repeated.joined(separator: ",") + "}") } != nil)
        }
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func `nesting beyond the limit is refused, and no depth exhausts the stack`(opening: String) {
        let text = String(repeating: opening, count: 256 * 1024 / opening.utf8.count)
        let fault = problem { () throws(Problem) in try compact(text) }
        #expect(fault?.code == .invalidJSON)
        #expect(fault?.limit == Limits.readerDepth)
    }

    @Test func `nesting is allowed up to the reader's limit`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try compact(nested(Limits.readerDepth)) == nested(Limits.readerDepth))
        #expect(problem { () throws(Problem) in try compact(nested(Limits.readerDepth + 1)) } != nil)
    }

    @Test func `compact values have a depth, and tell if they contain U+0000`() throws {
        func value(_ text: String) throws(Problem) -> CompactJSON {
            var json = try JSONScanner(Array(text.utf8))
            return try json.readCompact()
        }
        #expect(try value("1").depth == 0)
        #expect(try value("{}").depth == 1)
        #expect(try value(#"{"a":[],"b":[[1]],"c":{}}"#).depth == 3)
        #expect(try !value(#"{"a":"\\u0000"}"#).hasNUL)
        #expect(try value(#"{"a":["x\u0000"]}"#).hasNUL)
        #expect(try value(#"{"\u0000":1}"#).hasNUL)
    }

    @Test func `values are read one by one, and skipped if not needed`() throws {
        var json = try JSONScanner(Array(#"{"skip":{"a":[1,{"b":2}]},"list":[true,"x",-5],"end":null}"#.utf8))
        try json.enterObject()
        var names: [String] = []
        while let name = try json.nextName() {
            names.append(json.string(name))
            guard json.matches(name, "list") else {
                try json.skipValue()
                continue
            }
            try json.enterArray()
            #expect(json.depth == 2)
            #expect(try json.nextElement())
            #expect(try json.readBoolean())
            #expect(try json.nextElement())
            #expect(json.string(try json.readString()) == "x")
            #expect(try json.nextElement())
            #expect(json.integer(try json.readNumber()) == -5)
            #expect(try !json.nextElement())
        }
        try json.finish()
        #expect(names == ["skip", "list", "end"])
        #expect(json.depth == 0)
    }

    @Test func `names match in any escaped form`() throws {
        var json = try JSONScanner(Array(#"{"t\u0065xt":1}"#.utf8))
        try json.enterObject()
        let name = try #require(try json.nextName())
        #expect(json.matches(name, "text"))
        #expect(!json.matches(name, "texts"))
        #expect(!json.matches(name, "tex"))
        #expect(!json.matches(name, "tent"))
        #expect(name.count == 4)
    }
}
