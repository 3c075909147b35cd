import Chat
package import Wire

/// News for the other nodes after a commit: rooms with their new revisions, and a note if there are new events of
/// access.
///
/// Hints carry no data and may be lost, repeated or late. A node that hears one looks in the database. Hints that wait
/// to be sent are merged, so that one notification stands for many commits.
///
/// A payload is text, as `NOTIFY` requires: words with a space in between. The first is ``Hints/kind``, the second the
/// name of the sending node. Then follow, each optional: `@` to read the events of access, `*` to look at every room,
/// and `lobby:42` for the revision 42 of the room `lobby`.
package struct Hints: Sendable, Hashable {
    /// The channel of `LISTEN` and `NOTIFY`.
    package static let channel = "backscroll"
    /// Maximum number of bytes of a payload: 7,900. PostgreSQL's limit is 7,999 (PostgreSQL manual, NOTIFY).
    package static let maximumBytes = 7_900
    /// Maximum number of payloads to send at once. If more are needed, the last one says to look at every room.
    package static let maximumPayloads = 4
    /// Maximum number of rooms to keep until they can be sent: 4,096. With more, the hint says to look at every room.
    package static let maximumRooms = 4_096
    /// Maximum number of bytes of a node's name.
    package static let maximumNodeBytes = 64
    /// The first word of payloads that carry hints. Payloads of other kinds have another first word.
    package static let kind = "h"

    /// The latest revision of each room that has changed.
    package private(set) var rooms: [RoomID: Int64] = [:]
    /// True if rooms have changed that are not named.
    package private(set) var isEverything = false
    /// True if there are new events of access.
    package private(set) var hasEvents = false

    /// Creates hints that tell nothing.
    package init() {}

    /// True if there is nothing to tell.
    package var isEmpty: Bool { rooms.isEmpty && !isEverything && !hasEvents }

    // MARK: Merging

    package mutating func add(_ room: RoomID, rev: Int64) {
        if isEverything { return }
        rooms[room] = max(rooms[room] ?? 0, rev)
        if rooms.count > Self.maximumRooms { addEverything() }
    }

    /// Adds that there are new events of access.
    package mutating func addEvents() {
        hasEvents = true
    }

    package mutating func addEverything() {
        isEverything = true
        rooms = [:]
    }

    package mutating func add(_ other: Hints) {
        if other.hasEvents { addEvents() }
        if other.isEverything { addEverything() }
        for (room, rev) in other.rooms { add(room, rev: rev) }
    }

    // MARK: Payloads

    /// Returns the payloads to send, at most ``maximumPayloads`` of at most ``maximumBytes`` bytes; none if there is
    /// nothing to tell.
    ///
    /// - Parameter node: The name of this node, at most ``maximumNodeBytes`` bytes without spaces.
    package func payloads(from node: String) -> [String] {
        if isEmpty { return [] }
        let start = "\(Self.kind) \(node)"
        var payloads: [String] = []
        // The events come first, so that other nodes end subscriptions before they look at rooms.
        var payload = start + (hasEvents ? " @" : "") + (isEverything ? " *" : "")
        for (room, rev) in rooms {
            let word = " \(room.string):\(rev)"
            if payload.utf8.count + word.utf8.count > Self.maximumBytes {
                if payloads.count + 1 == Self.maximumPayloads { return payloads + [start + " *"] }
                payloads.append(payload)
                payload = start
            }
            payload += word
        }
        return payloads + [payload]
    }

    /// A notification on the channel.
    package enum Payload: Hashable {
        /// Hints of the node with this name.
        case hints(Hints, node: String)
        /// A notification of another kind.
        case other(kind: String)
        /// A payload that no node sends. It is ignored, and the next sweep finds any changes that it stood for.
        case malformed
    }

    package static func parse(_ payload: String) -> Payload {
        guard payload.utf8.count <= maximumBytes else { return .malformed }
        var words = payload.split(separator: " ", omittingEmptySubsequences: false)[...]
        guard let kind = words.popFirst(), kind.utf8.count == 1, let node = words.popFirst(), !node.isEmpty,
            node.utf8.count <= maximumNodeBytes
        else { return .malformed }
        guard kind == Self.kind else { return .other(kind: String(kind)) }
        var hints = Hints()
        for word in words {
            guard hints.add(word: word) else { return .malformed }
        }
        return hints.isEmpty ? .malformed : .hints(hints, node: String(node))
    }

    /// Adds a word of a payload.
    ///
    /// - Returns: False if it is malformed.
    private mutating func add(word: Substring) -> Bool {
        if word == "*" {
            addEverything()
            return true
        }
        if word == "@" {
            addEvents()
            return true
        }
        guard let colon = word.lastIndex(of: ":"), let room = try? RoomID(word[..<colon]),
            let rev = Self.number(word[word.index(after: colon)...]), rev <= RoomFacts.maximumOrdinal
        else { return false }
        add(room, rev: rev)
        return true
    }

    /// Parses a positive integer in decimal digits without leading zeros.
    private static func number(_ digits: Substring) -> Int64? {
        guard let first = digits.utf8.first, first != UInt8(ascii: "0"), digits.utf8.count <= 19,
            digits.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") })
        else { return nil }
        return Int64(digits)
    }
}
