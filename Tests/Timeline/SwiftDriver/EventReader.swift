import BackscrollTimeline

/// A message as the driver reads it, with only the fields that the timeline needs.
struct DriverMessage: TimelineMessage {
    let seq: Int64
    let rev: Int64
    let senderID: String
    let clientMessageID: String?
    let createdMilliseconds: Int64
    let isDeleted: Bool
    let room: String?
}

/// A draft with all its fields, which the `post` effect returns.
struct DriverDraft: TimelineDraft {
    let clientMessageID: String
    let json: JSON
}

typealias DriverTimeline = Timeline<DriverMessage, DriverDraft>

/// The error for an event that is unknown or malformed.
struct MalformedEvent: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}

/// The command in a line.
enum Command {
    case start(DriverTimeline)
    case handle(DriverTimeline.Event)
}

/// Reads an event, and checks its fields in the same order and with the same errors as timeline-events.js.
struct EventReader {
    private let fields: Fields

    static func read(_ event: JSON) throws(MalformedEvent) -> Command {
        let event = try Fields(event, at: "the event")
        let name = try event.text("event")
        return try EventReader(fields: Fields(members: event.members, path: name)).read(name)
    }

    private func read(_ name: String) throws(MalformedEvent) -> Command {
        switch name {
        case "start":
            let me = try fields.name("me")
            let room = try fields.name("room")
            let limit = try fields.integer("limit", "an integer from 1 to 200") { 1...200 ~= $0 }
            let utcOffset = try fields.utcOffset(isOptional: !fields.isAbsent("utc_offsets"))
            let utcOffsets = try fields.optional("utc_offsets", Fields.utcOffsets)
            let windowLimit = try fields.optional("window") { fields in
                { field throws(MalformedEvent) in
                    try fields.integer(field, "an integer from \(4 * limit)") { $0 >= 4 * limit }
                }
            }
            return .start(
                DriverTimeline(
                    me: me, room: room, limit: Int(limit), utcOffsets: utcOffsets ?? UTCOffsets(utcOffset),
                    windowLimit: windowLimit.map { Int($0) }))
        case "open": return .handle(.open(at: try fields.place("at")))
        case "restore": return .handle(.restore(try restored()))
        case "page": return .handle(.page(request: Int(try fields.positive("request")), try page()))
        case "fetch_failed":
            return .handle(.fetchFailed(request: Int(try fields.positive("request")), try failure()))
        case "connected": return .handle(.connected)
        case "disconnected": return .handle(.disconnected)
        case "frame": return .handle(.frame(try frame()))
        case "near": return .handle(.near(try fields.edge("edge")))
        case "viewport":
            let atBottom = try fields.flag("at_bottom")
            return .handle(
                .viewport(atBottom: atBottom, lastVisible: try fields.optional("last_visible", Fields.count)))
        case "active": return .handle(.active(try fields.flag("active")))
        case "send":
            let draft = try fields.object("draft")
            let content = DriverDraft(
                clientMessageID: try draft.name("client_message_id"), json: .object(draft.members))
            return .handle(.send(content, at: Int64(try fields.wallClock("at").rounded(.down))))
        case "sent":
            let id = try fields.name("client_message_id")
            return .handle(.sent(clientMessageID: id, try message(fields.object("message"))))
        case "send_failed":
            let id = try fields.name("client_message_id")
            return .handle(.sendFailed(clientMessageID: id, try failure()))
        case "marked":
            let read = try fields.count("read")
            let unread = try fields.count("unread")
            return .handle(.marked(read: read, unread: unread, head: try fields.optional("head", Fields.count)))
        case "retry": return .handle(.retry(clientMessageID: try fields.name("client_message_id")))
        case "discard": return .handle(.discard(clientMessageID: try fields.name("client_message_id")))
        case "jump": return .handle(.jump(to: try fields.place("to")))
        case "time": return .handle(.time(now: try fields.milliseconds("now")))
        case "utc_offsets": return .handle(.utcOffsets(try fields.utcOffsets("utc_offsets")))
        case "blocked": return .handle(.blocked(users: try fields.names("users")))
        case "show": return .handle(.show(seq: try fields.positive("seq")))
        default:
            var writer = JSONWriter()
            writer.write(name)
            let text = String(decoding: writer.bytes, as: UTF8.self)
            throw MalformedEvent("unknown event \(String(JSONParser.marked(text.unicodeScalars)))")
        }
    }

