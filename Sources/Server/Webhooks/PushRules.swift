import Store
import Wire

/// The part of a message that push events have.
public enum PushContent: String, CaseIterable, Sendable {
    /// Its snapshot.
    case message
    /// Its ids only.
    case none
}

/// The rules of push events, and what is known of users' connections.
struct PushRules: Sendable {
    /// The time that users with a live connection have for reading.
    var delay = Duration.seconds(30)
    /// True if a push has the message, not only its ids.
    var hasContent = true
    /// The bounds of large rooms.
    var largeRooms = LargeRoomLook()
    /// Returns true for a user with a live connection to this node, or with a subscription of the room on any node.
    var isLive: @Sendable (UserID, RoomID) -> Bool = { _, _ in false }
}
