/// A message that a ``Timeline`` keeps: one snapshot of it, as the server sent it.
///
/// The timeline reads only these properties, so a type may have any others that the app draws. Two snapshots with the
/// same ``seq`` and ``rev`` must be equal.
public protocol TimelineMessage: Hashable, Sendable {
    /// The position in the room: 1, 2, 3 … without gaps. Messages with a number outside 1 through 2⁵³ − 1 are ignored.
    var seq: Int64 { get }
    /// The room's revision at which this snapshot was made. Of two snapshots of a message, the one with the higher
    /// `rev` is newer.
    var rev: Int64 { get }
    /// The id of the user who sent the message, as the server spells it.
    var senderID: String { get }
    /// The sender's id for the send. Empty counts as absent.
    var clientMessageID: String? { get }
    /// The time when the message was stored, in milliseconds since 1970, UTC. It determines the message's day line
    /// only, not its place.
    var createdMilliseconds: Int64 { get }
    /// True if only the message's place remains (a tombstone).
    var isDeleted: Bool { get }
}

/// A message that the user sends and that is not known to be stored.
public protocol TimelineDraft: Hashable, Sendable {
    /// An id that no other send of this user has; not empty. The server stores a message once, however often it is
    /// posted with the same id.
    var clientMessageID: String { get }
}

extension ClosedRange<Int64> {
    /// The valid numbers of messages: 1 to 2⁵³ − 1, which every JSON implementation can represent.
    static var timelineNumbers: ClosedRange<Int64> { 1...9_007_199_254_740_991 }
}

extension String {
    /// Returns true if both have the same Unicode scalars.
    ///
    /// `==` would also treat `é` and `e` with a combining accent as equal, but servers and databases do not.
    func isExactly(_ other: String) -> Bool {
        self == other && utf8.elementsEqual(other.utf8)
    }
}

/// The `client_message_id` of a send. Ids are equal if their bytes are.
struct SendID: Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (one: SendID, other: SendID) -> Bool {
        one.string.isExactly(other.string)
    }

    func hash(into hasher: inout Hasher) {
        // Strings with the same bytes have the same hash.
        hasher.combine(string)
    }
}

/// A user's id. Ids are equal if their bytes are.
struct UserID: Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (one: UserID, other: UserID) -> Bool {
        one.string.isExactly(other.string)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }
}

extension TimelineMessage {
    var sendID: SendID? {
        guard let id = clientMessageID, !id.isEmpty else { return nil }
        return SendID(id)
    }
}

extension TimelineDraft {
    var sendID: SendID { SendID(clientMessageID) }
}
