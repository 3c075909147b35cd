import HTTPTypes

/// Content negotiation (RFC 9110, section 12.5.1) between Server-Sent Events and JSON.
public enum Accept {
    /// The media type of Server-Sent Events.
    public static let eventStream = "text/event-stream"

    /// Returns true if the Accept fields ask for an event stream. They must name it, and must not prefer JSON if they
    /// name that too. `*/*`, which browsers and curl send, does not ask for one.
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

    /// Returns the weight of an element in thousandths (RFC 9110, section 12.4.2). A malformed weight counts as 0, not
    /// acceptable.
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
            bytes.count == 1 || bytes[1] == ASCII.dot
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
