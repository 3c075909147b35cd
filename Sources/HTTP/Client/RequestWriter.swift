public import HTTPTypes

/// Writes client requests. Each request is one run of bytes (RFC 9112, section 3).
public enum RequestWriter {
    /// Appends a request to `output`.
    ///
    /// Content-Length is added when there is content, and always for POST, PUT and PATCH (RFC 9110, section 8.6).
    /// Control characters in values are written as spaces.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - target: the path and query, already percent-encoded.
    ///   - host: the host with its port, for Host.
    ///   - fields: further fields, without Host and Content-Length.
    ///   - body: the content.
    public static func write(
        _ method: HTTPRequest.Method, _ target: String, host: String, fields: [HTTPField] = [],
        body: Span<UInt8> = Span(), into output: inout [UInt8]
    ) {
        output.append(addingCapacity: 256 + body.count) { _ in }
        output.append(text: method.rawValue)
        output.append(ASCII.space)
        target.withUTF8Span { output.append(fieldValue: $0) }
        output.append(text: " HTTP/1.1\r\nHost: ")
        host.withUTF8Span { output.append(fieldValue: $0) }
        output.append(text: "\r\n")
        for field in fields { output.append(field) }
        if !body.isEmpty || [.post, .put, .patch].contains(method) {
            output.append(text: "Content-Length: ")
            output.append(decimal: body.count)
            output.append(text: "\r\n")
        }
        output.append(text: "\r\n")
        output.append(copying: body)
    }
}
