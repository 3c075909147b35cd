import HTTPTypes
import Testing

@testable import HTTP

@Suite("Header fields, RFC 9112, section 5")
struct HeaderFieldTests {
    @Test func `Fields keep their order and values, without surrounding white space`() throws {
        let text = head("Content-Type:application/json", "X-A: \t b  c\t ", "accept:*/*", "X-Empty:", "X-A: d")
        let fields = try #require(onlyRequest(in: text)).head.headerFields
        #expect(
            fields.map { "\($0.name.canonicalName)=\($0.value)" }
                == ["content-type=application/json", "x-a=b  c", "accept=*/*", "x-empty=", "x-a=d"])
        #expect(fields.first(.contentType) == "application/json")
        #expect(fields.first(.contentType, is: "application/json"))
        #expect(!fields.first(.contentType, is: "application/jsox"))
        #expect(!fields.first(.accept, is: "*/"))
        #expect(!fields.first(.cookie, is: ""))
    }

    @Test func `Host becomes the authority and is not among the fields`() throws {
        let request = try #require(onlyRequest(in: head()))
        #expect(request.head.headerFields.isEmpty)
        #expect(request.head.authority == "h")
    }

    @Test(arguments: ["authorization", "AUTHORIZATION", "aUthOrizatioN"])
    func `Names are recognized in any case`(name: String) {
        #expect(onlyRequest(in: head("\(name): x"))?.head.headerFields.first(.authorization) == "x")
    }

    @Test func `An unknown name keeps its case and is found in any case`() throws {
        let request = try #require(onlyRequest(in: head("X-Thing: 1")))
        let name = try #require(HTTPField.Name("x-thing"))
        #expect(request.head.headerFields.first(name) == "1")
        #expect(request.head.headerFields.first?.name.rawName == "X-Thing")
    }

    @Test(arguments: [
        "X : a", "X\t: a", ": a", "X Y: a", "X(: a", "X\"Y\": a", "X/Y: a", "é: a", "X@: a",
        "Transfer-Encoding : chunked",
        "Content-Length\t: 5", "[X]: a", "X\\: y",
    ])
    func `A name that is not a token is refused, especially with white space before the colon`(line: String) {
        #expect(refusal(head(line)) == "400 field_name_invalid")
    }

    @Test(arguments: ["X", "X y", "GET / HTTP/1.1"])
    func `A line without a colon is refused`(line: String) {
        #expect(refusal(head(line)) == "400 field_line_invalid")
    }

    @Test(arguments: [" b", "\tb", " X: y", "  ", " "])
    func `A folded line is refused, also as the first one`(line: String) {
        #expect(refusal(head("X: a", line)) == "400 line_folded")
        #expect(refusal("GET / HTTP/1.1\r\n\(line)\r\nHost: a\r\n\r\n") == "400 line_folded")
    }

    @Test func `A control character in a value is refused, except the tab`() {
        for byte in (0...0x1F).map(UInt8.init) + [0x7F] {
            var text = Array("GET / HTTP/1.1\r\nHost: h\r\nX: a".utf8)
            text.append(byte)
            text += Array("b\r\n\r\n".utf8)
            let outcome = feed([text])
            switch byte {
            case 0x09: #expect(outcome.requests.first?.fields == ["x: a\tb"])
            case 0x0A, 0x0D: #expect(outcome.refusal?.code == "line_end_invalid")
            default: #expect(outcome.refusal?.code == "field_value_invalid")
            }
            #expect(drip(text) == outcome)
        }
    }

    @Test func `A value in UTF-8 becomes a string; other bytes are kept as they are`() throws {
        #expect(try #require(onlyRequest(in: head("X: grüße ❤️"))).head.headerFields.first?.value == "grüße ❤️")
        var parser = RequestParser()
        parser.append((Array("GET / HTTP/1.1\r\nHost: h\r\nX: ".utf8) + [0xE9, 0xFF] + Array("\r\n\r\n".utf8)).span)
        guard case .request(let request) = try parser.next() else {
            Issue.record("no request")
            return
        }
        let field = try #require(request.head.headerFields.first)
        #expect(field.withUnsafeBytesOfValue { Array($0) } == [0xE9, 0xFF])
        #expect(field.value == "\u{FFFD}\u{FFFD}")
    }

    @Test func `The first of several fields is found without joining them`() throws {
        let request = try #require(onlyRequest(in: head("Accept: a", "Accept: b")))
        #expect(request.head.headerFields.first(.accept) == "a")
        #expect(request.head.headerFields.first(.cookie) == nil)
        #expect(request.head.headerFields.count(of: .accept) == 2)
        #expect(request.head.headerFields.count(of: .cookie) == 0)
    }

    @Test func `A field is found only by its own name, in any case`() throws {
        let names: [HTTPField.Name] = [
            .accept, .authorization, .connection, .contentLength, .contentType, .cookie, .eTag, .origin,
            .secWebSocketKey, .secWebSocketVersion, .te, .upgrade, .userAgent, .vary,
        ]
        for name in names {
            for spelling in [name.canonicalName, name.canonicalName.uppercased()] {
                let line = "\(spelling): \(name == .contentLength ? "0" : "x")"
                let fields = try #require(onlyRequest(in: head("X: y", line))).head.headerFields
                #expect(fields.map(\.name.canonicalName) == ["x", name.canonicalName])
                for other in names {
                    #expect(fields.contains(other) == (other == name))
                    #expect(fields.count(of: other) == (other == name ? 1 : 0))
                    #expect(fields[values: other].count == (other == name ? 1 : 0))
                }
            }
        }
    }

    @Test func `A token consists of the characters listed in RFC 9110`() {
        let listed = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
        for byte in UInt8.min...UInt8.max {
            #expect(ASCIISet.token.contains(byte) == listed.utf8.contains(byte))
        }
    }
}
