/// The options of the Connection field that HTTP/1.1 defines (RFC 9110, section 7.6.1).
struct ConnectionOptions: OptionSet, Sendable, Hashable {
    let rawValue: UInt8

    /// This is the connection's last message (RFC 9112, section 9.6).
    static let close = ConnectionOptions(rawValue: 1)
    /// An HTTP/1.0 sender wants the connection to persist (RFC 9112, section 9.3).
    static let keepAlive = ConnectionOptions(rawValue: 2)

    /// Adds the options that a line lists. Unknown options only name hop-by-hop fields, which concern proxies.
    mutating func add(_ value: Span<UInt8>) {
        var start = 0
        while true {
            let end = value.firstIndex(of: ASCII.comma, from: start) ?? value.count
            let option = value.extracting(value.boundsWithoutWhitespace(from: start, to: end))
            switch option.count {
            case 5 where option.equals(ignoringCase: "close"): insert(.close)
            case 10 where option.equals(ignoringCase: "keep-alive"): insert(.keepAlive)
            default: break
            }
            if end == value.count { break }
            start = end + 1
        }
    }

    /// Returns true if the connection persists after this message (RFC 9112, section 9.3).
    func persists(minorVersion: Int) -> Bool {
        !contains(.close) && (minorVersion >= 1 || contains(.keepAlive))
    }
}
