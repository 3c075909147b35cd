public import HTTPTypes

/// Writes responses. Each is one run of bytes, for one write to the connection (RFC 9112, sections 2.1 and 4).
///
/// The writer alone sets `Date`, `Connection`, `Content-Length` and `Transfer-Encoding`, and drops such fields of a
/// response. The exception is `Connection` in a 101 or 426, which belongs to the upgrade; a 426 may have a second one,
/// for the connection itself. Control characters in values are written as spaces, so that no value can split a
/// response.
///
/// One writer serves all connections of a thread. It caches the first lines of an answer, because the next one usually
/// begins with the same status, `Date` and `Content-Type`.
public struct ResponseWriter: Sendable {
    /// `100 Continue`, the whole response (RFC 9110, section 15.2.1).
    public static let continueResponse: [UInt8] = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Maximum size of the fixed lines of a head, in bytes.
    private static let usualHeadBytes = 256
    /// Maximum size of Content-Length, Connection and the empty line, in bytes.
    private static let lastLinesBytes = 80

    private var dateLine: [UInt8] = []
    private var dateSecond: Int64 = -1
    private var opening = Opening()

    /// The first lines of a head and the values they were made of.
    private struct Opening {
        var bytes: [UInt8] = []
        var second: Int64 = -1
        var code = 0
        var reasonPhrase = ""
        var contentType: String?

        func isFor(_ status: HTTPResponse.Status, _ contentType: String?, at second: Int64) -> Bool {
            // Statuses with the same code compare equal, so the phrases are compared too.
            second == self.second && status.code == code && status.reasonPhrase == reasonPhrase
                && contentType == self.contentType
        }
    }

    /// Creates a writer with an empty cache.
    public init() {}

    /// Appends a response to `output`.
    ///
    /// - Parameters:
    ///   - status: the status. 1xx, 204 and 304 have no content and no length (RFC 9110, section 8.6).
    ///   - contentType: the value of `Content-Type`, which browsers are told not to second-guess; left out when there is
    ///     no content.
    ///   - fields: further fields.
    ///   - lines: further fields as bytes, each with its CRLF.
    ///   - body: the content. For HEAD only its length is written.
    ///   - endsLine: true to append a line feed to the content, so that a terminal shows its prompt on the next line.
    ///   - context: the facts of the request that determine the framing.
    ///   - now: the time for `Date`, in seconds since 1970.
    public mutating func write(
        _ status: HTTPResponse.Status, contentType: String? = nil, fields: [HTTPField] = [],
        lines: Span<UInt8> = Span(), body: Span<UInt8> = Span(), endsLine: Bool = false, to context: ReplyContext,
        at now: Int64, into output: inout [UInt8]
    ) {
        // Reserves the space in one step. The capacity grows geometrically, because many pipelined answers may share
        // the output.
        output.append(addingCapacity: Self.usualHeadBytes + lines.count + body.count) { _ in }
        if !opening.isFor(status, contentType, at: now) { open(status, contentType, at: now) }
        output.append(copying: opening.bytes.span)
        for field in fields where Self.isPassedOn(field.name, status) { output.append(field) }
        if !lines.isEmpty { output.append(copying: lines) }
        finish(status, body: body, endsLine: endsLine, to: context, into: &output)
    }

    /// Appends the head of a response that lasts until the connection closes (RFC 9112, section 6.3). HTTP/1.0 clients
    /// understand it too, and its content needs no framing. The status is 200.
    public mutating func writeStreamHead(
        contentType: String, fields: [HTTPField], at now: Int64, into output: inout [UInt8]
    ) {
        if !opening.isFor(.ok, contentType, at: now) { open(.ok, contentType, at: now) }
        output.append(copying: opening.bytes.span)
        for field in fields where Self.isPassedOn(field.name, .ok) { output.append(field) }
        output.append(text: "Connection: close\r\n\r\n")
    }

    private func finish(
        _ status: HTTPResponse.Status, body: Span<UInt8>, endsLine: Bool, to context: ReplyContext,
        into output: inout [UInt8]
    ) {
        let hasContent = Self.hasContent(status)
        let sendsContent = hasContent && !context.isHead
        output.append(addingCapacity: Self.lastLinesBytes + (sendsContent ? body.count : 0)) { output in
            if hasContent {
                output.append("Content-Length: ")
                output.append(decimal: body.count + (endsLine ? 1 : 0))
                output.append("\r\n")
            }
            if status.kind != .informational {
                if !context.keepAlive {
                    output.append("Connection: close\r\n")
                } else if context.minorVersion == 0 {
                    output.append("Connection: keep-alive\r\n")
                }
            }
            output.append("\r\n")
            guard sendsContent else { return }
            output.append(copying: body)
            if endsLine { output.append("\n") }
        }
    }

    private mutating func open(_ status: HTTPResponse.Status, _ contentType: String?, at now: Int64) {
        var bytes: [UInt8] = []
        bytes.append(statusLine: status)
        appendDate(now, to: &bytes)
        if let contentType, Self.hasContent(status) {
            bytes.append(text: "Content-Type: ")
            contentType.withUTF8Span { bytes.append(fieldValue: $0) }
            // A browser must not take content for another type, such as a message's text for a page.
            bytes.append(text: "\r\nX-Content-Type-Options: nosniff\r\n")
        }
        opening = Opening(
            bytes: bytes, second: now, code: status.code, reasonPhrase: status.reasonPhrase, contentType: contentType)
    }

    private mutating func appendDate(_ now: Int64, to output: inout [UInt8]) {
        if now != dateSecond {
            dateSecond = now
            dateLine = Array("Date: ".utf8)
            HTTPDate.append(secondsSince1970: now, to: &dateLine)
            dateLine.append(text: "\r\n")
        }
        output.append(copying: dateLine.span)
    }

    /// Returns true if a response with this status has content, which may be empty (RFC 9110, section 6.4.1).
    static func hasContent(_ status: HTTPResponse.Status) -> Bool {
        status.code >= 200 && status.code != 204 && status.code != 304
    }

    private static func isPassedOn(_ name: HTTPField.Name, _ status: HTTPResponse.Status) -> Bool {
        switch name.canonicalName.utf8.count {
        case 4: name != .date
        // A sender of Upgrade must list it in Connection (RFC 9110, section 7.8).
        case 10: name != .connection || status.code == 101 || status.code == 426
        case 14: name != .contentLength
        case 17: name != .transferEncoding
        default: true
        }
    }
}

/// Appending to reserved space, so that several pieces need one capacity check. Every write is still bounds-checked.
extension OutputSpan<UInt8> {
    fileprivate mutating func append(_ literal: StaticString) {
        // The pointer is used only inside the closure, and a literal is never freed.
        literal.withUTF8Buffer { append(copying: $0.span) }
    }

    fileprivate mutating func append(decimal number: Int) {
        if number >= 10 { append(decimal: number / 10) }
        append(ASCII.zero + UInt8(truncatingIfNeeded: number % 10))
    }

    fileprivate mutating func append(copying span: Span<UInt8>) {
        precondition(span.count <= freeCapacity)
        guard !span.isEmpty else { return }
        withUnsafeMutableBufferPointer { bytes, count in
            span.withUnsafeBufferPointer {
                // The pointers do not leave the closures. There is something to copy, and the free capacity holds it.
                // The source cannot overlap the destination, because it is another span.
                (bytes.baseAddress! + count).initialize(from: $0.baseAddress!, count: $0.count)
            }
            count += span.count
        }
    }
}
