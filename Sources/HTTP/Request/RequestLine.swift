import HTTPTypes

/// `method SP request-target SP HTTP-version` (RFC 9112, section 3).
struct RequestLine: Sendable {
    /// The method: any token. Routing decides which methods are implemented.
    let method: HTTPRequest.Method
    let target: RequestTarget
    /// The n of `HTTP/1.n`: 0 or 1.
    let minorVersion: Int

    /// Creates a placeholder for a line that has not arrived.
    init() {
        method = .get
        target = RequestTarget()
        minorVersion = 1
    }

    /// Maximum length of a line within all limits, with its CRLF, in bytes.
    static func longest(_ limits: HTTPLimits) -> Int {
        limits.methodBytes + 1 + limits.targetBytes + 1 + versionBytes + 2
    }

    private static let versionBytes = 8

    /// Parses a line, given without its CRLF. A line that was cut off because it is longer than ``longest(_:)`` is
    /// refused for the same reason as the whole line.
    init(_ line: Span<UInt8>, limits: HTTPLimits) throws(RequestRefusal) {
        let methodEnd = try Self.endOfMethod(in: line, limit: limits.methodBytes)
        let targetStart = methodEnd + 1
        let targetEnd = line.firstIndex(of: ASCII.space, from: targetStart) ?? line.count
        if targetEnd - targetStart > limits.targetBytes { throw .targetTooLong(limit: limits.targetBytes) }
        guard targetEnd < line.count else { throw .requestLineInvalid }
        // The version comes before the target's form, so the preface of HTTP/2 (`PRI * HTTP/2.0`, RFC 9113, section
        // 3.4) gets 505.
        minorVersion = try Self.minorVersion(line.extracting((targetEnd + 1)...))
        guard targetEnd > targetStart else { throw .requestLineInvalid }
        let target = line.extracting(targetStart..<targetEnd)
        // A fragment is never sent (RFC 9110, section 4.2.5), and parsers disagree on how to treat one.
        guard target.firstIndex(of: ASCII.numberSign) == nil else { throw .targetInvalid }
        method = try Self.method(line.extracting(first: methodEnd))
        self.target = try RequestTarget(target, at: targetStart, method: method)
    }

    private static func endOfMethod(in line: Span<UInt8>, limit: Int) throws(RequestRefusal) -> Int {
        let token = ASCIISet.token
        var index = 0
        while index < line.count, token.contains(line[index]) {
            index += 1
            if index > limit { throw .methodTooLong(limit: limit) }
        }
        guard index > 0, index < line.count, line[index] == ASCII.space else { throw .requestLineInvalid }
        return index
    }

    /// Parses the version, which is case-sensitive and has single digits (RFC 9112, section 2.3).
    private static func minorVersion(_ text: Span<UInt8>) throws(RequestRefusal) -> Int {
        guard text.count == versionBytes, text.extracting(first: 5).equals("HTTP/"),
            let major = text[5].digitValue, text[6] == ASCII.dot, let minor = text[7].digitValue
        else { throw .requestLineInvalid }
        guard major == 1, minor <= 1 else { throw .versionUnsupported }
        return minor
    }

    /// Parses the method, which is case-sensitive (RFC 9110, section 9.1).
    private static func method(_ text: Span<UInt8>) throws(RequestRefusal) -> HTTPRequest.Method {
        switch text.count {
        case 3 where text.equals("GET"): return .get
        case 3 where text.equals("PUT"): return .put
        case 4 where text.equals("POST"): return .post
        case 4 where text.equals("HEAD"): return .head
        case 5 where text.equals("PATCH"): return .patch
        case 6 where text.equals("DELETE"): return .delete
        case 7 where text.equals("OPTIONS"): return .options
        default:
            guard let name = text.utf8String, let method = HTTPRequest.Method(name) else { throw .requestLineInvalid }
            return method
        }
    }
}
