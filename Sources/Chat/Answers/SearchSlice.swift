public import Wire

/// Messages that match a search, read in one transaction.
public struct SearchSlice: Sendable {
    /// A message that matches.
    public struct Hit: Sendable {
        /// The snapshot of the message.
        public var message: [UInt8]
        /// The places of the words in the text, in UTF-16 units.
        public var highlights: [Range<Int>]

        /// Creates a hit.
        public init(message: [UInt8], highlights: [Range<Int>]) {
            self.message = message
            self.highlights = highlights
        }
    }

    /// The hits, newest first.
    public var hits: [Hit]
    /// The cursor of the next page; `nil` at the end of the list.
    public var next: MessageCursor?
    /// The time before which messages may be missing because they are not indexed yet; `nil` if none is.
    public var indexedTo: Timestamp?

    /// Creates a slice of the list.
    public init(hits: [Hit], next: MessageCursor?, indexedTo: Timestamp? = nil) {
        self.hits = hits
        self.next = next
        self.indexedTo = indexedTo
    }

    /// The number of bytes of messages in the slice.
    public var messageBytes: Int { hits.reduce(0) { $0 + $1.message.count } }

    /// Appends the list as a JSON object, the answer to a search.
    public func encode(epoch: String, into out: inout [UInt8]) {
        out.append(literal: #"{"hits":["#)
        for (index, hit) in hits.enumerated() {
            out.append(literal: index == 0 ? #"{"message":"# : #",{"message":"#)
            out.append(contentsOf: hit.message)
            out.append(literal: #","highlights":["#)
            out.append(
                contentsOf: hit.highlights.map { "[\($0.lowerBound),\($0.upperBound)]" }.joined(separator: ",").utf8)
            out.append(literal: "]}")
        }
        out.append(UInt8(ascii: "]"))
        out.append(member: "has_more", next != nil)
        if let next { out.append(member: "cursor", next.description) }
        if let indexedTo { out.append(member: "indexed_to", "\(indexedTo)") }
        out.append(member: "epoch", epoch)
        out.append(UInt8(ascii: "}"))
    }
}
