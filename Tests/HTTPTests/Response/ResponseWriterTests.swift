import HTTPTypes
import TestSupport
import Testing

@testable import HTTP

@Suite("Writing responses, RFC 9112, sections 4 and 6")
struct ResponseWriterTests {
    private let now: Int64 = 784_111_777
    private let body = Array("{\"a\":1}".utf8)

    private func written(
        _ status: HTTPResponse.Status, contentType: String? = nil, fields: [HTTPField] = [], body: [UInt8] = [],
        to context: ReplyContext = ReplyContext()
    ) -> String {
        var writer = ResponseWriter()
        var output: [UInt8] = []
        writer.write(
            status, contentType: contentType, fields: fields, body: body.span, to: context, at: now, into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private let noSniff = "X-Content-Type-Options: nosniff\r\n"
    private let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

    @Test func `A response is status line, date, type, fields, length and content`() {
        let location = HTTPField(name: .location, value: "/v1/rooms/5/messages/7")
        #expect(
            written(.created, contentType: "application/json", fields: [location], body: body)
                == "HTTP/1.1 201 Created\r\n\(date)Content-Type: application/json\r\n\(noSniff)Location: /v1/rooms/5/messages/7\r\n"
                + "Content-Length: 7\r\n\r\n{\"a\":1}")
    }

    @Test func `HEAD gets the content's length without the content`() {
        #expect(
            written(.ok, contentType: "text/plain", body: body, to: ReplyContext(isHead: true))
                == "HTTP/1.1 200 OK\r\n\(date)Content-Type: text/plain\r\n\(noSniff)Content-Length: 7\r\n\r\n")
    }

    @Test(arguments: [200, 201, 205, 400, 404, 503])
    func `Empty content has a length, too`(code: Int) {
        #expect(written(HTTPResponse.Status(code: code)).hasSuffix("\r\nContent-Length: 0\r\n\r\n"))
    }

    @Test(arguments: [101, 103, 204, 304])
    func `1xx, 204 and 304 have neither length nor content`(code: Int) {
        let text = written(HTTPResponse.Status(code: code), contentType: "text/plain", body: body)
        #expect(!text.contains("Content-"))
        #expect(text.hasSuffix("GMT\r\n\r\n"))
    }

    @Test func `The client is told that the connection closes, or that it persists in HTTP/1.0`() {
        #expect(written(.ok, to: ReplyContext(keepAlive: false)).contains("\r\nConnection: close\r\n"))
        #expect(written(.badRequest, to: .refusal).contains("\r\nConnection: close\r\n"))
        #expect(written(.ok, to: ReplyContext(minorVersion: 0)).contains("\r\nConnection: keep-alive\r\n"))
        #expect(!written(.ok).contains("Connection"))
    }

