/// The name and value pairs of a query: `name=value&name=value` (WHATWG URL, section 5.1).
public struct QueryParameters: Sendable, Hashable {
    /// One pair, decoded.
    public struct Parameter: Sendable, Hashable {
        /// What stands before the first `=`, or all of it.
        public let name: String
        /// What stands after the first `=`; empty if there is none.
        public let value: String
    }

    /// The pairs, in order. Empty pairs (`&&`) are left out.
    public private(set) var all: [Parameter] = []

    init() {}

    /// Adds a pair as sent.
    mutating func append(_ pair: Span<UInt8>) throws(RequestRefusal) {
        let nameEnd = pair.firstIndex(of: ASCII.equals) ?? pair.count
        let name = try PercentDecoding.decode(pair.extracting(first: nameEnd))
        let value =
            nameEnd == pair.count
            ? "" : try PercentDecoding.decode(pair.extracting((nameEnd + 1)...))
        all.append(Parameter(name: name, value: value))
    }

    /// The first value with this name.
    public subscript(name: String) -> String? {
        for parameter in all where parameter.name == name { return parameter.value }
        return nil
    }

    /// Every value with this name, in order.
    public func values(_ name: String) -> [String] {
        all.compactMap { $0.name == name ? $0.value : nil }
    }

    /// Whether a name occurs more than once. Which of the values is meant would be a guess.
    public func isRepeated(_ name: String) -> Bool {
        var count = 0
        for parameter in all where parameter.name == name { count += 1 }
        return count > 1
    }
}
