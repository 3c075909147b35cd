/// The addresses that proxies report for a request, nearest first. The first is the peer of the proxy in front of the
/// server, the second the peer of the proxy behind that, and so on.
///
/// Each proxy appends to what it received. Only the entries of trusted proxies, at the end, are reliable; a client can
/// forge everything before them. The sequence therefore starts at the end. It returns ``Hop/hidden`` for an entry that
/// cannot be parsed; no hop after it can be trusted.
public struct ForwardedHops: Sequence, IteratorProtocol {
    /// Maximum number of hops returned. Further ones are ignored.
    public static let maximum = 32

    /// One hop, as a proxy names it.
    public enum Hop: Equatable, Sendable {
        /// The text of an IP address, without brackets and port. The text is not validated.
        case address(Substring)
        /// `unknown`, an obfuscated identifier, or text that is not an address.
        case hidden
    }

    private enum Kind {
        case forwarded, forwardedFor
    }

    private let kind: Kind
    /// The lines not yet read, in the order in which they were sent.
    private var lines: ArraySlice<String>
    /// The hops of the current line, in the order in which they were sent.
    private var hops: [Hop] = []
    private var count = 0

    /// Returns the hops of `Forwarded` lines (RFC 7239, section 4).
    public static func forwarded(_ lines: [String]) -> ForwardedHops {
        ForwardedHops(kind: .forwarded, lines: lines[...])
    }

    /// Returns the hops of `X-Forwarded-For` lines: lists of addresses, with or without ports.
    public static func xForwardedFor(_ lines: [String]) -> ForwardedHops {
        ForwardedHops(kind: .forwardedFor, lines: lines[...])
    }

    /// Returns the next hop, or `nil` if there are no more.
    public mutating func next() -> Hop? {
        while hops.isEmpty {
            guard let line = lines.popLast() else { return nil }
            hops = kind == .forwarded ? Self.hops(ofForwarded: line) : Self.hops(ofForwardedFor: line)
        }
        guard count < Self.maximum else { return nil }
        count += 1
        return hops.removeLast()
    }

    // MARK: X-Forwarded-For

    private static func hops(ofForwardedFor line: String) -> [Hop] {
        line.split(separator: ",").compactMap { element in
            let text = element.trimmingOptionalWhitespace()
            return text.isEmpty ? nil : hop(text)
        }
    }

    // MARK: Forwarded

    /// Returns the hops of one line. If any part is malformed the whole line is unreliable: an unclosed quotation mark
    /// swallows what the next proxy appended.
    private static func hops(ofForwarded line: String) -> [Hop] {
        var hops: [Hop] = []
        var scanner = Scanner(rest: line.utf8[...])
        repeat {
            scanner.skipWhitespace()
            // Elements of lists may be empty (RFC 9110, section 5.6.1.2).
            if scanner.isAtEnd || scanner.rest.first == ASCII.comma { continue }
            guard let hop = scanner.element() else { return [.hidden] }
            hops.append(hop)
        } while scanner.take(ASCII.comma)
        return scanner.isAtEnd ? hops : [.hidden]
    }

    /// Reads `forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] )`.
    private struct Scanner {
        var rest: Substring.UTF8View

        var isAtEnd: Bool { rest.isEmpty }

        mutating func skipWhitespace() {
            rest = rest.drop { $0.isOptionalWhitespace }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest.removeFirst()
            return true
        }

        /// Returns the hop of the current element, or `nil` if it is malformed.
        mutating func element() -> Hop? {
            var hop: Hop?
            var names: [String] = []
            repeat {
                skipWhitespace()
                if isAtEnd || rest.first == ASCII.semicolon || rest.first == ASCII.comma { continue }
                guard let name = token(), take(ASCII.equals), let value = value() else { return nil }
                let lowered = String(name).lowercased()
                // A parameter may occur once per element (RFC 7239, section 4).
                guard !names.contains(lowered) else { return nil }
                names.append(lowered)
                if lowered == "for" { hop = ForwardedHops.hop(value) }
                skipWhitespace()
            } while take(ASCII.semicolon)
            return hop ?? .hidden
        }

        private mutating func token() -> Substring? {
            let token = ASCIISet.token
            let found = rest.prefix { token.contains($0) }
            rest = rest.dropFirst(found.count)
            return found.isEmpty ? nil : Substring(found)
        }

        private mutating func value() -> Substring? {
            guard take(ASCII.doubleQuote) else { return token() }
            var bytes: [UInt8] = []
            while let byte = rest.popFirst() {
                switch byte {
                case ASCII.doubleQuote: return String(validating: bytes, as: UTF8.self)?[...]
                case ASCII.backslash:
                    guard let escaped = rest.popFirst() else { return nil }
                    bytes.append(escaped)
                default: bytes.append(byte)
                }
            }
            return nil
        }
    }

    // MARK: Nodes

    /// Parses `node = nodename [ ":" node-port ]` (RFC 7239, section 6). It also accepts an IPv6 address without
    /// brackets, which is common in `X-Forwarded-For`.
    private static func hop(_ node: Substring) -> Hop {
        if node.utf8.first == ASCII.leftBracket {
            guard let end = node.utf8.firstIndex(of: ASCII.rightBracket) else { return .hidden }
            let port = node[node.utf8.index(after: end)...]
            return isPort(port) ? .address(node[node.utf8.index(after: node.startIndex)..<end]) : .hidden
        }
        guard let colon = node.utf8.firstIndex(of: ASCII.colon) else { return named(node) }
        guard colon == node.utf8.lastIndex(of: ASCII.colon) else { return named(node) }
        return isPort(node[colon...]) ? named(node[..<colon]) : .hidden
    }

    private static func named(_ name: Substring) -> Hop {
        name.isEmpty || name.utf8.first == UInt8(ascii: "_") || name.lowercased() == "unknown"
            ? .hidden : .address(name)
    }

    /// Returns true for an empty text, and for a colon and a port: up to five digits, or an obfuscated port, which
    /// begins with `_`.
    private static func isPort(_ text: Substring) -> Bool {
        guard let colon = text.utf8.first else { return true }
        let port = text.utf8.dropFirst()
        guard colon == ASCII.colon, let first = port.first else { return false }
        if first == UInt8(ascii: "_") {
            let token = ASCIISet.token
            return port.count > 1 && port.allSatisfy { token.contains($0) }
        }
        return port.count <= 5 && port.allSatisfy { $0.digitValue != nil }
    }
}
