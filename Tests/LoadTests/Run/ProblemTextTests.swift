import HTTP
import Testing

@testable import Load

@Suite struct ProblemTextTests {
    static func text(_ response: String) throws -> String {
        var parser = ResponseParser()
        let bytes = Array("HTTP/1.1 \(response)".utf8)
        parser.append(bytes.span)
        guard case .response(let parsed) = try parser.next() else { return "incomplete" }
        return parsed.refusalText
    }

    @Test func `a problem is shown by its code and detail`() throws {
        let body =
            #"{"type":"about:blank","title":"Gone","limit":3,"x":[{}],"code":"cursor_unknown","detail":"Too far."}"#
        #expect(
            try Self.text("410 Gone\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                == "410 Gone: cursor_unknown, Too far.")
    }

    @Test func `other text is shown by its beginning, in one line`() throws {
        #expect(try Self.text("502 Bad\r\nContent-Length: 11\r\n\r\n<p>\noh\r\nno\n") == "502 Bad: <p> oh no")
        #expect(try Self.text("403 No\r\nContent-Length: 0\r\n\r\n") == "403 No")
        #expect(try Self.text("403 No\r\nContent-Length: 2\r\n\r\n{}") == "403 No: {}")
        #expect(try Self.text("404 \r\nContent-Length: 1\r\n\r\nx") == "404: x")
    }
}
