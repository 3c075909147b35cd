import HTTPTypes
import Testing

@testable import HTTP

@Suite("Reading responses, RFC 9112, sections 4 and 6")
struct ResponseParserTests {
    /// The events of a parser in a comparable form.
    struct Outcome: Equatable {
        var codes: [Int] = []
        var bodies: [[UInt8]] = []
        var fields: [[String]] = []
        var keepAlive: [Bool] = []
        var refusal: ResponseRefusal?

        var texts: [String] { bodies.map { String(decoding: $0, as: UTF8.self) } }

        mutating func add(_ response: Response) {
            codes.append(response.status.code)
            bodies.append(response.body)
            fields.append(response.fields.map { "\($0.name.canonicalName): \($0.value)" })
            keepAlive.append(response.keepAlive)
        }
    }

    static let stream = Array(
        """
        HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: b\r\n\r\nhello\
        HTTP/1.1 204 \r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n\
        HTTP/1.0 404 Not Found\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\nto the end
        """.utf8)

    /// Feeds pieces, then the end of the connection.
    static func feed(
        _ pieces: [[UInt8]], limits: HTTPLimits = HTTPLimits(), keeping names: [HTTPField.Name]? = nil,
        isHead: Bool = false
    ) -> Outcome {
        var parser = ResponseParser(limits: limits, keeping: names)
        var outcome = Outcome()
        do {
            for piece in pieces {
                parser.append(piece.span)
                while case .response(let response) = try parser.next(isHead: isHead) { outcome.add(response) }
            }
            if let last = try parser.finish() { outcome.add(last) }
        } catch {
            outcome.refusal = error
        }
        return outcome
    }

    private func feed(_ text: String, limits: HTTPLimits = HTTPLimits(), isHead: Bool = false) -> Outcome {
        let whole = Self.feed([Array(text.utf8)], limits: limits, isHead: isHead)
        #expect(Self.feed(text.utf8.map { [$0] }, limits: limits, isHead: isHead) == whole)
        return whole
    }

    @Test func `Every kind of length is understood, however the bytes are cut`() {
        let expected = Self.feed([Self.stream])
        #expect(expected.codes == [200, 204, 201, 404, 200])
        #expect(expected.texts == ["hello", "", "abc", "", "to the end"])
        #expect(expected.keepAlive == [true, true, true, true, false])
        #expect(expected.fields[0] == ["content-length: 5", "x-a: b"])
        #expect(expected.refusal == nil)
        for cut in 0...Self.stream.count {
            #expect(Self.feed([Array(Self.stream[..<cut]), Array(Self.stream[cut...])]) == expected)
        }
    }

    @Test func `The content of an endless response can be taken as it arrives, with or without chunks`() throws {
        let chunks = "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\nde"
        for (head, rest) in [(chunks, "fg\r\n0\r\n\r\n"), ("\r\nabcde", "fg")] {
            var parser = ResponseParser()
            parser.append("HTTP/1.1 200 OK\r\n\(head)".utf8.span)
            guard case .needMoreBytes = try parser.next() else { throw Unfinished() }
            #expect(parser.takeContent() == Array("abcde".utf8))
            #expect(parser.takeContent().isEmpty)
            parser.append(rest.utf8.span)
            if case .response(let response) = try parser.next() {
                #expect(response.body == Array("fg".utf8))
            } else {
                #expect(try parser.finish()?.body == Array("fg".utf8))
            }
        }
    }

    private struct Unfinished: Error {}

