import HTTP
import HTTPTypes

/// The header `traceparent` (W3C Trace Context, section 3.2): the trace that a request belongs to, and the span that sent
/// it.
enum TraceParent {
    /// Returns the header's value for the log; `nil` if it is missing, repeated or malformed. A later version of the
    /// format may have further parts, which are left out.
    static func value(of fields: HeaderFields) -> String? {
        guard let value = fields.first(.traceParent), fields.count(of: .traceParent) == 1 else { return nil }
        return parse(value)
    }

    /// Returns the parts of version 00: version, trace, span and flags.
    static func parse(_ value: String) -> String? {
        let bytes = Array(value.utf8)
        guard bytes.count >= length, dashes.allSatisfy({ bytes[$0] == UInt8(ascii: "-") }) else { return nil }
        for (index, byte) in bytes.prefix(length).enumerated() where !dashes.contains(index) {
            guard isLowercaseHex(byte) else { return nil }
        }
        let version = bytes[..<2]
        guard version != [UInt8(ascii: "f"), UInt8(ascii: "f")] else { return nil }
        // Version 00 has nothing more; others go on with a dash.
        let isFirst = version == [UInt8(ascii: "0"), UInt8(ascii: "0")]
        guard bytes.count == length || !isFirst && bytes[length] == UInt8(ascii: "-") else { return nil }
        // Zeros stand for an unknown trace or span.
        for part in [3..<35, 36..<52] where bytes[part].allSatisfy({ $0 == UInt8(ascii: "0") }) { return nil }
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }

    /// The number of bytes of version 00, and the places of its dashes.
    private static let length = 55
    private static let dashes = [2, 35, 52]

    private static func isLowercaseHex(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}

extension HTTPField.Name {
    static let traceParent = HTTPField.Name("traceparent")!
}
