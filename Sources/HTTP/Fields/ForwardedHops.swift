/// The addresses that proxies report for a request, nearest first. The first is the peer of the proxy in front of the
/// server, the second the peer of the proxy behind that, and so on.
///
/// Each proxy appends to what it received. Only the entries of trusted proxies, at the end, are reliable; a client can
/// forge everything before them. The sequence therefore starts at the end. It returns ``Hop/hidden`` for an entry that
/// cannot be parsed; no hop after it can be trusted.
public struct ForwardedHops: Sequence, IteratorProtocol {
    /// Maximum number of hops returned. Further ones are ignored.
    public static let maximum = 32
    /// Maximum number of elements of a `Forwarded` line. A line with more is malformed. It must be parsed from its start,
    /// because of quotation marks, so without a bound a long line would take milliseconds.
    static let maximumElements = 64
    /// Maximum number of parameters of an element of `Forwarded`. An element with more is malformed. RFC 7239 defines
    /// four. Each is compared with those before it, so without a bound a long element would take milliseconds.
    static let maximumParameters = 16

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
    /// The hops of the current `Forwarded` line, in the order in which they were sent.
    private var hops: [Hop] = []
    /// The part of the current `X-Forwarded-For` line that is not yet read. It is read from its end, so that a long line
    /// costs no more than the hops that are asked for.
    private var rest: Substring = ""
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
        guard count < Self.maximum else { return nil }
        while true {
            if let hop = kind == .forwarded ? hops.popLast() : lastForwardedFor() {
                count += 1
                return hop
            }
            guard let line = lines.popLast() else { return nil }
            if kind == .forwarded { hops = Self.hops(ofForwarded: line) } else { rest = line[...] }
        }
    }

    // MARK: X-Forwarded-For

    /// Takes the last hop of the current line; `nil` if none is left. Elements of lists may be empty (RFC 9110, section
    /// 5.6.1.2).
    private mutating func lastForwardedFor() -> Hop? {
        while !rest.isEmpty {
            let comma = rest.utf8.lastIndex(of: ASCII.comma)
            let element = comma.map { rest[rest.utf8.index(after: $0)...] } ?? rest
            rest = comma.map { rest[..<$0] } ?? ""
            let text = element.trimmingOptionalWhitespace()
            if !text.isEmpty { return Self.hop(text) }
        }
        return nil
    }

    // MARK: Forwarded

    /// Returns the hops of one line. If any part is malformed the whole line is unreliable: an unclosed quotation mark
    /// swallows what the next proxy appended.
    private static func hops(ofForwarded line: String) -> [Hop] {
        var hops: [Hop] = []
        var scanner = Scanner(line)
        repeat {
            scanner.skipWhitespace()
            // Elements of lists may be empty (RFC 9110, section 5.6.1.2).
            if scanner.isAtEnd || scanner.rest.first == ASCII.comma { continue }
            guard hops.count < maximumElements, let hop = scanner.element() else { return [.hidden] }
            hops.append(hop)
        } while scanner.take(ASCII.comma)
        return scanner.isAtEnd ? hops : [.hidden]
    }

    /// Reads `forwarded-element = [ forwarded-pair ] *( ";" [ forwarded-pair ] )`.
    private struct Scanner {
        var rest: Substring.UTF8View
        /// The names of the current element's parameters.
        private var names: [Substring] = []

        init(_ line: String) {
            rest = line.utf8[...]
        }

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
            names.removeAll(keepingCapacity: true)
            repeat {
                skipWhitespace()
                if isAtEnd || rest.first == ASCII.semicolon || rest.first == ASCII.comma { continue }
                guard let name = token(), take(ASCII.equals), let value = value() else { return nil }
                // A parameter may occur once per element (RFC 7239, section 4).
                guard names.count < ForwardedHops.maximumParameters,
                    !names.contains(where: { $0.equals(ignoringASCIICase: name) })
                else { return nil }
                names.append(name)
                if name.equals(ignoringASCIICase: "for") { hop = ForwardedHops.hop(value) }
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
        name.isEmpty || name.utf8.first == UInt8(ascii: "_") || name.equals(ignoringASCIICase: "unknown")
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
