import Testing

@testable import Load

@Suite struct TemplateTests {
    static let values = Template.Values(
        run: 9, room: 1, subscriber: 2, publisher: 3, number: 4, time: 5, random: -6, padding: 7, length: 8)

    @Test func `every placeholder is replaced`() throws {
        let text = "{run} {room} {conn} {pub} {seq} {ts} {rand} {mark} {pad} {length}"
        #expect(try Template(text, source: "").text(Self.values) == "9 1 2 3 4 5 -6 BSL:9:1:4:5; xxxxxxx 8")
    }

    @Test(arguments: [#"{"text":"{}"}"#, "{", "}", "{room", "{ROOM}", "{ room}", "{{}", "{1}", ""])
    func `other braces are kept`(text: String) throws {
        #expect(try Template(text, source: "").text(Self.values) == text)
    }

    @Test func `placeholders can be used within JSON`() throws {
        #expect(
            try Template(#"{"a":{room},"b":"{seq}"}{{pub}}"#, source: "").text(Self.values) == #"{"a":1,"b":"4"}{3}"#)
    }

    @Test func `an unknown placeholder is an error that lists the known ones`() {
        let unknown = #expect(throws: LoadError.self) {
            try Template("x{user}", source: "--ws", allowed: [.room, .conn])
        }
        #expect(unknown?.description == "--ws: {user} cannot be filled in here; there is {room} {conn}")
        #expect(throws: LoadError.self) { try Template("{mark}", source: "--ws", allowed: [.room]) }
    }

    @Test func `a template knows its placeholders`() throws {
        let template = try Template("a{pad}", source: "")
        #expect(template.contains(.pad) && !template.contains(.mark))
    }
}
