/// The reason why a request was refused, as clients read it: `application/problem+json` (RFC 9457).
///
/// One type serves HTTP answers, `error` frames on sockets, and failures inside the server, so that an error is
/// described once, where it is detected. ``status`` is for HTTP. A client that handles a particular error checks
/// ``code``.
public struct Problem: Error, Sendable, Hashable {
    /// The error, for programs.
    public var code: Code
    /// A description of the error, for people: one sentence.
    public var detail: String
    /// The part of the request that is at fault, as a path such as `attachments[0].width`.
    public var field: String?
    /// The bound that was exceeded, in the unit that ``detail`` names.
    public var limit: Int?
    /// The room's highest `seq`, if the request depends on another.
    public var head: Int64?
    /// Seconds to wait before a retry. HTTP answers send it as the header `Retry-After` (RFC 9110, section 10.2.3) and
    /// not in the body, `error` frames as `retry_after`.
    public var retryAfter: Int?

    /// Creates a problem.
    public init(
        code: Code, detail: String, field: String? = nil, limit: Int? = nil, head: Int64? = nil,
        retryAfter: Int? = nil
    ) {
        self.code = code
        self.detail = detail
        self.field = field
        self.limit = limit
        self.head = head
        self.retryAfter = retryAfter
    }

    /// The HTTP status, 400 to 599.
    public var status: Int { code.status }

    /// The reason phrase of the status (RFC 9110, section 15), which is the `title` of an `about:blank` problem.
    public var title: String { Self.title(of: status) }

    /// Returns the reason phrase of a status (RFC 9110, section 15).
    public static func title(of status: Int) -> String {
        switch status {
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: status < 500 ? "Bad Request" : "Internal Server Error"
        }
    }

    /// Appends the problem as a JSON object (RFC 9457, section 3.1), with `code`, `field`, `limit` and `head` as
    /// extensions.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"type":"about:blank""#)
        out.append(member: "title", title)
        out.append(member: "status", Int64(status))
        out.append(member: "code", code.string)
        out.append(member: "detail", detail)
        if let field { out.append(member: "field", field) }
        if let limit { out.append(member: "limit", Int64(limit)) }
        if let head { out.append(member: "head", head) }
        out.append(UInt8(ascii: "}"))
    }
}
