import HTTPTypes
import TestSupport
import WebSocket

/// Generates requests and frames with troublesome values in place of the API's numbers, texts, objects and places.
struct NastyValues {
    private var random: SeededGenerator

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
    }

    static let numbers = [
        "0", "-0", "1", "-1", "1.5", "1e2", "1E+2", "5.0", "0.0e999", "1e308", "1e400", "1e18", "1e19",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809",
        "18446744073709551616", "9.223372036854775807e18", "1e9223372036854775807", "1e-9223372036854775808",
        "12e9223372036854775806", "0.1e-9223372036854775808", "1e99999999999999999999", "00", "+1", ".5", "1.", "1e",
        "NaN", "0x10", "1" + String(repeating: "0", count: 400), "0." + String(repeating: "0", count: 400) + "1",
    ]
    static let texts = [
        "", "x", "\\u0000", "\\ud800", "\\udc00\\ud800", "\\ud83d\\ude00", "\u{7F}", "\\u202e", "\\x", "\t", "e\\u0301",
        String(repeating: "a", count: 128), String(repeating: "a", count: 129), String(repeating: "é", count: 8193),
        "x" + String(repeating: "\\u0001", count: 16_383),
    ].map { "\"\($0)\"" }
    static let others = [
        "null", "true", "{}", "[]", #"{"a":1,"a":2}"#, #"{"":1}"#, String(repeating: "[", count: 70),
        String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
    ]
    static let places = [
        "", "0", "1", "-1", "+5", "first", "last", "read", "unread", "mention", "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999", "-9223372036854775808", "1e9223372036854775807", "9999-12-31T23:59:60Z",
        "0000-01-01T00:00:00%2B23:59", "0000-01-01T00:00:00-23:59", "9999-12-31T23:59:59.999999999-23:59",
        "2024-02-30T00:00:00Z", "1970-01-01T00:00:00.0000000000000000000000001Z", "%00", "%", "%zz", "a:5", ":5", "5:",
        "abc:9223372036854775807", "%F0%9F%98%80", String(repeating: "x", count: 300),
    ]

    // MARK: Requests

    /// Returns a request, usually of a valid kind.
    mutating func request() -> [UInt8] {
        let messages = "/v1/rooms/\(room())/messages"
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1: return bytes(.post, messages, body: draft())
        case 2: return bytes(.patch, "\(messages)/\(place())", body: draft())
        case 3: return bytes([.delete, .get, .put].randomElement(using: &random)!, "\(messages)/\(place())")
        case 4:
            let anchor = ["before", "after", "around"].randomElement(using: &random)!
            return bytes(.get, "\(messages)?\(anchor)=\(place())&limit=\(place())")
        case 5: return bytes(.get, "/v1/rooms/\(room())/changes?since=\(place())&epoch=\(place())&limit=1000")
        case 6: return bytes(.put, "/v1/rooms/\(room())/read", body: object(["seq"]))
        case 7: return bytes(.get, "/v1/rooms?limit=\(place())&cursor=\(place())")
        default: return bytes(.put, "/v1/rooms/\(room())", body: object(["visibility", "title"]))
        }
    }

    private func bytes(_ method: HTTPRequest.Method, _ target: String, body: String = "") -> [UInt8] {
        let target = target + (target.contains("?") ? "&" : "?") + "user=alice"
        return HTTPClient.bytes(method, target, body: Array(body.utf8))
    }

    private mutating func draft() -> String {
        let image = object(["url", "width", "height", "size", "mime", "title", "thumbhash"], and: #""type":"image""#)
        let attachments = Bool.random(using: &random) ? #""attachments":[\#(image)]"# : #""text":"x""#
        return object(["text", "reply_to", "client_message_id", "data"], and: attachments)
    }

    // MARK: Frames

    /// Returns a frame of a client that is subscribed or wants to be; sometimes an invalid one.
    mutating func frame() -> [UInt8] {
        if Int.random(in: 0..<8, using: &random) == 0 {
            return (0..<Int.random(in: 1...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        let type = ["subscribe", "unsubscribe", "typing", "token"].randomElement(using: &random)!
        let json = object(["room", "since", "epoch", "rooms", "token"], and: #""type":"\#(type)""#)
        return WebSocketClient.frame(.text, Array(json.utf8))
    }

    // MARK: Values

    private mutating func room() -> String {
        ["a", "b", "lobby"].randomElement(using: &random)!
    }

    mutating func place() -> String {
        Self.places.randomElement(using: &random)!
    }

    private mutating func value() -> String {
        let kind = [Self.numbers, Self.texts, Self.others, [#""lobby""#, "1", #""mine""#]].randomElement(
            using: &random)!
        return kind.randomElement(using: &random)!
    }

    private mutating func object(_ names: [String], and field: String? = nil) -> String {
        var fields = names.filter { _ in Bool.random(using: &random) }.map { "\"\($0)\":\(value())" }
        if let field { fields.append(field) }
        return "{" + fields.joined(separator: ",") + "}"
    }
}
