public import Wire

/// Pinned messages of a room, read in one transaction.
public struct PinSlice: Sendable {
    /// The messages' snapshots, latest pin first, joined by commas.
    public var messages: [UInt8]
    /// The revision at which the last of them was pinned, after which the rest follows; `nil` at the end of the list.
    public var next: Int64?

    /// Creates a part of the list.
    public init(messages: [UInt8] = [], next: Int64? = nil) {
        self.messages = messages
        self.next = next
    }

    /// Appends the list as a JSON object, the answer to `GET …/pins`.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"messages":["#)
        out.append(contentsOf: messages)
        out.append(UInt8(ascii: "]"))
        out.append(member: "has_more", next != nil)
        if let next { out.append(member: "cursor", "\(next)") }
        out.append(UInt8(ascii: "}"))
    }

    /// Parses a cursor; `nil` is an absent parameter.
    ///
    /// - Throws: 400 `invalid_cursor`.
    public static func cursor(parsing text: String?) throws(Problem) -> Int64? {
        guard let text else { return nil }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let rev = Int64(text) else {
            throw .invalidCursor("cursor", detail: "The cursor must come from an answer of this list.")
        }
        return rev
    }
}
