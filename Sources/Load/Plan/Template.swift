import Wire

/// A text with placeholders such as `{room}`, for addresses, header fields and bodies that differ by message.
///
/// A placeholder is a brace, lower-case letters and a brace. Any other text in braces is kept, so JSON needs no
/// escaping.
struct Template: Equatable, Sendable {
    /// A placeholder that can be filled in.
    enum Placeholder: String, CaseIterable, Sendable {
        /// The room's number, from 0.
        case room
        /// The subscriber's number, from 0.
        case conn
        /// The publisher connection's number, from 0.
        case pub
        /// The message's number in its room, from 0.
        case seq
        /// The time when the message was due, in nanoseconds since the start of the run.
        case ts
        /// The run's number, different each time.
        case run
        /// A random number from the range of `--rand`.
        case rand
        /// The mark by which the message is recognized.
        case mark
        /// Padding with `x` up to the body size of `--size`.
        case pad
        /// The body's length in bytes.
        case length
    }

    /// The values of the placeholders.
    struct Values: Sendable {
        var run: Int64 = 0
        var room = 0
        var subscriber = 0
        var publisher = 0
        var number = 0
        var time: Int64 = 0
        var random: Int64 = 0
        var padding = 0
        var length = 0
    }

    private enum Part: Equatable, Sendable {
        case literal([UInt8])
        case value(Placeholder)
    }

    private var parts: [Part] = []

    /// Parses a template.
    ///
    /// - Parameters:
    ///   - text: the user's input.
    ///   - source: the option's name, for the error.
    ///   - allowed: the placeholders that are allowed there.
    /// - Throws: an error that names an unknown placeholder.
    init(_ text: String, source: String, allowed: Set<Placeholder> = Set(Placeholder.allCases)) throws(LoadError) {
        var literal: [UInt8] = []
        let bytes = Array(text.utf8)
        var index = 0
        while index < bytes.count {
            guard let name = Self.placeholderName(in: bytes, at: index) else {
                literal.append(bytes[index])
                index += 1
                continue
            }
            guard let placeholder = Placeholder(rawValue: name), allowed.contains(placeholder) else {
                let known = Placeholder.allCases.filter(allowed.contains).map { "{\($0.rawValue)}" }
                throw LoadError(
                    "\(source): {\(name)} cannot be filled in here; there is \(known.joined(separator: " "))")
            }
            if !literal.isEmpty { parts.append(.literal(literal)) }
            literal = []
            parts.append(.value(placeholder))
            index += name.utf8.count + 2
        }
        if !literal.isEmpty { parts.append(.literal(literal)) }
    }

    /// Returns the letters between the braces that begin at `index`; nil if there is no placeholder.
    private static func placeholderName(in bytes: [UInt8], at index: Int) -> String? {
        guard bytes[index] == UInt8(ascii: "{") else { return nil }
        let letters = bytes[(index + 1)...].prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        guard !letters.isEmpty, letters.endIndex < bytes.count, bytes[letters.endIndex] == UInt8(ascii: "}") else {
            return nil
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// Returns true if the placeholder occurs.
    func contains(_ placeholder: Placeholder) -> Bool {
        parts.contains(.value(placeholder))
    }

    /// Appends the text with the values filled in.
    func append(_ values: Values, to output: inout [UInt8]) {
        for part in parts {
            switch part {
            case .literal(let bytes): output.append(contentsOf: bytes)
            case .value(.room): output.append(decimal: Int64(values.room))
            case .value(.conn): output.append(decimal: Int64(values.subscriber))
            case .value(.pub): output.append(decimal: Int64(values.publisher))
            case .value(.seq): output.append(decimal: Int64(values.number))
            case .value(.ts): output.append(decimal: values.time)
            case .value(.run): output.append(decimal: values.run)
            case .value(.rand): output.append(decimal: values.random)
            case .value(.mark):
                Mark(run: values.run, room: values.room, number: values.number, time: values.time).append(to: &output)
            case .value(.pad): output.append(contentsOf: repeatElement(UInt8(ascii: "x"), count: values.padding))
            case .value(.length): output.append(decimal: Int64(values.length))
            }
        }
    }

    /// Returns the text with the values filled in.
    func text(_ values: Values) -> String {
        var bytes: [UInt8] = []
        append(values, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
