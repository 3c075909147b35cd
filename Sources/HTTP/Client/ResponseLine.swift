import HTTPTypes

/// `HTTP-version SP status-code SP [ reason-phrase ]` (RFC 9112, section 4), given without its CRLF.
struct ResponseLine: Sendable {
    /// The status, with the reason phrase that was sent; 200 and 201 have the standard phrase.
    var status: HTTPResponse.Status
    /// The n of `HTTP/1.n`: 0 or 1.
    var minorVersion: Int

    private static let fixedBytes = 13

    init(_ line: Span<UInt8>) throws(RequestRefusal) {
        guard line.count >= Self.fixedBytes, line.extracting(first: 7).equals("HTTP/1."),
            let minor = line[7].digitValue, minor <= 1,
            line[8] == ASCII.space,
            let hundreds = line[9].digitValue, (1...5).contains(hundreds),
            let tens = line[10].digitValue, let ones = line[11].digitValue,
            line[12] == ASCII.space
        else { throw .statusLineInvalid }
        minorVersion = minor
        let code = hundreds * 100 + tens * 10 + ones
        switch code {
        case 200: status = .ok
        case 201: status = .created
        default:
            let phrase = line.extracting(Self.fixedBytes...).utf8String ?? ""
            status = HTTPResponse.Status(code: code, reasonPhrase: phrase)
        }
    }
}
