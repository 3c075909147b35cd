import Chat
import Wire

/// What the payload of a token says (RFC 7519, section 4.1), as far as it matters here.
///
/// A claim of the wrong type is refused, `null` too: a token that was meant to be limited must not become unlimited by
/// a mistake of whoever issues it.
struct Claims: Equatable {
    /// The most elements of `rooms`, because each is held against the room of each request.
    static let maximumRooms = 128

    /// `sub`: the user.
    var subject: String?
    /// `exp`, in seconds since 1970 with a fraction if need be (section 2, "NumericDate").
    var expiry: Double?
    /// `nbf`, likewise.
    var notBefore: Double?
    /// `iss`.
    var issuer: String?
    /// `aud`: one string, or several.
    var audience: [String]?
    /// `rooms`: room ids or patterns of them.
    var rooms: [RoomPattern]?
    /// `admin`.
    var isAdmin = false

    /// Reads a payload.
    ///
    /// - Parameter json: the payload, decoded.
    /// - Throws: 401 `token_invalid`.
    init(_ json: [UInt8]) throws(Problem) {
        var claim = "payload"
        do throws(Problem) {
            var json = try JSONScanner(json)
            try json.enterObject()
            while let name = try json.nextName() {
                if json.matches(name, "sub") {
                    claim = "sub"
                    subject = json.string(try json.readString())
                } else if json.matches(name, "exp") {
                    claim = "exp"
                    expiry = try json.readDate()
                } else if json.matches(name, "nbf") {
                    claim = "nbf"
                    notBefore = try json.readDate()
                } else if json.matches(name, "iss") {
                    claim = "iss"
                    issuer = json.string(try json.readString())
                } else if json.matches(name, "aud") {
                    claim = "aud"
                    audience = try json.peek() == .array ? json.readStrings() : [json.string(json.readString())]
                } else if json.matches(name, "rooms") {
                    claim = "rooms"
                    rooms = try json.readRooms()
                } else if json.matches(name, "admin") {
                    claim = "admin"
                    isAdmin = try json.readBoolean()
                } else {
                    try json.skipValue()
                }
                claim = "payload"
            }
            try json.finish()
        } catch {
            // What is at fault is named, but nothing of what the token says is repeated.
            throw error.code == .tokenInvalid ? error : .tokenInvalid("The token's \(claim) cannot be read.")
        }
    }
}

extension JSONScanner {
    /// Reads a NumericDate.
    fileprivate mutating func readDate() throws(Problem) -> Double {
        guard try peek() == .number, let date = Double(String(decoding: try readCompact().bytes, as: UTF8.self)),
            date.isFinite
        else { throw unreadable }
        return date
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
                throw .tokenInvalid("The token's rooms must be room ids, or patterns of them with *.")
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

    private var unreadable: Problem { .invalidJSON("") }
}
