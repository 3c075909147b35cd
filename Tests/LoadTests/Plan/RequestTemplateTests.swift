import Testing

@testable import Load

@Suite struct RequestTemplateTests {
    static func request(_ template: RequestTemplate) -> String {
        var bytes: [UInt8] = []
        var scratch: [UInt8] = []
        template.append(TemplateTests.values, to: &bytes, scratch: &scratch)
        return String(decoding: bytes, as: UTF8.self)
    }

    static func template(
        _ method: String = "POST", headers: [String] = [], body: String? = "{mark}{pad}", size: Int = 20
    ) throws -> RequestTemplate {
        let endpoint = try Endpoint("http://h:1/p/{room}?u={pub}", schemes: ["http"], source: "")
        return try RequestTemplate(method: method, endpoint: endpoint, headers: headers, body: body, size: size)
    }

    @Test func `a request has its length, and its body is padded`() throws {
        #expect(
            Self.request(try Self.template())
                == "POST /p/1?u=3 HTTP/1.1\r\nHost: h:1\r\nContent-Type: application/json\r\n"
                + "Content-Length: 20\r\n\r\nBSL:9:1:4:5;xxxxxxxx")
    }

    @Test func `a body longer than the size is kept`() throws {
        #expect(Self.request(try Self.template(size: 5)).hasSuffix("Content-Length: 12\r\n\r\nBSL:9:1:4:5;"))
        #expect(Self.request(try Self.template(body: "{seq}")).hasSuffix("Content-Length: 1\r\n\r\n4"))
    }

    @Test func `headers are templates, and a given content type replaces the default`() throws {
        let text = Self.request(try Self.template(headers: ["content-type: text/plain", "X-Seq: {seq}"]))
        #expect(text.contains("\r\ncontent-type: text/plain\r\nX-Seq: 4\r\nContent-Length"))
        #expect(!text.contains("application/json"))
    }

    @Test func `a request without a body has no length`() throws {
        #expect(Self.request(try Self.template("GET", body: nil)) == "GET /p/1?u=3 HTTP/1.1\r\nHost: h:1\r\n\r\n")
    }

    @Test func `another protocol's request surrounds its body, and has its length`() throws {
        let template = try RequestTemplate(
            frame: "PUB {room} {length}\r\n{body}\r\nPING {seq}\r\n", body: "{mark}{pad}", size: 20)
        #expect(Self.request(template) == "PUB 1 20\r\nBSL:9:1:4:5;xxxxxxxx\r\nPING 4\r\n")
        #expect(Self.request(try RequestTemplate(frame: "{body}", body: "{seq}", size: 9)) == "4")
    }

    @Test(arguments: ["", "{length}", "{body}{body}", "{body}{mark}", "{pad}{body}", "{conn}{body}"])
    func `an invalid frame is refused`(frame: String) {
        let error = #expect(throws: LoadError.self) { try RequestTemplate(frame: frame, body: "{mark}", size: 9) }
        #expect(error?.description.hasPrefix("--tcp-frame") == true)
    }

    @Test(arguments: ["X", ": x", "A B: c", "A: b\r\nC: d", "A: \u{0}"])
    func `an invalid header is refused`(header: String) {
        #expect(throws: LoadError.self) { try Self.template(headers: [header]) }
    }

    @Test func `an invalid method is refused`() {
        #expect(throws: LoadError.self) { try Self.template("") }
        #expect(throws: LoadError.self) { try Self.template("A B") }
    }
}
