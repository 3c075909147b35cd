/// The elements of `Sec-WebSocket-Extensions` over all its lines (RFC 6455 §9.1): names with parameters.
///
///     permessage-deflate; client_max_window_bits; server_max_window_bits="10", permessage-deflate
struct ExtensionList {
    /// An offered or accepted extension.
    struct Element: Equatable {
        var name: String
        /// The parameters in order. A quoted value has no quotation marks; nil means that there is no value.
        var parameters: [Parameter] = []
    }

    struct Parameter: Equatable {
        var name: String
        var value: String?
    }

    let elements: [Element]

    /// Parses the field. Returns nil if it is malformed.
    init?(_ lines: [String]) {
        var elements: [Element] = []
        for line in lines {
            var rest = Scanner(line)
            repeat {
                // Lists may have empty elements (RFC 9110 §5.6.1.2).
                guard !rest.isAtEndOfElement else { continue }
                guard let element = rest.element() else { return nil }
                elements.append(element)
            } while rest.skip(UInt8(ascii: ","))
            guard rest.isAtEnd else { return nil }
        }
        self.elements = elements
    }
}

extension ExtensionList {
    /// The rest of a line. Whitespace between the parts is skipped.
    private struct Scanner {
        private var rest: Substring.UTF8View

        init(_ line: String) {
            rest = Substring(line).utf8
            skipSpace()
        }

        var isAtEnd: Bool { rest.isEmpty }

        var isAtEndOfElement: Bool { isAtEnd || rest.first == UInt8(ascii: ",") }

        mutating func skip(_ separator: UInt8) -> Bool {
            guard rest.first == separator else { return false }
            rest.removeFirst()
            skipSpace()
            return true
        }

        mutating func element() -> Element? {
            guard let name = token() else { return nil }
            var element = Element(name: name)
            while skip(UInt8(ascii: ";")) {
                guard let parameter = parameter() else { return nil }
                element.parameters.append(parameter)
            }
            return element
        }

        private mutating func parameter() -> Parameter? {
            guard let name = token() else { return nil }
            guard skip(UInt8(ascii: "=")) else { return Parameter(name: name) }
            guard let value = rest.first == UInt8(ascii: "\"") ? quotedToken() : token() else { return nil }
            return Parameter(name: name, value: value)
        }

        private mutating func token() -> String? {
            let token = rest.prefix(while: TokenList.isTokenCharacter)
            guard !token.isEmpty else { return nil }
            rest = rest[token.endIndex...]
            skipSpace()
            return String(Substring(token))
        }

        /// Reads a quoted string, which must be a token once the backslashes are removed (§9.1).
        private mutating func quotedToken() -> String? {
            rest.removeFirst()
            var token: [UInt8] = []
            while var byte = rest.popFirst() {
                if byte == UInt8(ascii: "\"") {
                    skipSpace()
                    return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
                }
                if byte == UInt8(ascii: "\\") {
                    guard let quoted = rest.popFirst() else { return nil }
                    byte = quoted
                }
                guard TokenList.isTokenCharacter(byte) else { return nil }
                token.append(byte)
            }
            return nil
        }

        private mutating func skipSpace() {
            rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        }
    }
}