    private func failure() throws(MalformedEvent) -> DriverTimeline.Failure {
        let status = try fields.count("status")
        let code = try fields.optional("code", Fields.text)
        return .init(status: Int(status), code: code, retryAfter: try fields.optional("retry_after", Fields.seconds))
    }

    private func message(_ fields: Fields) throws(MalformedEvent) -> DriverMessage {
        let seq = try fields.positive("seq")
        let rev = try fields.positive("rev")
        let sender = try fields.name("sender")
        let created = try fields.timestamp("created_at")
        let room = try fields.optional("room", Fields.text)
        let id = try fields.optional("client_message_id", Fields.name)
        let isDeleted = try fields.optional("deleted", Fields.flag) ?? false
        return DriverMessage(
            seq: seq, rev: rev, senderID: sender, clientMessageID: id, createdMilliseconds: created,
            isDeleted: isDeleted, room: room)
    }

    private func messages(_ fields: Fields) throws(MalformedEvent) -> [DriverMessage] {
        let path = "\(fields.path).messages"
        guard case .array(let elements) = fields["messages"] else { throw MalformedEvent("\(path) must be an array") }
        var messages: [DriverMessage] = []
        for (index, element) in elements.enumerated() {
            messages.append(try message(Fields(element, at: "\(path)[\(index)]")))
        }
        return messages
    }

    private func restored() throws(MalformedEvent) -> DriverTimeline.Restored {
        let messages = try messages(fields)
        let hasBefore = try fields.flag("has_before")
        let hasAfter = try fields.flag("has_after")
        let rev = try fields.count("rev")
        let epoch = try fields.name("epoch")
        let read = try fields.optional("read", Fields.count)
        return .init(
            messages: messages, hasBefore: hasBefore, hasAfter: hasAfter, rev: rev, epoch: epoch, read: read,
            unread: try fields.optional("unread", Fields.count))
    }

    private func page() throws(MalformedEvent) -> DriverTimeline.Page {
        let page = try fields.object("page")
        let messages = try messages(page)
        let hasBefore = try page.flag("has_before")
        let hasAfter = try page.flag("has_after")
        let head = try page.count("head")
        let rev = try page.count("rev")
        let epoch = try page.name("epoch")
        let read = try page.optional("read", Fields.count)
        let unread = try page.optional("unread", Fields.count)
        let firstUnread = try page.optional("first_unread", Fields.count)
        let firstUnreadMention = try page.optional("first_unread_mention", Fields.count)
        do {
            return try .init(
                messages: messages, hasBefore: hasBefore, hasAfter: hasAfter, head: head, rev: rev, epoch: epoch,
                read: read, unread: unread, firstUnread: firstUnread, firstUnreadMention: firstUnreadMention)
        } catch {
            throw MalformedEvent("\(page.path).\(error)")
        }
    }

    private func frame() throws(MalformedEvent) -> DriverTimeline.Frame {
        let frame = try fields.object("frame")
        let type = try frame.text("type")
        var room = try frame.optional("room", Fields.text)
        let epoch = try frame.optional("epoch", Fields.name)
        let content: DriverTimeline.Frame.Content
        switch type {
        case "subscribed":
            let head = try frame.optional("head", Fields.count)
            _ = try frame.optional("rev", Fields.count)
            content = .subscribed(head: head)
        case "message":
            let message = try message(frame.object("message"))
            room = room ?? message.room
            content = .message(message)
        case "live": content = .live(rev: try frame.optional("rev", Fields.count))
        case "typing": content = .typing(user: try frame.name("user"))
        case "read":
            let user = try frame.name("user")
            content = .read(user: user, seq: try frame.count("seq"))
        case "presence": content = .presence(online: try frame.count("online"))
        case "error": content = .error(code: try frame.text("code"))
        default: content = .unknown
        }
        return .init(content, room: room, epoch: epoch)
    }
}

