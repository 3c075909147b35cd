/// The addresses that proxies say a request came from, nearest first: the first is whom the proxy in front of the server
/// was asked by, the next whom that one was asked by.
///
/// Each proxy adds to the end of what it received, so only the end is as true as the proxies are; everything before it may
/// be made up. Reading therefore goes from the end, and stops where a proxy's words cannot be understood.
public struct ForwardedHops: Sequence, IteratorProtocol {
    /// The most hops that are given. What lies beyond is not looked at.
    public static let maximum = 32

    /// One hop, as a proxy names it.
    public enum Hop: Equatable, Sendable {
        /// The text of an IP address, without brackets and port. Whether it is one is for the reader to see.
        case address(Substring)
        /// `unknown`, an obfuscated identifier, or something that is no address.
        case hidden
    }

    private enum Kind {
        case forwarded, forwardedFor
    }

    private let kind: Kind
    /// The lines that have not been read, in the order in which they were sent.
    private var lines: ArraySlice<String>
    /// The hops of the line that is being read, in the order in which they were sent.
    private var hops: [Hop] = []
    private var count = 0

    /// The hops of `Forwarded` lines (RFC 7239, section 4).
    public static func forwarded(_ lines: [String]) -> ForwardedHops {
        ForwardedHops(kind: .forwarded, lines: lines[...])
    }

    /// The hops of `X-Forwarded-For` lines: a list of addresses, with or without ports.
    public static func xForwardedFor(_ lines: [String]) -> ForwardedHops {
        ForwardedHops(kind: .forwardedFor, lines: lines[...])
    }

    private init(kind: Kind, lines: ArraySlice<String>) {
        self.kind = kind
        self.lines = lines
    }

    /// The next hop; `nil` when there are no more.
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

    /// A line that is malformed anywhere says nothing certain of any proxy: a quotation mark that is never closed swallows
    /// what the next proxy has added.
    private static func hops(ofForwarded line: String) -> [Hop] {
        var hops: [Hop] = []
        var scanner = Scanner(line.utf8)
        repeat {
            scanner.skipWhitespace()
            // Elements of lists may be empty (RFC 9110, section 5.6.1.2).
            if scanner.isAtEnd || scanner.peek == ASCII.comma { continue }
            guard let hop = scanner.element() else { return [.hidden] }
            hops.append(hop)
        } while scanner.take(ASCII.comma)
        return scanner.isAtEnd ? hops : [.hidden]
    }

    /// Reads `forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] )`.
    private struct Scanner {
        private var rest: Substring.UTF8View

        init(_ text: String.UTF8View) {
            rest = text[...]
        }

        var peek: UInt8? { rest.first }
        var isAtEnd: Bool { rest.isEmpty }

        mutating func skipWhitespace() {
            rest = rest.drop { $0.isOptionalWhitespace }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest.removeFirst()
            return true
        }

        /// The hop of the element at hand; `nil` if it is malformed.
        mutating func element() -> Hop? {
            var hop: Hop?
            var names: [String] = []
            repeat {
                skipWhitespace()
                if isAtEnd || peek == ASCII.semicolon || peek == ASCII.comma { continue }
                guard let name = token(), take(ASCII.equals), let value = value() else { return nil }
                let lowered = String(name).lowercased()
                // Each parameter at most once (RFC 7239, section 4).
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

    /// Reads `node = nodename [ ":" node-port ]` (RFC 7239, section 6), and an IPv6 address without brackets, which is
    /// usual in `X-Forwarded-For`.
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

    /// True for nothing, and for a colon and a port: five digits, or an obfuscated one that begins with `_`.
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