    @Test func `A response to HEAD, a 204 and a 304 end after their head`() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        #expect(feed(text + text, isHead: true).texts == ["", ""])
        #expect(
            feed("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\nHTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n")
                .codes == [304, 204])
    }

    @Test func `After 101 the bytes belong to another protocol`() throws {
        var parser = ResponseParser()
        parser.append(Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nfra".utf8).span)
        guard case .response(let response) = try parser.next() else {
            Issue.record("no response")
            return
        }
        #expect(response.status == .switchingProtocols)
        #expect(response.fields[.upgrade] == "websocket")
        parser.append(Array("mes".utf8).span)
        guard case .needMoreBytes = try parser.next() else {
            Issue.record("a response of another protocol")
            return
        }
        #expect(parser.takeRemainder() == Array("frames".utf8))
    }

    @Test func `Only the requested fields are kept`() throws {
        let text = Array("HTTP/1.1 200 OK\r\nDate: x\r\nX-A: b\r\nLocation: /\r\nContent-Length: 1\r\n\r\nx".utf8)
        let custom = try #require(HTTPField.Name("x-a"))
        #expect(Self.feed([text], keeping: []).fields == [[]])
        #expect(Self.feed([text], keeping: [.location, custom]).fields == [["x-a: b", "location: /"]])
        #expect(Self.feed([text], keeping: []).texts == ["x"])
    }

    @Test(arguments: [
        "HTTP/1.1 200\r\n", "HTTP/2.0 200 OK\r\n", "HTTP/1.1  200 OK\r\n", "HTTP/1.1 20 OK\r\n",
        "HTTP/1.1 2000 OK\r\n", "http/1.1 200 OK\r\n", "HTTP/1.1 600 x\r\n", "HTTP/1.1 099 x\r\n", "\r\n",
        "HTTP/1.1 2x0 OK\r\n",
    ])
    func `A malformed status line is refused`(line: String) {
        #expect(feed(line).refusal?.code == "status_line_invalid")
    }

    @Test(arguments: [
        ("X : y\r\n\r\n", "field_name_invalid"), ("X: y\n\r\n", "line_end_invalid"),
        ("Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", "content_length_repeated"),
        ("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "framing_ambiguous"),
        ("Transfer-Encoding: gzip\r\n\r\n", "transfer_coding_unknown"),
        ("Transfer-Encoding: chunked\r\n\r\nx\r\n", "chunk_invalid"),
        ("Content-Length: 2\r\n\r\nx", "response_cut_off"),
        ("X: y\r\n", "response_cut_off"), ("Transfer-Encoding: chunked\r\n\r\n0\r\n", "response_cut_off"),
    ])
    func `Fields, lengths and chunks are parsed as strictly as in requests`(rest: String, code: String) {
        #expect(feed("HTTP/1.1 200 OK\r\n" + rest).refusal?.code == code)
    }

    @Test func `Head, fields, bodies of every kind and interim responses are bounded`() {
        var limits = HTTPLimits()
        limits.headBytes = 60
        limits.headerFields = 2
        limits.bodyBytes = 3
        let head = "HTTP/1.1 200 OK\r\n"
        #expect(feed(head + "Content-Length: 3\r\n\r\nabc", limits: limits).texts == ["abc"])
        #expect(feed(head + "Content-Length: 4\r\n\r\nabcd", limits: limits).refusal?.code == "body_too_large")
        #expect(feed(head + "\r\nabc", limits: limits).texts == ["abc"])
        #expect(feed(head + "\r\nabcd", limits: limits).refusal?.code == "body_too_large")
        let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
        #expect(feed(chunked + "3\r\nabc\r\n0\r\n\r\n", limits: limits).texts == ["abc"])
        #expect(feed(chunked + "4\r\nabcd\r\n0\r\n\r\n", limits: limits).refusal?.code == "body_too_large")
        #expect(feed(head + "a:b\r\nc:d\r\n\r\n", limits: limits).codes == [200])
        #expect(feed(head + "a:b\r\nc:d\r\ne:f\r\n\r\n", limits: limits).refusal?.code == "too_many_fields")
        let fill = String(repeating: "x", count: 60 - (head + "a:\r\n\r\n").utf8.count)
        #expect(feed(head + "a:\(fill)\r\n\r\n", limits: limits).codes == [200])
        #expect(feed(head + "a:\(fill)x\r\n\r\n", limits: limits).refusal?.code == "head_too_large")
        let interim = String(repeating: "HTTP/1.1 102 x\r\n\r\n", count: 8)
        #expect(feed(interim + head + "\r\n").codes == [200])
        #expect(feed(interim + "HTTP/1.1 103 x\r\n\r\n").refusal?.code == "too_many_interim_responses")
    }
}

@Suite("Client and server")
struct RoundTripTests {
    @Test func `understand each other`() throws {
        let body = Array("{\"text\":\"hi\"}".utf8)
        var bytes: [UInt8] = []
        let type = HTTPField(name: .contentType, value: "application/json")
        RequestWriter.write(.post, "/v1/x?user=a", host: "h:80", fields: [type], body: body.span, into: &bytes)
        RequestWriter.write(.get, "/", host: "h", into: &bytes)
        RequestWriter.write(.put, "/a\r\nX: y", host: "h\r\nX: y", into: &bytes)
        let outcome = HTTPTests.feed([bytes])
        #expect(outcome.requests.map(\.method) == ["POST", "GET"])
        #expect(outcome.requests.map(\.path) == ["/v1/x?user=a", "/"])
        #expect(outcome.requests.first?.fields == ["content-type: application/json", "content-length: 13"])
        #expect(outcome.requests.first?.body == "{\"text\":\"hi\"}")
        #expect(outcome.refusal?.code == "request_line_invalid")

        var writer = ResponseWriter()
        var answer: [UInt8] = []
        writer.write(
            .created, contentType: "application/json", body: body.span, to: ReplyContext(), at: 0, into: &answer)
        writer.write(.noContent, to: ReplyContext(), at: 0, into: &answer)
        writer.write(.ok, body: body.span, to: ReplyContext(keepAlive: false), at: 0, into: &answer)
        let read = ResponseParserTests.feed([answer])
        #expect(read.codes == [201, 204, 200])
        #expect(read.bodies == [body, [], body])
        #expect(read.keepAlive == [true, true, false])
    }
}