    @Test func `The writer sets the framing fields, except an upgrade's Connection`() {
        let fields = [
            HTTPField(name: .contentLength, value: "99"), HTTPField(name: .transferEncoding, value: "chunked"),
            HTTPField(name: .date, value: "today"), HTTPField(name: .connection, value: "upgrade"),
            HTTPField(name: .upgrade, value: "websocket"),
        ]
        #expect(
            written(.ok, fields: fields)
                == "HTTP/1.1 200 OK\r\n\(date)Upgrade: websocket\r\nContent-Length: 0\r\n\r\n")
        #expect(
            written(.switchingProtocols, fields: fields, to: ReplyContext(keepAlive: false))
                == "HTTP/1.1 101 Switching Protocols\r\n\(date)Connection: upgrade\r\nUpgrade: websocket\r\n\r\n")
    }

    @Test(arguments: ["\r\n", "\n", "\r", "\u{0}", "\u{7F}", "\u{1B}"])
    func `A value cannot contain a line break`(control: String) {
        let evil = "a\(control)Set-Cookie: x"
        let text = written(
            HTTPResponse.Status(code: 299, reasonPhrase: evil), contentType: evil,
            fields: [HTTPField(name: .location, value: evil), HTTPField(name: .vary, lenientValue: Array(evil.utf8))])
        let head = Array(text.utf8)
        #expect(!text.contains("\nSet-Cookie"))
        #expect(head.filter { $0 == 0x0A }.count == 8)
        #expect(head.allSatisfy { $0 == 0x0D || $0 == 0x0A || $0.isFieldContent })
    }

    @Test func `Any status can be written, with its phrase or without`() {
        #expect(written(.unprocessableContent).hasPrefix("HTTP/1.1 422 Unprocessable Content\r\n"))
        #expect(written(418).hasPrefix("HTTP/1.1 418 \r\n"))
        for status: HTTPResponse.Status in [
            .ok, .created, .noContent, .notModified, .badRequest, .notFound, .switchingProtocols,
        ] {
            #expect(written(status).hasPrefix("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"))
        }
    }

    @Test func `A stream lasts until the connection closes`() {
        var writer = ResponseWriter()
        var output: [UInt8] = []
        let field = HTTPField(name: .cacheControl, value: "no-cache")
        writer.writeStreamHead(contentType: "text/event-stream", fields: [field], at: now, into: &output)
        #expect(
            String(decoding: output, as: UTF8.self)
                == "HTTP/1.1 200 OK\r\n\(date)Content-Type: text/event-stream\r\n\(noSniff)Cache-Control: no-cache\r\n"
                + "Connection: close\r\n\r\n")
    }

    @Test func `Responses are appended, and the date follows the clock`() {
        var writer = ResponseWriter()
        var output = ResponseWriter.continueResponse
        writer.write(.ok, to: ReplyContext(), at: 0, into: &output)
        writer.write(.ok, to: ReplyContext(), at: 0, into: &output)
        writer.write(.ok, to: ReplyContext(), at: 1, into: &output)
        let first = "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n"
        let last = "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:01 GMT\r\nContent-Length: 0\r\n\r\n"
        #expect(String(decoding: output, as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n" + first + first + last)
    }

    @Test func `A response does not depend on earlier ones`() {
        var random = SeededGenerator(seed: 5)
        var writer = ResponseWriter()
        for round in 0..<2000 {
            let code = [200, 201, 204, 304, 400, 422, 503].randomElement(using: &random)!
            let phrase = ["", "OK", "Some Phrase"].randomElement(using: &random)!
            let status = HTTPResponse.Status(code: code, reasonPhrase: phrase)
            let type = [nil, "", "application/json", "text/plain"].randomElement(using: &random)!
            let fields = Bool.random(using: &random) ? [] : [HTTPField(name: .vary, value: "Origin")]
            let lines = Array((Bool.random(using: &random) ? "" : "ETag: \"7\"\r\n").utf8)
            let context = ReplyContext(
                isHead: Bool.random(using: &random), minorVersion: Int.random(in: 0...1, using: &random),
                keepAlive: Bool.random(using: &random))
            let second = now + Int64.random(in: 0...1, using: &random)
            var outputs: [[UInt8]] = [[], []]
            var fresh = ResponseWriter()
            writer.write(
                status, contentType: type, fields: fields, lines: lines.span, body: body.span, to: context, at: second,
                into: &outputs[0])
            fresh.write(
                status, contentType: type, fields: fields, lines: lines.span, body: body.span, to: context, at: second,
                into: &outputs[1])
            #expect(outputs[0] == outputs[1], "round \(round)")
            // The lines are where the same fields would be.
            var other: [UInt8] = []
            let all = fields + (lines.isEmpty ? [] : [HTTPField(name: .eTag, value: "\"7\"")])
            fresh.write(
                status, contentType: type, fields: all, body: body.span, to: context, at: second, into: &other)
            #expect(outputs[0] == other, "round \(round)")
        }
    }
}

@Suite("Dates, RFC 9110, section 5.6.7")
struct HTTPDateTests {
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
            (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
            (-1, "Thu, 01 Jan 1970 00:00:00 GMT"), (Int64.max, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)])
    func `A time is written with its date`(seconds: Int64, text: String) {
        var bytes: [UInt8] = []
        HTTPDate.append(secondsSince1970: seconds, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }
}
