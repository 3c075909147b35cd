import Testing
import Wire

@Suite struct IDTests {
    @Test(arguments: ["a", "Z", "0", "lobby", "a.b_c~d-e", "0-", String(repeating: "r", count: 128)])
    func `a room id consists of letters, digits and four other characters`(string: String) throws {
        #expect(try RoomID(string).string == string)
        #expect(try RoomID(string[...]).description == string)
    }

    @Test func `the id of a direct room is an at sign and 22 characters of base64url`() throws {
        for string in ["@FBpM0kK2foLt9KeLtBjUCm", "@----------____________"] {
            #expect(try RoomID(string).string == string && RoomID(string).isDirect)
        }
        #expect(try !RoomID("lobby").isDirect)
        for string in [
            "@", "@FBpM0kK2foLt9KeLtBjUC", "@FBpM0kK2foLt9KeLtBjUCmm", "@FBpM0kK2foLt9KeLtBjUC.",
            "@@BpM0kK2foLt9KeLtBjUCm",
        ] {
            #expect(problem { () throws(Problem) in try RoomID(string) } == .invalidRoom)
        }
    }

    @Test(arguments: [
        "", ".", "-a", "_a", "~a", "a b", "a/b", "a%20", "é", "aé", "a\u{0}", "a:b", "a\n", "💬",
        String(repeating: "r", count: 129),
    ])
    func `any other room id is refused`(string: String) {
        #expect(problem { () throws(Problem) in try RoomID(string) } == .invalidRoom)
        #expect(Problem.invalidRoom.status == 400)
    }

    @Test(arguments: [
        "a", "alice", "alice@example.org", "auth0|5f7c", "Ünï-çødé", "日本", "👩‍🚀", "❤️", "...", ".a",
        "~!\"#$%&'()*+,/:;<=>?@[\\]^_`{|}",
        String(repeating: "é", count: 64),
    ])
    func `a user id is printable UTF-8 without spaces`(string: String) throws {
        #expect(try UserID(string).string == string)
        #expect(try UserID(string[...]).description == string)
    }

    @Test func `any other user id is refused`() {
        for string in [
            "", " ", ".", "..", "a b", "a\tb", "a\n", "a\u{0}", "\u{7F}", "\u{80}", "\u{85}", "a\u{A0}", "\u{2003}",
            "\u{2028}",
            "\u{2029}", "\u{3000}", "\u{200B}", "\u{202E}a", "\u{FEFF}", "\u{1680}", "\u{FFFF}", "\u{E000}\u{200E}",
            String(repeating: "é", count: 64) + "a", String(repeating: "u", count: 129),
        ] {
            #expect(problem { () throws(Problem) in try UserID(string) } == .invalidUser)
        }
        #expect(Problem.invalidUser.status == 400)
    }

    @Test func `users are compared by their bytes`() throws {
        let composed = try UserID("\u{E9}")
        let decomposed = try UserID("e\u{301}")
        #expect(composed.string == decomposed.string)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, try UserID("\u{E9}")]).count == 2)
    }
}
