/// The template of the publishers' requests: HTTP requests, or frames of another protocol.
struct RequestTemplate: Sendable {
    /// The placeholders that all parts of a request may contain.
    static let known: Set<Template.Placeholder> = [.room, .pub, .seq, .ts, .run, .rand]

    /// The request up to the body, or all of it if there is no body.
    private let head: Template
    private let body: Template?
    /// The text after the body.
    private let tail: Template
    /// The size in bytes that `{pad}` fills bodies up to.
    private let size: Int

    /// Creates the template of an HTTP request.
    ///
    /// - Parameters:
    ///   - method: in capitals.
    ///   - headers: lines `Name: value`, placeholders allowed.
    ///   - body: nil for a request without one.
    ///   - size: the size in bytes that `{pad}` fills the body up to.
    /// - Throws: an error that names the invalid option.
    init(
        method: String, endpoint: Endpoint, headers: [String], body: String?, size: Int
    ) throws(LoadError) {
        let token = method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard token, !method.isEmpty else { throw LoadError("--method: '\(method)' is not a method") }
        var text = "\(method) \(endpoint.target) HTTP/1.1\r\nHost: \(endpoint.authority)\r\n"
        for header in headers { text += try Self.line(header) }
        if body != nil {
            if !headers.contains(where: { $0.lowercased().hasPrefix("content-type:") }) {
                text += "Content-Type: application/json\r\n"
            }
            text += "Content-Length: {length}\r\n"
        }
        let allowed = body == nil ? Self.known : Self.known.union([.length])
        try self.init(head: text + "\r\n", body: body, tail: "", size: size, source: "--post or --header", allowed)
    }

    /// Creates the template of a request of another protocol.
    ///
    /// - Parameters:
    ///   - frame: the whole frame, with `{body}` in place of the body.
    ///   - size: the size in bytes that `{pad}` fills the body up to.
    /// - Throws: an error that names the invalid option.
    init(frame: String, body: String, size: Int) throws(LoadError) {
        let mark = "{body}"
        guard let place = frame.utf8.firstRange(of: mark.utf8) else { throw LoadError("--tcp-frame lacks \(mark)") }
        try self.init(
            head: String(frame[..<place.lowerBound]), body: body, tail: String(frame[place.upperBound...]), size: size,
            source: "--tcp-frame", Self.known.union([.length]))
    }

    private init(
        head: String, body: String?, tail: String, size: Int, source: String, _ allowed: Set<Template.Placeholder>
    ) throws(LoadError) {
        self.head = try Template(head, source: source, allowed: allowed)
        self.body = try body.map { text throws(LoadError) in
            try Template(text, source: "--body", allowed: Self.known.union([.mark, .pad]))
        }
        self.tail = try Template(tail, source: source, allowed: allowed)
        self.size = size
    }

    /// Returns a header line with its CRLF. Throws if it contains control characters (RFC 9110, section 5.5).
    static func line(_ header: String) throws(LoadError) -> String {
        guard let colon = header.firstIndex(of: ":"), colon > header.startIndex,
            header.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }), !header[..<colon].contains(" ")
        else { throw LoadError("--header: '\(header)' is not 'Name: value'") }
        return header + "\r\n"
    }

    /// Appends one request.
    ///
    /// - Parameters:
    ///   - values: the values of this message. Its padding and length are computed here.
    ///   - scratch: memory for the body, whose length must be known before it is written.
    func append(_ values: Template.Values, to output: inout [UInt8], scratch: inout [UInt8]) {
        guard let body else { return head.append(values, to: &output) }
        var values = values
        values.padding = 0
        scratch.removeAll(keepingCapacity: true)
        body.append(values, to: &scratch)
        if scratch.count < size, body.contains(.pad) {
            values.padding = size - scratch.count
            scratch.removeAll(keepingCapacity: true)
            body.append(values, to: &scratch)
        }
        values.length = scratch.count
        head.append(values, to: &output)
        output.append(contentsOf: scratch)
        tail.append(values, to: &output)
    }
}
