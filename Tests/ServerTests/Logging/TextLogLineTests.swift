import Logging
import Testing
import Wire

@testable import Server

@Suite struct TextLogLineTests {
    private func line(_ event: LogEvent) -> String {
        let handler = LineLogHandler(label: "", format: .text, level: .info, output: .standardError)
        return String(decoding: handler.line(event, at: Timestamp(milliseconds: 1_795_223_105_004)), as: UTF8.self)
    }

    @Test func `a line has the time and level, the message, and its metadata`() {
        let event = LogEvent("listening", metadata: ["port": "8080", "address": "::1"])
        #expect(line(event) == "2026-11-21T01:05:05.004Z info     listening address=::1 port=8080\n")
        #expect(line(LogEvent("x", level: .critical)) == "2026-11-21T01:05:05.004Z critical x\n")
    }

    @Test(arguments: [
        ("plain", "plain"), ("two words", #""two words""#), ("", #""""#), ("a=b", #""a=b""#), (#"a"b"#, #""a\"b""#),
        (#"a\b"#, #""a\\b""#), ("é😀", "é😀"), ("a\nb", #""a\nb""#), ("a\u{85}b", #"a\u{0085}b"#),
    ])
    func `a value is quoted where needed`(value: String, expected: String) {
        #expect(line(LogEvent("m", metadata: ["k": "\(value)"])).hasSuffix(" m k=\(expected)\n"))
    }

    @Test func `nested metadata has dots in its keys`() {
        let event = LogEvent("m", metadata: ["a": ["y": "2", "x": ["u", "v"]], "b": .stringConvertible(5)])
        #expect(line(event).hasSuffix(" m a.x.0=u a.x.1=v a.y=2 b=5\n"))
    }

    @Test func `no value can start a new line or move the cursor`() {
        let text = line(LogEvent("a\r\nb\u{1B}[2J\u{9B}\u{2028}", metadata: ["k\n": "\u{1B}"]))
        #expect(text.utf8.dropLast().allSatisfy { $0 >= 0x20 })
        #expect(
            text.unicodeScalars.dropLast().allSatisfy {
                $0.properties.generalCategory != Unicode.GeneralCategory.control
            })
        #expect(text.hasSuffix(#"a\r\nb\u{1B}[2J\u{009B}\u{2028} k\n="\u{1B}""# + "\n"))
    }

    @Test func `secrets are removed`() {
        let event = LogEvent(
            "GET /?access_token=x",
            metadata: ["token": ["x": "x"], "headers": ["cookie": "x"], "target": "/?access_token=x&y"])
        #expect(line(event).contains(" GET /?access_token=[redacted] headers.cookie=[redacted] target="))
        #expect(line(event).hasSuffix(#" target="/?access_token=[redacted]&y" token=[redacted]"# + "\n"))
    }

    @Test func `an error has its text and its type`() {
        let text = line(LogEvent("m", level: .error, error: DiskFull()))
        #expect(text.hasSuffix(#" m error.message="disk \"full\"" error.type=ServerTests.DiskFull"# + "\n"))
    }
}
