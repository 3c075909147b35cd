public import HTTPTypes

/// What stands before the content of a request: the request line and the header section.
///
/// Not an `HTTPRequest`: that one is an object with a checked and named field for each part of the request line, which
/// are three allocations and more before anybody has asked for anything.
public struct RequestHead: Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// `http` or `https`, set by a target in absolute-form alone.
    public let scheme: String?
    /// The path and query in origin-form as sent, or `*`; `nil` for CONNECT.
    public let target: Target?
    /// The header fields as sent, without Host.
    public let headerFields: HeaderFields
    /// The authority of a target in absolute-form, which replaces the Host (RFC 9112, section 3.2.2).
    private let targetAuthority: String?
    /// Where the value of Host is.
    private let host: Range<Int>?

    /// A head without path and fields, of a request that could not be read.
    public init(method: HTTPRequest.Method) {
        self.method = method
        scheme = nil
        target = nil
        headerFields = HeaderFields()
        targetAuthority = nil
        host = nil
    }

    /// A head.
    ///
    /// - Parameters:
    ///   - line: the request line.
    ///   - section: the header section.
    ///   - bytes: what has arrived, in which the head begins at `start`.
    init(_ line: RequestLine, _ section: HeaderSection, in bytes: [UInt8], from start: Int) {
        method = line.method
        scheme = line.target.scheme
        target =
            switch line.target.path {
            case .sent(let place): Target(bytes, place.lowerBound + start..<place.upperBound + start)
            case .implied(let text): Target(text)
            case .none: nil
            }
        headerFields = HeaderFields(section.lines, in: bytes, from: start)
        targetAuthority = line.target.authority
        host = section.host
    }

    /// The Host, or the authority of a target in absolute-form, which replaces it (RFC 9112, section 3.2.2).
    public var authority: String? { targetAuthority ?? host.flatMap(headerFields.text) }

    /// The text of ``target``.
    public var path: String? { target?.text }
}
