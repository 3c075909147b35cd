import Logging
import Wire

extension [UInt8] {
    /// Appends a message as a JSON object on a line of its own:
    /// `{"time":"2026-11-21T01:02:03.004Z","level":"info","logger":"backscroll","message":"…","metadata":{"room":"x"}}`.
    ///
    /// Numbers and booleans that the caller passed as such stay JSON numbers and booleans. Other values in `metadata`
    /// become strings, or objects and arrays of strings. `metadata` is left out if empty.
    mutating func append(
        jsonLine message: String, _ level: Logger.Level, _ metadata: Logger.Metadata, at time: Timestamp, logger: String
    ) {
        append(literal: "{\"time\":\"")
        time.append(to: &self)
        append(UInt8(ascii: "\""))
        append(member: "level", level.rawValue)
        append(member: "logger", logger)
        append(member: "message", message)
        if !metadata.isEmpty {
            append(memberName: "metadata")
            append(object: metadata)
        }
        append(literal: "}\n")
    }

    /// Appends metadata as a JSON object, sorted by name.
    private mutating func append(object: Logger.Metadata) {
        append(UInt8(ascii: "{"))
        var first = true
        for (key, value) in object.sorted(by: { $0.key < $1.key }) {
            if !first { append(UInt8(ascii: ",")) }
            first = false
            append(quoted: key)
            append(UInt8(ascii: ":"))
            append(json: LogRedaction.isSecret(key: key) ? .string(LogRedaction.placeholder) : value)
        }
        append(UInt8(ascii: "}"))
    }

    private mutating func append(json value: Logger.MetadataValue) {
        switch value {
        case .stringConvertible(let value) where Self.isLiteral(value): append(utf8: value.description)
        case .string, .stringConvertible: append(quoted: redactingTokens(in: value.description))
        case .dictionary(let object): append(object: object)
        case .array(let elements):
            append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { append(UInt8(ascii: ",")) }
                append(json: element)
            }
            append(UInt8(ascii: "]"))
        }
    }

    /// True for values that JSON can represent directly: integers, finite numbers and booleans. Swift's descriptions of
    /// these are valid JSON.
    private static func isLiteral(_ value: any CustomStringConvertible) -> Bool {
        switch value {
        case is any FixedWidthInteger, is Bool: true
        case let number as Double: number.isFinite
        case let number as Float: number.isFinite
        default: false
        }
    }
}
