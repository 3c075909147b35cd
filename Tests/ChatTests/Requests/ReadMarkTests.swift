import Chat
import Testing
import Wire

@Suite struct ReadMarkTests {
    @Test(
        arguments: [
            (#"{"seq":0}"#, 0), (#"{"seq":120}"#, 120), (#"{"more":[1],"seq":1e2}"#, 100),
            (#"{"seq":9223372036854775807}"#, Int64.max),
        ] as [(String, Int64)])
    func `a seq is parsed`(body: String, seq: Int64) throws {
        #expect(try ReadMark.decode(Array(body.utf8)) == seq)
    }

    @Test(arguments: [
        ("", "invalid_json"), ("7", "invalid_json"), ("[]", "invalid_json"), (#"{"seq":1"#, "invalid_json"),
        (#"{"seq":1,"seq":1}"#, "invalid_json"), ("{}", "invalid_field"), (#"{"seq":null}"#, "invalid_field"),
        (#"{"seq":"1"}"#, "invalid_field"), (#"{"seq":1.5}"#, "invalid_field"), (#"{"seq":-1}"#, "invalid_field"),
        (#"{"seq":9223372036854775808}"#, "invalid_field"),
    ])
    func `an invalid seq is refused`(body: String, code: String) throws {
        let problem = #expect(throws: Problem.self) { try ReadMark.decode(Array(body.utf8)) }
        #expect(problem?.status == 400 && problem?.code.string == code)
        #expect(problem?.field == (code == "invalid_field" ? "seq" : nil))
    }
}
