/// The name and value pairs of a query: `name=value&name=value`, where a plus is a space (WHATWG URL, section 5.1).
public struct QueryParameters: Sendable, Hashable {
    /// One pair, decoded.
    public struct Parameter: Sendable, Hashable {
        /// The text before the first `=`, or the whole pair.
        public let name: String
        /// The text after the first `=`; empty if there is none.
        public let value: String
    }

    /// The first pair. Most queries have only one and need no array.
    private var first: Parameter?
    private var others: [Parameter] = []

    /// The pairs, in order. Empty pairs (`&&`) are left out.
    public var all: [Parameter] { first.map { [$0] + others } ?? [] }

    init() {}

    /// Adds a pair as sent.
    ///
    /// - Parameter isPlain: True if the pair is known to be ASCII without percent-encodings.
    mutating func append(_ pair: Span<UInt8>, isPlain: Bool) throws(RequestRefusal) {
        let nameEnd = pair.firstIndex(of: ASCII.equals) ?? pair.count
        let name = try PercentDecoding.decode(pair.extracting(first: nameEnd), isPlain: isPlain, isForm: true)
        let value =
            nameEnd == pair.count
            ? "" : try PercentDecoding.decode(pair.extracting((nameEnd + 1)...), isPlain: isPlain, isForm: true)
        let parameter = Parameter(name: name, value: value)
        if first == nil { first = parameter } else { others.append(parameter) }
    }

    /// The first value with this name.
    public subscript(name: String) -> String? {
        if let first, first.name == name { return first.value }
        for parameter in others where parameter.name == name { return parameter.value }
        return nil
    }

    /// Returns true if a name occurs more than once. Refuse such a query: either value would be a guess.
    public func isRepeated(_ name: String) -> Bool {
        var count = first?.name == name ? 1 : 0
        for parameter in others where parameter.name == name { count += 1 }
        return count > 1
    }
}
