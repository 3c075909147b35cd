/// The bounds on client input.
///
/// The bounds on ids are ``RoomID/maximumBytes`` and ``UserID/maximumBytes``. A request that exceeds a bound is
/// refused, and the ``Problem/limit`` of the answer names the bound.
public enum Limits {
    /// Maximum UTF-8 bytes of a message's text, with escapes decoded.
    public static let textBytes = 16 * 1024
    /// Maximum bytes of a message's `data` as compact JSON.
    public static let dataBytes = 8 * 1024
    /// Maximum nesting depth of objects and arrays in `data`; `data` itself has depth 1.
    public static let dataDepth = 64
    /// Maximum number of attachments of a message.
    public static let attachments = 10
    /// Maximum UTF-8 bytes of any string of an attachment.
    public static let attachmentStringBytes = 2 * 1024
    /// Maximum number of users that a message mentions by their ids.
    public static let mentions = 50
    /// Maximum UTF-8 bytes of a `client_message_id`; the minimum is 1.
    public static let clientMessageIDBytes = 128
    /// Maximum UTF-8 bytes of a reaction key; the minimum is 1.
    public static let reactionKeyBytes = 64
    /// Maximum number of different reaction keys on a message.
    public static let reactionKeys = 32
    /// Maximum number of users that a reaction lists; its `count` includes all.
    public static let reactionUsers = 50
    /// Maximum number of users in a list of those who reacted.
    public static let reactingUsers = 1000
    /// Default number of users in a list of those who reacted.
    public static let defaultReactingUsers = 200
    /// Maximum nesting depth of objects and arrays in any JSON that is read, including ignored values.
    public static let readerDepth = 1024

    /// Maximum UTF-8 bytes of a room's title.
    public static let titleBytes = 256
    /// Maximum number of seconds between two messages of a user in slow mode.
    public static let slowSeconds = 3600
    /// Maximum number of days for which a room may keep messages.
    public static let keepDays = 36_500
    /// Maximum UTF-8 bytes of the URL of a picture.
    public static let avatarBytes = 2 * 1024
    /// Maximum bytes of a room's `data` as compact JSON.
    public static let roomDataBytes = 2 * 1024
    /// Maximum number of pinned messages in a room.
    public static let pins = 50
    /// Maximum number of members in a list of members.
    public static let members = 1000
    /// Default number of members in a list of members.
    public static let defaultMembers = 200
    /// Maximum number of read marks in a list of those of a room.
    public static let reads = 1000
    /// Default number of read marks in a list of those of a room.
    public static let defaultReads = 200

    /// Maximum UTF-8 bytes of the name in a profile.
    public static let profileNameBytes = 256
    /// Maximum UTF-8 bytes of the picture's URL in a profile.
    public static let profileAvatarBytes = 2048
    /// Maximum bytes of the data in a profile, as compact JSON.
    public static let profileDataBytes = 2 * 1024
    /// Maximum number of profiles in an answer.
    public static let profiles = 100

    /// Maximum number of bans from one room that are in force at a time.
    public static let roomBans = 10_000
    /// Maximum UTF-8 bytes of the reason of a ban.
    public static let banReasonBytes = 256
    /// Maximum number of bans in a list of bans.
    public static let bans = 1000
    /// Default number of bans in a list of bans.
    public static let defaultBans = 200

    /// Maximum number of messages that a user reports in a minute.
    public static let reportsPerMinute = 5
    /// Maximum UTF-8 bytes of the note of a report.
    public static let reportNoteBytes = 1000
    /// Maximum number of reported messages in a list of them.
    public static let reports = 200
    /// Default number of reported messages in a list of them.
    public static let defaultReports = 30
    /// Maximum number of users whose reports of a message are listed; their number includes all.
    public static let reportEntries = 50

    /// Maximum number of users that one user blocks.
    public static let userBlocks = 1000
    /// Maximum number of blocks in a list of blocks.
    public static let blocks = 1000
    /// Default number of blocks in a list of blocks.
    public static let defaultBlocks = 200

    /// Maximum number of webhooks.
    public static let webhooks = 16
    /// Maximum number of patterns of rooms of a webhook.
    public static let webhookPatterns = 64
    /// Maximum UTF-8 bytes of a webhook's URL.
    public static let webhookURLBytes = 2 * 1024
    /// Maximum number of hours for which an old secret of a webhook still signs.
    public static let webhookKeepHours = 720

    /// Maximum number of rooms in a list of a user's rooms.
    public static let rooms = 200
    /// Default number of rooms in a list of a user's rooms.
    public static let defaultRooms = 30

    /// Maximum number of messages in a page.
    public static let pageMessages = 200
    /// Default number of messages in a page.
    public static let defaultPageMessages = 30
    /// Maximum number of a user's rooms that a search looks into: those with the latest activity.
    public static let searchedRooms = 2000
    /// Maximum number of messages that are examined for an answer to a search.
    public static let searchedMessages = 5000
    /// Maximum number of messages in an answer to `changes`.
    public static let changedMessages = 1000
    /// Default number of messages in an answer to `changes`.
    public static let defaultChangedMessages = 200
}
