import Testing
import Wire

@Suite("A profile")
struct ProfileTests {
    @Test func `is written without what it does not have`() throws {
        let bob = try UserID("bob")
        let whole = Profile(user: bob, name: "B\"", avatar: "https://x/y", data: Array(#"{"a":1}"#.utf8))
        #expect(
            written(Profiles([whole, Profile(user: try UserID("carol"))]).encode)
                == #"{"profiles":[{"user":"bob","name":"B\"","avatar":"https://x/y","data":{"a":1}},{"user":"carol"}]}"#
        )
        let member = RoomMember(user: bob, role: .member, profile: whole)
        #expect(written(member.encode).hasPrefix(#"{"user":"bob","role":"member","profile":{"user":"bob","name""#))
    }

    @Test func `changes by what its settings have; empty values remove`() throws {
        var profile = Profile(user: try UserID("bob"))
        func set(_ body: String) throws { profile = profile.applying(try ProfileSettings.decode(Array(body.utf8))) }
        try set(#"{"name":"Bob","avatar":"https://x/y","data":{ "a" : 1 },"more":1}"#)
        #expect(profile.name == "Bob" && profile.avatar == "https://x/y" && profile.data == Array(#"{"a":1}"#.utf8))
        try set(#"{"name":null,"data":null}"#)
        #expect(profile.name == "Bob" && profile.avatar == "https://x/y" && !profile.data.isEmpty)
        try set(#"{"name":"","avatar":"","data":{}}"#)
        #expect(profile == Profile(user: profile.user))
    }

    @Test(arguments: [
        ("", "invalid_json"), ("[]", "invalid_json"), (#"{"name":1}"#, "invalid_field"),
        (#"{"avatar":"ftp://x/y"}"#, "invalid_field"), (#"{"avatar":"javascript:1"}"#, "invalid_field"),
        (#"{"data":[1]}"#, "invalid_field"), (#"{"name":"\u0000"}"#, "nul_character"),
        ("{\"name\":\"\(String(repeating: "é", count: 129))\"}", "too_long"),
        ("{\"avatar\":\"https://x/\(String(repeating: "x", count: 2039))\"}", "too_long"),
        ("{\"data\":{\"a\":\"\(String(repeating: "x", count: 2041))\"}}", "too_long"),
        ("{\"data\":\(String(repeating: "{\"a\":", count: 65))1\(String(repeating: "}", count: 65))}", "too_deep"),
    ])
    func `is refused if a value has a wrong type or exceeds its bound`(body: String, code: String) throws {
        let problem = #expect(throws: Problem.self) { try ProfileSettings.decode(Array(body.utf8)) }
        #expect(problem?.code.string == code)
    }

    @Test func `may reach its bounds`() throws {
        let body =
            "{\"name\":\"\(String(repeating: "é", count: 128))\",\"avatar\":\"https://x/\(String(repeating: "x", count: 2038))\","
            + "\"data\":{\"a\":\"\(String(repeating: "x", count: 2040))\"}}"
        let settings = try ProfileSettings.decode(Array(body.utf8))
        #expect(settings.name?.utf8.count == 256 && settings.avatar?.utf8.count == 2048 && settings.data?.count == 2048)
    }

    @Test func `takes from claims what it can have, and ignores the rest`() {
        #expect(
            ProfileSettings(claimedName: "Bob", picture: "https://x/y")
                == ProfileSettings(name: "Bob", avatar: "https://x/y"))
        #expect(ProfileSettings(claimedName: "Bob", picture: "x") == ProfileSettings(name: "Bob"))
        #expect(ProfileSettings(claimedName: nil, picture: nil) == nil)
        for name in ["", "a\0", String(repeating: "x", count: 257)] {
            #expect(ProfileSettings(claimedName: name, picture: nil) == nil)
        }
    }

    @Test func `is asked for by at most 100 ids`() throws {
        #expect(try Profiles.parseUsers("b,a,b").map(\.string) == ["b", "a"])
        let ids = (1...100).map(String.init).joined(separator: ",")
        #expect(try Profiles.parseUsers(ids).count == 100)
        for (text, code) in [
            (nil, "invalid_field"), ("", "invalid_field"), ("a,,b", "invalid_user"), ("a b", "invalid_user"),
            (ids + ",x", "too_many"),
        ] as [(String?, String)] {
            let problem = #expect(throws: Problem.self) { try Profiles.parseUsers(text) }
            #expect(problem?.code.string == code)
        }
    }
}
