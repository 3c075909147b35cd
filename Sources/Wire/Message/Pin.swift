/// The pin of a message: it is listed among the pinned messages of its room.
public struct Pin: Sendable, Hashable {
    /// The user who has pinned it; ``UserID/deleted`` once that user is erased.
    public var by: UserID
    /// The time when it was pinned.
    public var at: Timestamp

    /// Creates a pin.
    public init(by: UserID, at: Timestamp) {
        self.by = by
        self.at = at
    }

    /// Appends the pin as a JSON object.
    public func encode(into out: inout [UInt8]) {
        out.append(literal: #"{"by":"#)
        out.append(quoted: by.string)
        out.append(literal: #","at":""#)
        at.append(to: &out)
        out.append(literal: #""}"#)
    }
}

extension FieldReader {
    /// Reads the pin of a message; `nil` for null. The user id is not validated.
    package mutating func pin() throws(Problem) -> Pin? {
        if try json.peek() == .null {
            try json.readNull()
            return nil
        }
        guard try enterObject("pinned") else { return nil }
        var (by, at): (String?, Timestamp?)
        while let name = try json.nextName() {
            if json.matches(name, "by") {
                by = try string("pinned.by")
            } else if json.matches(name, "at") {
                at = try string("pinned.at").flatMap { Timestamp(rfc3339: $0) }
            } else {
                try json.skipValue()
            }
        }
        guard let by, let at else {
            note(.invalidField("pinned", must: "an object with by, a user id, and at, an RFC 3339 time"), isType: true)
            return nil
        }
        return Pin(by: UserID(trusted: by), at: at)
    }
}
