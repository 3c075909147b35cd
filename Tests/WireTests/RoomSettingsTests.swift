import Testing
import Wire

@Suite struct RoomSettingsTests {
    @Test(arguments: [
        ("{}", RoomSettings()), (#"{"visibility":null,"title":null,"more":[]}"#, RoomSettings()),
        (#"{"visibility":"private","title":"The room"}"#, RoomSettings(visibility: .private, title: "The room")),
        (#"{"visibility":"open","title":""}"#, RoomSettings(visibility: .open, title: "")),
    ])
    func `settings are parsed, and absent ones stay as they are`(body: String, settings: RoomSettings) throws {
        #expect(try RoomSettings.decode(Array(body.utf8)) == settings)
    }

    @Test(arguments: [
        ("", "invalid_json"), ("[]", "invalid_json"), (#"{"visibility":"hidden"}"#, "invalid_field"),
        (#"{"visibility":1}"#, "invalid_field"), (#"{"title":1}"#, "invalid_field"),
        (#"{"title":"\u0000"}"#, "nul_character"),
    ])
    func `invalid settings are refused`(body: String, code: String) throws {
        let problem = #expect(throws: Problem.self) { try RoomSettings.decode(Array(body.utf8)) }
        #expect(problem?.code.string == code)
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
