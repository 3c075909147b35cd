import Testing
import Wire

@Suite("What may disturb")
struct NotifySettingsTests {
    @Test func `is written with all that differs from nothing`() throws {
        let until = try #require(Timestamp(rfc3339: "2099-01-01T00:00:00Z"))
        #expect(
            written(NotifySettings(level: .none, until: until, roomMentions: false).encode)
                == #"{"level":"none","until":"2099-01-01T00:00:00.000Z","room_mentions":false}"#)
        #expect(written(NotifySettings().encode) == #"{"level":"all","room_mentions":true}"#)
    }

    @Test func `is read with the defaults of what is absent`() throws {
        func read(_ body: String) throws -> NotifySettings { try NotifySettings.decode(Array(body.utf8)) }
        #expect(
            try read(#"{"level":"mentions","until":null,"room_mentions":null,"x":1}"#)
                == NotifySettings(level: .mentions))
        #expect(try read(#"{"level":"all","room_mentions":false}"#) == NotifySettings(roomMentions: false))
        #expect(try read(#"{"level":"none","until":"1970-01-01T00:00:01Z"}"#).until == Timestamp(milliseconds: 1000))
    }

    @Test func `ends at its time, and is the default if it differs in nothing`() {
        let settings = NotifySettings(level: .none, until: Timestamp(milliseconds: 5))
        #expect(
            settings.isInForce(at: Timestamp(milliseconds: 4)) && !settings.isInForce(at: Timestamp(milliseconds: 5)))
        #expect(NotifySettings(level: .none).isInForce(at: Timestamp(milliseconds: 1 << 40)))
        #expect(
            NotifySettings(until: Timestamp(milliseconds: 5)).isDefault
                && !NotifySettings(roomMentions: false).isDefault)
    }

    @Test(arguments: [
        ("", "invalid_json"), ("[]", "invalid_json"), ("{}", "invalid_field"), (#"{"level":1}"#, "invalid_field"),
        (#"{"level":"ALL"}"#, "invalid_field"), (#"{"level":null}"#, "invalid_field"),
        (#"{"level":"all","until":1}"#, "invalid_field"), (#"{"level":"all","until":"soon"}"#, "invalid_field"),
        (#"{"level":"all","room_mentions":1}"#, "invalid_field"),
    ])
    func `is refused if a field is absent, unknown or of a wrong type`(body: String, code: String) throws {
        let problem = #expect(throws: Problem.self) { try NotifySettings.decode(Array(body.utf8)) }
        #expect(problem?.code.string == code)
    }
}
