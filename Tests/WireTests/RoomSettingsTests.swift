import Testing
import Wire

@Suite struct RoomSettingsTests {
    @Test(arguments: [
        ("{}", RoomSettings()), (#"{"visibility":null,"title":null,"more":[]}"#, RoomSettings()),
        (#"{"visibility":"private","title":"The room"}"#, RoomSettings(visibility: .private, title: "The room")),
        (#"{"visibility":"open","title":""}"#, RoomSettings(visibility: .open, title: "")),
        (
            #"{"posting":"owners","pinning":"members","slow_seconds":3600,"keep_days":36500,"avatar":"https://x/a.png","data":{ "a": 1 },"searchable":false}"#,
            RoomSettings(
                posting: .owners, pinning: .members, slowSeconds: 3600, keepDays: 36_500, avatar: "https://x/a.png",
                data: Array(#"{"a":1}"#.utf8), isSearchable: false)
        ),
        (
            #"{"posting":"members","slow_seconds":0,"keep_days":0,"avatar":"","data":{}}"#,
            RoomSettings(posting: .members, slowSeconds: 0, keepDays: 0, avatar: "", data: [])
        ),
        (#"{"posting":null,"slow_seconds":null,"keep_days":null,"avatar":null,"data":null}"#, RoomSettings()),
    ])
    func `settings are parsed, and absent ones stay as they are`(body: String, settings: RoomSettings) throws {
        #expect(try RoomSettings.decode(Array(body.utf8)) == settings)
        #expect(try RoomSettings.decode(Array(written(settings.encode).utf8)) == settings)
    }

    @Test(arguments: [
        ("", "invalid_json"), ("[]", "invalid_json"), (#"{"visibility":"hidden"}"#, "invalid_field"),
        (#"{"visibility":1}"#, "invalid_field"), (#"{"title":1}"#, "invalid_field"),
        (#"{"title":"\u0000"}"#, "nul_character"), (#"{"posting":"nobody"}"#, "invalid_field"),
        (#"{"posting":true}"#, "invalid_field"), (#"{"pinning":"all"}"#, "invalid_field"),
        (#"{"slow_seconds":-1}"#, "invalid_field"),
        (#"{"slow_seconds":3601}"#, "invalid_field"), (#"{"slow_seconds":0.5}"#, "invalid_field"),
        (#"{"keep_days":-1}"#, "invalid_field"), (#"{"keep_days":36501}"#, "invalid_field"),
        (#"{"avatar":"http://x"}"#, "invalid_field"), (#"{"avatar":"x"}"#, "invalid_field"),
        (#"{"searchable":1}"#, "invalid_field"), (#"{"data":[]}"#, "invalid_field"),
        (#"{"data":{"a":"\u0000"}}"#, "nul_character"),
        (#"{"avatar":"https://x/\#(String(repeating: "x", count: 2039))"}"#, "too_long"),
        (#"{"data":{"a":"\#(String(repeating: "x", count: 2041))"}}"#, "too_long"),
    ])
    func `invalid settings are refused`(body: String, code: String) throws {
        let problem = #expect(throws: Problem.self) { try RoomSettings.decode(Array(body.utf8)) }
        #expect(problem?.code.string == code)
    }

    @Test func `a picture and data of the maximum size are taken`() throws {
        let (url, data) = (
            "https://x/" + String(repeating: "x", count: 2038), #"{"a":"\#(String(repeating: "x", count: 2040))"}"#
        )
        let settings = try RoomSettings.decode(Array(#"{"avatar":"\#(url)","data":\#(data)}"#.utf8))
        #expect(settings.avatar?.utf8.count == 2048 && settings.data?.count == 2048)
    }

    @Test(
        arguments: [("", nil), ("{}", nil), (#"{"role":null}"#, nil), (#"{"role":"owner"}"#, .owner)]
            as [(String, RoomMember.Role?)])
    func `a role is parsed if present`(body: String, role: RoomMember.Role?) throws {
        #expect(try RoomMember.decodeRole(Array(body.utf8)) == role)
    }

    @Test func `members are encoded in order`() throws {
        let members = [
            RoomMember(user: try UserID("a\""), role: .owner), RoomMember(user: try UserID("b"), role: .member),
        ]
        let text = #"{"members":[{"user":"a\"","role":"owner"},{"user":"b","role":"member"}],"has_more":true}"#
        #expect(written(RoomMembers(members: members, hasMore: true).encode) == text)
        #expect(written(RoomMembers(members: [], hasMore: false).encode) == #"{"members":[],"has_more":false}"#)
    }
}
