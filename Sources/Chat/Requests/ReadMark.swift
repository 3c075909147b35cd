public import Wire

/// The position up to which a user has read a room, as in the body of `PUT …/read`: `{"seq":120}`.
public enum ReadMark {
    /// Decodes the body. Unknown fields are ignored.
    ///
    /// - Returns: a `seq`, not negative; it may lie beyond the room's head.
    /// - Throws: 400 `invalid_json` if the body is not JSON, or not an object; 400 `invalid_field` if `seq` is missing,
    ///   not an integer, or negative.
    public static func decode(_ body: [UInt8]) throws(Problem) -> Int64 {
        var reader = try FieldReader(body: body)
        var seq: Int64?
        while let name = try reader.json.nextName() {
            if reader.json.matches(name, "seq") {
                seq = try reader.integer("seq")
            } else {
                try reader.json.skipValue()
            }
        }
        try reader.finish()
        guard let seq, seq >= 0 else { throw .invalidField("seq", must: "an integer, 0 or greater") }
        return seq
    }

    /// Parses the parameter `from` of `GET …/reads`; `nil` is an absent parameter, for all marks.
    ///
    /// - Throws: 400 `invalid_field` if it is not a decimal number.
    public static func parseFrom(_ string: String?) throws(Problem) -> Int64 {
        guard let string else { return 0 }
        guard let seq = Int64(clampingDigits: string) else { throw .invalidField("from", must: "a decimal number") }
        return seq
    }
}
