public import HTTPTypes

/// The request line and the header section of a request.
///
/// It is not an `HTTPRequest`, because creating one allocates several objects for the parts of the request line.
public struct RequestHead: Sendable {
    /// The method.
    public let method: HTTPRequest.Method
    /// The header fields as sent, without Host.
    public let headerFields: HeaderFields
    private let requestTarget: RequestTarget
    /// The range of the value of Host.
    private let host: Range<Int>?

    /// Creates a head without target and fields, for a request that could not be parsed.
    public init(method: HTTPRequest.Method) {
        self.method = method
        headerFields = HeaderFields()
        requestTarget = RequestTarget()
        host = nil
    }

    /// Creates a head.
    ///
    /// - Parameters:
    ///   - line: the request line.
    ///   - section: the header section.
    ///   - bytes: the received bytes; the head begins at `start`.
    init(_ line: RequestLine, _ section: HeaderSection, in bytes: [UInt8], from start: Int) {
        method = line.method
        headerFields = HeaderFields(section.lines, in: bytes, from: start)
        requestTarget = line.target
        host = section.host
    }

    /// The path and query in origin-form as sent, or `*`; `nil` for CONNECT.
    public var target: Target? {
        switch requestTarget.path {
        case .sent(let place): headerFields.target(in: place)
        case .query(let place): Target("/" + headerFields.text(in: place))
        case .implied(let text): Target(text.description)
        case .none: nil
        }
    }

    /// The text of ``target``.
    public var path: String? { target?.text }

    /// The Host, or the authority of a target in absolute-form, which replaces it (RFC 9112, section 3.2.2).
    public var authority: String? { (requestTarget.authority ?? host).map(headerFields.text) }

    /// Calls `body` with the bytes of ``authority``, without creating a string.
    func withAuthority<Result>(_ body: (Span<UInt8>?) -> Result) -> Result {
        guard let place = requestTarget.authority ?? host else { return body(nil) }
        return headerFields.span(of: place) { body($0) }
    }
}