/// The members of an object, and the path that errors name.
struct Fields {
    let members: [JSON.Member]
    let path: String

    init(members: [JSON.Member], path: String) {
        self.members = members
        self.path = path
    }

    init(_ value: JSON?, at path: String) throws(MalformedEvent) {
        guard case .object(let members) = value else { throw MalformedEvent("\(path) must be an object") }
        self.init(members: members, path: path)
    }

    subscript(name: String) -> JSON? {
        JSON.object(members)[name]
    }

    func malformed(_ field: String, _ meaning: String) -> MalformedEvent {
        MalformedEvent("\(path).\(field) must be \(meaning)")
    }

    func object(_ field: String) throws(MalformedEvent) -> Fields {
        try Fields(self[field], at: "\(path).\(field)")
    }

    func text(_ field: String) throws(MalformedEvent) -> String {
        guard case .string(let text) = self[field] else { throw malformed(field, "a string") }
        return text
    }

    func name(_ field: String) throws(MalformedEvent) -> String {
        guard case .string(let text) = self[field], !text.isEmpty else {
            throw malformed(field, "a non-empty string")
        }
        return text
    }

    func names(_ field: String) throws(MalformedEvent) -> [String] {
        guard case .array(let elements) = self[field] else { throw malformed(field, "an array") }
        var names: [String] = []
        for (index, element) in elements.enumerated() {
            guard case .string(let text) = element, !text.isEmpty else {
                throw malformed("\(field)[\(index)]", "a non-empty string")
            }
            names.append(text)
        }
        return names
    }

    func flag(_ field: String) throws(MalformedEvent) -> Bool {
        guard case .bool(let flag) = self[field] else { throw malformed(field, "true or false") }
        return flag
    }

    func integer(_ field: String, _ meaning: String, where isRight: (Int64) -> Bool) throws(MalformedEvent) -> Int64 {
        guard let integer = self[field]?.safeInteger, isRight(integer) else { throw malformed(field, meaning) }
        return integer
    }

    func count(_ field: String) throws(MalformedEvent) -> Int64 {
        try integer(field, "an integer from 0") { $0 >= 0 }
    }

    func positive(_ field: String) throws(MalformedEvent) -> Int64 {
        try integer(field, "an integer from 1") { $0 >= 1 }
    }

    private func number(
        _ field: String, _ meaning: String, where isRight: (Double) -> Bool = { _ in true }
    ) throws(MalformedEvent) -> Double {
        guard case .number(let number) = self[field], number.isFinite, isRight(number) else {
            throw malformed(field, meaning)
        }
        return number
    }

    func milliseconds(_ field: String) throws(MalformedEvent) -> Double {
        try number(field, "milliseconds")
    }

    func wallClock(_ field: String) throws(MalformedEvent) -> Double {
        try number(field, "milliseconds since 1970") { abs($0) <= 8e15 }
    }

    func seconds(_ field: String) throws(MalformedEvent) -> Double {
        try number(field, "seconds, 0 or more") { $0 >= 0 }
    }

    /// Reads the offset of `start`, which needs none if it has `utc_offsets`.
    func utcOffset(isOptional: Bool) throws(MalformedEvent) -> Int {
        if isOptional, isAbsent("utc_offset") { return 0 }
        return Int(try integer("utc_offset", "minutes east of UTC") { -1440...1440 ~= $0 })
    }

    func utcOffsets(_ field: String) throws(MalformedEvent) -> UTCOffsets {
        let meaning = "ascending [time, minutes east of UTC] pairs, the first from null"
        guard case .array(let pairs) = self[field], !pairs.isEmpty else { throw malformed(field, meaning) }
        var first: Int?
        var changes: [UTCOffsets.Change] = []
        for pair in pairs {
            guard case .array(let elements) = pair, elements.count == 2, let minutes = elements[1].safeInteger,
                -1440...1440 ~= minutes
            else { throw malformed(field, meaning) }
            if first == nil {
                guard case .null = elements[0] else { throw malformed(field, meaning) }
                first = Int(minutes)
            } else {
                guard let time = elements[0].safeInteger, abs(time) <= 8_000_000_000_000_000,
                    time > changes.last?.time ?? .min
                else { throw malformed(field, meaning) }
                changes.append(.init(time: time, minutes: Int(minutes)))
            }
        }
        return UTCOffsets(first ?? 0, changes: changes)
    }

