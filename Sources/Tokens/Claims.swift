import Chat
import Wire

/// The claims in the payload of a token that the server uses (RFC 7519, section 4.1).
///
/// A claim of the wrong type is refused, including `null`: an issuer's mistake must not turn a limited token into an
/// unlimited one.
struct Claims: Equatable {
    /// Maximum number of elements of `rooms`. Each is compared with the room of every request.
    static let maximumRooms = 128

    /// `sub`: the user.
    var subject: String?
    /// `exp`, in seconds since 1970, possibly with a fraction (section 2, "NumericDate").
    var expiry: Double?
    /// `nbf`, in seconds since 1970, possibly with a fraction.
    var notBefore: Double?
    /// `iss`.
    var issuer: String?
    /// `aud`: one string or several.
    var audience: [String]?
    /// `rooms`: room ids or patterns.
    var rooms: [RoomPattern]?
    /// `admin`.
    var isAdmin = false
    /// `name` and `picture` (OpenID Connect Core, section 5.1). Other values than strings are ignored, because these claims
    /// give no rights.
    var name: String?
    /// See ``name``.
    var picture: String?

    /// Parses a payload.
    ///
    /// - Parameter json: the decoded payload.
    /// - Throws: 401 `token_invalid`.
    init(_ json: [UInt8]) throws(Problem) {
        var claim = "payload"
        do throws(Problem) {
            var json = try JSONScanner(json)
            try json.enterObject()
            while let name = try json.nextName() {
                claim = json.string(name)
                switch claim {
                case "sub": subject = json.string(try json.readString())
                case "exp": expiry = try json.readDate()
                case "nbf": notBefore = try json.readDate()
                case "iss": issuer = json.string(try json.readString())
                case "aud": audience = try json.peek() == .array ? json.readStrings() : [json.string(json.readString())]
                case "rooms": rooms = try json.readRooms()
                case "admin": isAdmin = try json.readBoolean()
                case "name": self.name = try json.readStringIfAny()
                case "picture": picture = try json.readStringIfAny()
                default:
                    claim = "payload"
                    try json.skipValue()
                }
                claim = "payload"
            }
            try json.finish()
        } catch {
            // The error names the claim at fault, but repeats nothing from the token.
            throw error.code == .tokenInvalid ? error : .tokenInvalid("The token's \(claim) cannot be read.")
        }
    }
}

extension JSONScanner {
    /// Reads a NumericDate.
    fileprivate mutating func readDate() throws(Problem) -> Double {
        guard try peek() == .number, let date = Double(String(decoding: try readCompact().bytes, as: UTF8.self)),
            date.isFinite
        else { throw .invalidJSON("") }
        return date
    }

    /// Reads a value; `nil` if it is not a string.
    fileprivate mutating func readStringIfAny() throws(Problem) -> String? {
        guard try peek() == .string else {
            try skipValue()
            return nil
        }
        return string(try readString())
    }

    fileprivate mutating func readStrings() throws(Problem) -> [String] {
        var strings: [String] = []
        try enterArray()
        while try nextElement() { strings.append(string(try readString())) }
        return strings
    }

    fileprivate mutating func readRooms() throws(Problem) -> [RoomPattern] {
        var rooms: [RoomPattern] = []
        for string in try readStrings() {
            guard let room = RoomPattern(string) else {
                throw .tokenInvalid("The token's rooms must be room ids, or patterns with *.")
            }
            rooms.append(room)
        }
        guard rooms.count <= Claims.maximumRooms else {
            throw .tokenInvalid(
                "The token's rooms must not have more than \(Claims.maximumRooms) elements.",
                limit: Claims.maximumRooms)
        }
        return rooms
    }
}
