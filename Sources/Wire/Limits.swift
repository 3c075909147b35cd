/// The bounds of what clients may send, in one place.
///
/// Ids have theirs at ``RoomID/maximumBytes`` and ``UserID/maximumBytes``. Whoever sends one more than a bound is told
/// the bound, in the ``Problem/limit`` of the answer.
public enum Limits {
    /// The most bytes of UTF-8 that a message's text has, escapes decoded.
    public static let textBytes = 16 * 1024
    /// The most bytes that a message's `data` has as compact JSON.
    public static let dataBytes = 8 * 1024
    /// How deep objects and arrays are nested in `data` at most; `data` itself is the first.
    public static let dataDepth = 64
    /// The most attachments that a message has.
    public static let attachments = 10
    /// The most bytes of UTF-8 that any string of an attachment has.
    public static let attachmentStringBytes = 2 * 1024
    /// The most bytes of UTF-8 that a `client_message_id` has; it has at least one.
    public static let clientMessageIDBytes = 128
    /// The most bytes of UTF-8 that the key of a reaction has; it has at least one.
    public static let reactionKeyBytes = 32
    /// With how many different keys users may react to a message.
    public static let reactionKeys = 32
    /// How many users a reaction names at most; its `count` is of all.
    public static let reactionUsers = 50
    /// How deep objects and arrays are nested at most in anything that is read, also where the value is ignored.
    public static let readerDepth = 1024

    /// The most bytes of UTF-8 that a room's title has.
    public static let titleBytes = 256
    /// The most members in a list of them.
    public static let members = 1000
    /// How many members a list of them has unless the client says otherwise.
    public static let defaultMembers = 200

    /// The most rooms in a list of a user's.
    public static let rooms = 200
    /// How many rooms a list of a user's has unless the client says otherwise.
    public static let defaultRooms = 30

    /// The most messages in a page.
    public static let pageMessages = 200
    /// How many messages a page has unless the client says otherwise.
    public static let defaultPageMessages = 30
    /// The most messages in an answer to `changes`.
    public static let changedMessages = 1000
    /// How many messages an answer to `changes` has unless the client says otherwise.
    public static let defaultChangedMessages = 200
}
