import Wire

/// The requests of the publishers, ready but for what differs by message.
struct RequestTemplate: Sendable {
    /// The request as far as the length of the body, or to its end if it has none.
    private let head: Template
    private let body: Template?
    /// The bytes that bodies are filled up to, where `{pad}` stands.
    private let size: Int

    /// A request.
    ///
    /// - Parameters:
    ///   - method: in capitals.
    ///   - headers: lines `Name: value`, placeholders allowed.
    ///   - body: nil for a request without one.
    ///   - size: what `{pad}` fills the body up to, in bytes.
    /// - Throws: an error that names the option in which something cannot be used.
    init(
        method: String, endpoint: Endpoint, headers: [String], body: String?, size: Int
    ) throws(LoadError) {
        let token = method.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        guard token, !method.isEmpty else { throw LoadError("--method: '\(method)' is no method") }
        var text = "\(method) \(endpoint.target) HTTP/1.1\r\nHost: \(endpoint.authority)\r\n"
        for header in headers { text += try Self.line(header) }
        if body == nil {
            text += "\r\n"
        } else {
            if !headers.contains(where: { $0.lowercased().hasPrefix("content-type:") }) {
                text += "Content-Type: application/json\r\n"
            }
            text += "Content-Length: "
        }
        let inHead: Set<Template.Placeholder> = [.room, .pub, .seq, .ts, .run, .rand]
        head = try Template(text, source: "--post or --header", allowed: inHead)
        if let body {
            let inBody = inHead.union([.mark, .pad])
            self.body = try Template(body, source: "--body", allowed: inBody)
        } else {
            self.body = nil
        }
        self.size = size
    }

    /// A header line with its end, if it can be one (RFC 9110, section 5.5: no control characters).
    static func line(_ header: String) throws(LoadError) -> String {
        guard let colon = header.firstIndex(of: ":"), colon > header.startIndex,
            header.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }), !header[..<colon].contains(" ")
        else { throw LoadError("--header: '\(header)' is not 'Name: value'") }
        return header + "\r\n"
    }

    /// Appends one request.
    ///
    /// - Parameters:
    ///   - values: of this message; its padding is found out here.
    ///   - scratch: memory for the body, which has to be known before its length can be written.
    func append(_ values: Template.Values, to output: inout [UInt8], scratch: inout [UInt8]) {
        head.append(values, to: &output)
        guard let body else { return }
        var values = values
        values.padding = 0
        scratch.removeAll(keepingCapacity: true)
        body.append(values, to: &scratch)
        if scratch.count < size, body.contains(.pad) {
            values.padding = size - scratch.count
            scratch.removeAll(keepingCapacity: true)
            body.append(values, to: &scratch)
        }
        output.append(decimal: Int64(scratch.count))
        output.append(literal: "\r\n\r\n")
        output.append(contentsOf: scratch)
    }
}