    func edge(_ field: String) throws(MalformedEvent) -> DriverTimeline.Edge {
        switch self[field] {
        case .string("before"): return .before
        case .string("after"): return .after
        default: throw malformed(field, "\"before\" or \"after\"")
        }
    }

    func place(_ field: String) throws(MalformedEvent) -> DriverTimeline.Place {
        switch self[field] {
        case .string("read"): return .read
        case .string("mention"): return .mention
        case .string("last"): return .last
        case let value:
            guard let seq = value?.safeInteger, seq >= 0 else {
                throw malformed(field, "\"read\", \"mention\", \"last\" or a seq")
            }
            return .seq(seq)
        }
    }

    func timestamp(_ field: String) throws(MalformedEvent) -> Int64 {
        guard case .string(let text) = self[field], let time = posixMilliseconds(ofTimestamp: text) else {
            throw malformed(field, "an RFC 3339 time")
        }
        return time
    }

    func isAbsent(_ field: String) -> Bool {
        switch self[field] {
        case nil, .null: true
        default: false
        }
    }

    /// Reads a field that may be absent or null.
    func optional<Value>(
        _ field: String, _ read: (Fields) -> (String) throws(MalformedEvent) -> Value
    ) throws(MalformedEvent) -> Value? {
        switch self[field] {
        case nil, .null: nil
        default: try read(self)(field)
        }
    }
}

extension JSON {
    /// The value as an integer that a double represents exactly; nil if it is none.
    fileprivate var safeInteger: Int64? {
        guard case .number(let number) = self, abs(number) <= 9_007_199_254_740_991, number == number.rounded() else {
            return nil
        }
        return Int64(number)
    }
}

/// Returns the milliseconds since 1970 of an RFC 3339 time, as `Date.parse` does: any day up to 31 in any month,
/// 24:00:00 but no leap second, and a resolution of milliseconds. Returns nil if the text is no such time.
func posixMilliseconds(ofTimestamp text: String) -> Int64? {
    var rest = Array(text.utf8)[...]
    func take(_ allowed: String) -> UInt8? {
        guard let byte = rest.first, allowed.utf8.contains(byte) else { return nil }
        return rest.removeFirst()
    }
    func digits(_ count: Int) -> Int64? {
        var number: Int64 = 0
        for _ in 0..<count {
            guard let digit = take("0123456789") else { return nil }
            number = number * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return number
    }
    guard let year = digits(4), take("-") != nil, let month = digits(2), take("-") != nil, let day = digits(2),
        take("Tt") != nil, let hour = digits(2), take(":") != nil, let minute = digits(2), take(":") != nil,
        let second = digits(2)
    else { return nil }
    var fraction: [UInt8] = []
    var milliseconds: Int64 = 0
    if take(".") != nil {
        guard let first = take("0123456789") else { return nil }
        fraction = [first]
        while let digit = take("0123456789") { fraction.append(digit) }
        for place in 0..<3 {
            milliseconds = milliseconds * 10
            if place < fraction.count { milliseconds += Int64(fraction[place] - UInt8(ascii: "0")) }
        }
    }
    var offset: Int64 = 0
    if take("Zz") == nil {
        guard let sign = take("+-"), let hours = digits(2), take(":") != nil, let minutes = digits(2),
            hours <= 23, minutes <= 59
        else { return nil }
        offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "+") ? 1 : -1)
    }
    guard rest.isEmpty, 1...12 ~= month, 1...31 ~= day, minute <= 59, second <= 59,
        hour <= 23 || (hour == 24 && minute == 0 && second == 0 && !fraction.contains { $0 != UInt8(ascii: "0") })
    else { return nil }
    // Days are counted from 0000-03-01, so that a leap day is the last of its year.
    let shiftedYear = month > 2 ? year : year - 1
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    return (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + milliseconds
}
