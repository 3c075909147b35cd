import HTTPTypes

/// Content negotiation (RFC 9110, section 12.5.1), as far as a chat server needs it: events or JSON.
public enum Accept {
    /// The media type of Server-Sent Events.
    public static let eventStream = "text/event-stream"

    /// Returns whether the Accept fields ask for a stream of events: it has to be named, and JSON, if named too, must
    /// not be preferred. A browser's or curl's `*/*` asks for nothing in particular.
    public static func prefersEventStream(_ fields: HeaderFields) -> Bool {
        var stream = 0
        var json = 0
        for element in fields.elements(of: .accept) {
            var parts = ParameterizedElement(element)
            if parts.name.equals(ignoringASCIICase: eventStream) {
                stream = max(stream, quality(of: &parts))
            } else if parts.name.equals(ignoringASCIICase: "application/json") {
                json = max(json, quality(of: &parts))
            }
        }
        return stream > 0 && stream >= json
    }

    /// The weight of an element in thousandths (RFC 9110, section 12.4.2). A malformed one counts as 0: not asked for.
    private static func quality(of element: inout ParameterizedElement) -> Int {
        while let parameter = element.next() {
            guard parameter.name.equals(ignoringASCIICase: "q") else { continue }
            return thousandths(parameter.value)
        }
        return element.isMalformed ? 0 : 1000
    }

    private static func thousandths(_ text: String) -> Int {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, first == ASCII.zero || first == ASCII.zero + 1, bytes.count <= 5,
            bytes.count == 1 || bytes[1] == 0x2E
        else { return 0 }
        var value = Int(first - ASCII.zero) * 1000
        var scale = 100
        for byte in bytes.dropFirst(2) {
            guard let digit = byte.digitValue else { return 0 }
            value += digit * scale
            scale /= 10
        }
        return min(value, 1000)
    }
}
