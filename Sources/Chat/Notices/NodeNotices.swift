public import Wire

/// Typing and read notices for the other nodes. They are merged and bounded; notices that do not fit are dropped.
///
/// A payload is text for PostgreSQL's `NOTIFY`: words with a space in between. The first is ``kind``, the second the
/// name of the sending node. The others are notices: `t:lobby:bob` if bob types in the lobby, `r:lobby:4:bob` if bob has
/// read up to the `seq` 4, and `o:3:bob{"type":…}` for a frame to bob's own devices, after the number of bytes of his id.
/// Room ids contain no colon, and neither user ids nor frames a space.
public struct NodeNotices: Sendable, Hashable {
    /// The first word of a payload.
    public static let kind = "n"
    /// Maximum number of notices that wait to be sent: 4,096. Further ones are dropped.
    public static let maximumNotices = 4_096
    /// Maximum number of bytes of a payload: 7,900. PostgreSQL's limit is 7,999 (PostgreSQL manual, NOTIFY).
    public static let maximumBytes = 7_900
    /// Maximum number of payloads to send at once: 4. Notices that do not fit are dropped.
    public static let maximumPayloads = 4

    /// A user in a room.
    public struct Key: Sendable, Hashable {
        /// The room.
        public var room: RoomID
        /// The user.
        public var user: UserID

        /// Creates a key.
        public init(room: RoomID, user: UserID) {
            self.room = room
            self.user = user
        }
    }

    /// The users who are typing.
    public private(set) var typing: Set<Key> = []
    /// The latest read marks that have moved, as `seq`.
    public private(set) var read: [Key: Int64] = [:]

    /// The frames to users' own devices, in order.
    public private(set) var own: [OwnNotice] = []

    /// Creates an empty value.
    public init() {}

    /// True if there are no notices.
    public var isEmpty: Bool { typing.isEmpty && read.isEmpty && own.isEmpty }

    private var hasSpace: Bool { typing.count + read.count + own.count < Self.maximumNotices }

    /// Adds a frame to a user's own devices.
    public mutating func addOwn(_ notice: OwnNotice) {
        if hasSpace { own.append(notice) }
    }

    /// Adds a notice that a user is typing.
    public mutating func addTyping(_ user: UserID, in room: RoomID) {
        let key = Key(room: room, user: user)
        if hasSpace || typing.contains(key) { typing.insert(key) }
    }

    /// Adds a notice that a user's read mark has moved. Of several, only the highest `seq` is kept.
    public mutating func addRead(_ user: UserID, in room: RoomID, to seq: Int64) {
        let key = Key(room: room, user: user)
        guard let known = read[key] else {
            if hasSpace { read[key] = seq }
            return
        }
        read[key] = max(known, seq)
    }

    /// Returns at most ``maximumPayloads`` payloads of at most ``maximumBytes`` bytes with the notices, first
    /// those to own devices, then the read marks; none without notices.
    ///
    /// - Parameter node: The name of this node, without spaces.
    public func payloads(from node: String) -> [String] {
        if isEmpty { return [] }
        let start = "\(Self.kind) \(node)"
        var payloads: [String] = []
        var payload = start
        let words =
            own.map { "o:\($0.user.string.utf8.count):\($0.user)\(String(decoding: $0.json, as: UTF8.self))" }
            + read.map { "r:\($0.room):\($1):\($0.user)" } + typing.map { "t:\($0.room):\($0.user)" }
        for word in words {
            if payload.utf8.count + 1 + word.utf8.count > Self.maximumBytes {
                payloads.append(payload)
                if payloads.count == Self.maximumPayloads { return payloads }
                payload = start
            }
            payload += " " + word
        }
        return payloads + [payload]
    }

    /// Reads a payload of another node.
    ///
    /// - Returns: The notices and the node's name; `nil` if it is not a payload of this kind. Malformed words are
    ///   ignored, as the next notice corrects them.
    public static func parse(_ payload: String) -> (notices: NodeNotices, node: String)? {
        var words = payload.split(separator: " ")[...]
        guard words.popFirst().map({ $0 == kind }) == true, let node = words.popFirst() else { return nil }
        var notices = NodeNotices()
        for word in words { notices.add(word) }
        return (notices, String(node))
    }

    private mutating func addOwn(_ word: Substring) {
        let parts = word.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let count = Int(parts[1]), count > 0, count < parts[2].utf8.count,
            let user = try? UserID(String(decoding: parts[2].utf8.prefix(count), as: UTF8.self))
        else { return }
        addOwn(OwnNotice(user: user, json: Array(parts[2].utf8.dropFirst(count))))
    }

    private mutating func add(_ word: Substring) {
        if word.hasPrefix("o:") { return addOwn(word) }
        let isRead = word.hasPrefix("r:")
        let parts = word.split(separator: ":", maxSplits: isRead ? 3 : 2, omittingEmptySubsequences: false)
        guard parts.count == (isRead ? 4 : 3), isRead || parts[0] == "t", let room = try? RoomID(parts[1]),
            let user = try? UserID(parts.last!)
        else { return }
        if !isRead {
            addTyping(user, in: room)
        } else if let seq = Int64(parts[2]), seq >= 0 {
            addRead(user, in: room, to: seq)
        }
    }
}
