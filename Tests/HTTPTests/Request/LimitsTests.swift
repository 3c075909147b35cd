import HTTPTypes
import Testing

@testable import HTTP

@Suite("Limits: n is accepted, n + 1 is refused")
struct LimitsTests {
    private func limits(_ change: (inout HTTPLimits) -> Void) -> HTTPLimits {
        var limits = HTTPLimits()
        change(&limits)
        return limits
    }

    /// Checks that `text(n)` is one request, and that `text(n + 1)` is refused, at once and byte by byte.
    private func check(_ n: Int, _ code: String, _ limits: HTTPLimits = HTTPLimits(), _ text: (Int) -> String) {
        for count in [n - 1, n] {
            #expect(feed(text(count), limits: limits).requests.count == 1)
            #expect(drip(Array(text(count).utf8), limits: limits).requests.count == 1)
        }
        #expect(refusal(text(n + 1), limits: limits) == code)
    }

    private func x(_ count: Int) -> String { String(repeating: "x", count: count) }

    @Test func `The head, request line included`() {
        let fixed = "GET / HTTP/1.1\r\nHost: h\r\nX: \r\n\r\n".utf8.count
        check(16384, "431 head_too_large") { "GET / HTTP/1.1\r\nHost: h\r\nX: \(x($0 - fixed))\r\n\r\n" }
        check(100, "431 head_too_large", limits { $0.headBytes = 100 }) {
            "GET / HTTP/1.1\r\nHost: h\r\nX: \(x($0 - fixed))\r\n\r\n"
        }
        check(100, "431 head_too_large", limits { $0.headBytes = 100 }) {
            "GET /\(x($0 - "GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8.count)) HTTP/1.1\r\nHost: h\r\n\r\n"
        }
    }

    @Test func `An endless head is refused as soon as it is too large, wherever it stops`() {
        for start in ["GET / HTTP/1.1\r\nX: ", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nX: a\r\nY"] {
            let text = Array((start + x(16384)).utf8)
            #expect(drip(Array(text.prefix(16382))).refusal == nil)
            #expect(drip(Array(text.prefix(16383))).refusal?.code == "head_too_large")
        }
        let lines = String(repeating: "X: y\r\n", count: 3000)
        #expect(
            refusal("GET / HTTP/1.1\r\n" + lines, limits: limits { $0.headerFields = 5000 }) == "431 head_too_large")
    }

    @Test func `The request target`() {
        check(8192, "414 target_too_long") { "GET /\(x($0 - 1)) HTTP/1.1\r\nHost: h\r\n\r\n" }
        check(20, "414 target_too_long", limits { $0.targetBytes = 20 }) {
            "GET /?\(x($0 - 2)) HTTP/1.1\r\nHost: h\r\n\r\n"
        }
        #expect(refusal("GET /\(x(8300))") == "414 target_too_long")
        #expect(refusal("GET /\(x(8000)) \(x(400))") == "400 request_line_invalid")
    }

    @Test func `The method`() {
        check(32, "501 method_too_long") { "\(x($0)) / HTTP/1.1\r\nHost: h\r\n\r\n" }
        check(5, "501 method_too_long", limits { $0.methodBytes = 5 }) { "\(x($0)) / HTTP/1.1\r\nHost: h\r\n\r\n" }
        #expect(refusal(x(9000)) == "501 method_too_long")
    }

    @Test func `The number of fields`() {
        check(100, "431 too_many_fields") {
            "GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "X: y\r\n", count: $0 - 1) + "\r\n"
        }
        check(3, "431 too_many_fields", limits { $0.headerFields = 3 }) {
            "GET / HTTP/1.1\r\nHost: h\r\n" + String(repeating: "accept: y\r\n", count: $0 - 1) + "\r\n"
        }
    }

    @Test func `The body, by its length`() {
        check(262_144, "413 body_too_large") { "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \($0)\r\n\r\n\(x($0))" }
        check(7, "413 body_too_large", limits { $0.bodyBytes = 7 }) {
            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: \($0)\r\n\r\n\(x($0))"
        }
    }

    @Test func `The body, in chunks`() {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        check(262_144, "413 body_too_large") { "\(head)\(String($0, radix: 16))\r\n\(x($0))\r\n0\r\n\r\n" }
        check(7, "413 body_too_large", limits { $0.bodyBytes = 7 }) {
            head + String(repeating: "1\r\nx\r\n", count: $0) + "0\r\n\r\n"
        }
    }

    @Test func `Empty lines before a request`() {
        for limit in [1, 2, 5] {
            check(limit, "400 too_many_empty_lines", limits { $0.leadingEmptyLines = limit }) {
                String(repeating: "\r\n", count: $0) + "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
            }
        }
    }

    @Test func `Chunk extensions, of one chunk and of all together`() {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        check(1024, "400 chunk_extensions_too_long") { "\(head)1;\(x($0 - 1))\r\nx\r\n0\r\n\r\n" }
        check(1024, "400 chunk_extensions_too_long") {
            let extensions = String(repeating: "1;a=bcdef\r\nx\r\n", count: $0 / 8 - 1)
            return "\(head)\(extensions)0;\(x(8 + $0 % 8 - 1))\r\n\r\n"
        }
        check(9, "400 chunk_extensions_too_long", limits { $0.chunkExtensionBytes = 9 }) {
            "\(head)0000000000000001;\(x($0 - 1))\r\nx\r\n0\r\n\r\n"
        }
        #expect(refusal("\(head)1;\(x(9000))") == "400 chunk_extensions_too_long")
        #expect(refusal("\(head)\(String(repeating: "0", count: 9000))") == "400 chunk_invalid")
    }

    @Test func `The trailer section`() {
        let head = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        check(4096, "431 trailers_too_large") { "\(head)X: \(x($0 - 5))\r\n\r\n" }
        check(4096, "431 trailers_too_large") {
            head + String(repeating: "X: y\r\n", count: $0 / 6 - 1) + "Y: \(x(1 + $0 % 6))\r\n\r\n"
        }
        check(20, "431 trailers_too_large", limits { $0.trailerBytes = 20 }) { "\(head)X: \(x($0 - 5))\r\n\r\n" }
        #expect(refusal(head + x(9000)) == "431 trailers_too_large")
    }
}
