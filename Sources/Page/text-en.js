/**
 * The texts of the interface in English. A file of another language has the same keys.
 *
 * A text with a value is a function. Where names with directions of their own stand in a sentence, it is the texts before and after.
 *
 * @module text-en
 */

export default {
    // Signing in, and the list of rooms
    chooseName: "Choose a name to chat with.", name: "Name", start: "Start", token: "Token", noToken: "This is no token.",
    wantsToken: "This server requires a token (JWT), which your application issues.", sessionEnded: "Your session has ended. Sign in again.",
    nameSpaces: "A name has no spaces. Try one with a dot or a hyphen.", nameDots: "A name is not only a dot or two.",
    nameInvisible: "A name has no invisible characters.", nameLong: (/** @type {number} */ bytes) => `A name has at most ${bytes} bytes.`,
    rooms: "Rooms", newRoom: "New room", filter: "Filter", filterRooms: "Filter the rooms", noRoomFound: "No room has this name.",
    noRooms: "You are in no room yet", noRoomsHint: "Make one, or open the link of one.", chooseRoom: "Choose a room, or make one.",
    badRoom: (/** @type {string} */ id) => `“${id}” cannot be the id of a room.`,
    private: "private", muted: "muted", onlyMentions: "mentions only", mentionsOnly: "Mentions only", you: "You", draft: "Draft: ", noMessages: "No messages yet",
    unreadCount: (/** @type {string} */ count) => `${count} unread`, mentionCount: (/** @type {string} */ count) => `${count} mention you`,
    roomKeys: "Up and down move between rooms.", deletedUser: "Deleted user",

    // A room
    connecting: "Connecting…", catchingUp: "Catching up…", offline: "Offline", noAnswer: "Server not answering",
    here: (/** @type {string} */ count) => `${count} here`, backToRooms: "Back to the rooms", join: "Join", members: "Members", messages: "Messages",
    listKeys: "Arrow keys move between messages and within them. The menu key opens a menu. Escape goes to the text field.",
    loading: "Loading…", loadFailed: "Could not load. Scroll to try again.", willLoad: "The messages will be here once the server answers.",
    writeFirst: "Write the first one.", newMessages: "New messages", newCount: (/** @type {string} */ count) => ` (${count} new)`,
    toMention: (/** @type {string} */ count) => `To the mention of you, ${count} unread`,
    goBack: "Back to where you were", toNewest: "To the newest message",
    manyType: "Several people are typing…", typing: (/** @type {number} */ count) => ["", ` ${count > 1 ? "are" : "is"} typing…`],
    goToDay: "Go to a day", day: "Day", go: "Go", noDay: "There are no messages from that day on.",
    pinnedMessages: "Pinned messages", pinnedMessage: "Pinned message", noPins: "No message is pinned.", list: "List",
    allPins: (/** @type {number} */ count) => `All ${count}`, pinnedBy: (/** @type {string} */ name) => `Pinned by ${name}`,
    unpinOf: (/** @type {string} */ message) => `Unpin ${message}`,
    mentions: "Mentions of you", noMentions: "Nobody has mentioned you.", showMore: "Show more",
    search: "Search messages", find: "Search", searchRoom: "Search in this room", searchWords: "Words, “phrases”, and -words that must not occur", searchHere: "Only in this room",
    noHits: "No message has these words.", indexing: "Older messages are still being indexed.",

    // A message
    blockedMessage: "Message of a blocked user.", show: "Show", deletedMessage: "This message was deleted.", deleted: "Deleted", edited: "edited",
    picture: "Picture", video: "Video", audio: "Audio", file: "File", link: "Link", previousPicture: "Previous picture", nextPicture: "Next picture",
    openOriginal: "Open the original", copy: "Copy", copyCode: "Copy the code", codeCopied: "The code is copied.",
    actions: "Message actions", like: "Like", react: "React", chooseReaction: "Choose a reaction", reactWith: (/** @type {string} */ key) => `React with ${key}`,
    reply: "Reply", edit: "Edit", more: "More", copyText: "Copy text", textCopied: "The text is copied.", copyLink: "Copy link",
    linkCopied: "The link is copied.", pin: "Pin", unpin: "Unpin", deleteDots: "Delete…", delete: "Delete", report: "Report", reportDots: "Report…",
    block: "Block", blockOf: (/** @type {string} */ name) => `Block ${name}…`, unblockOf: (/** @type {string} */ name) => `Unblock ${name}`,
    askBlock: (/** @type {string} */ name) => `Block ${name}? You will not see the messages of ${name}, and get no direct messages.`,
    askDelete: (/** @type {string} */ text) => `Delete ${text ? `“${text}”` : "this message"} for everybody?`,
    aMessage: "a message", inReplyTo: (/** @type {string} */ message) => `In reply to ${message}`, unreadable: "The message cannot be read.",
    readByAll: "Read by all", readBySome: "Read by some", sent: "Sent", sending: "Sending", waiting: "Waiting to be sent", notSent: "Not sent",
    readBy: ["Read by ", ""], others: (/** @type {string} */ count) => `${count} more`,
    unreadBy: (/** @type {number} */ count) => `${count} have not read it`,
    retry: "Try again", discard: "Discard", failed: "Not sent.",
    /** Why a message was not sent, where `problems` lacks the right words. */
    failures: {
        too_long: "The message is too long.", banned: "You may not send here.", rejected: "The message was not accepted.",
        not_a_member: "You are no longer a member.", room_not_found: "There is no such room.",
    },

    // Writing
    message: "Message", send: "Send", names: "People to name", cancel: "Cancel", editMessage: "Edit your message", replyTo: ["Reply to ", ""],
    bytesLeft: (/** @type {string} */ count) => `${count} bytes left`, tooLong: (/** @type {string} */ count) => `Too long by ${count} bytes`,
    noFiles: "Files cannot be sent. Paste the address of a picture on a website.",
    pictureLate: "The picture does not load.", pictureSize: "The picture has no size.", pictureBroken: "The picture cannot be loaded.",
    ownersWrite: "Only owners may write here",
    slowMode: (/** @type {string} */ time) => `Slow mode: ${time}`, slowSends: (/** @type {string} */ time) => `Slow mode: the message will be sent in ${time}.`,

    // Dialogs
    close: "Close", save: "Save", add: "Add", remove: "Remove", write: "Write", owner: "owner",
    roomID: "Room id", roomIDHint: "An id has up to 128 letters, digits and . _ ~ -, and begins with a letter or digit.", title: "Title",
    titleOptional: "Title (optional)", isPrivate: "Private: only members can see it", makeRoom: "Make the room",
    addMember: "Add a member", showUnread: "Show how many have not read each message", leave: "Leave", leaveRoom: "Leave the room", settings: "Settings",
    removeOf: (/** @type {string} */ name) => `Remove ${name}`, writeTo: (/** @type {string} */ name) => `Write to ${name}`,
    askRemove: (/** @type {string} */ name) => `Remove ${name} from the room?`, askLeave: (/** @type {string} */ room) => `Leave ${room}?`,
    profile: "Your name and picture", avatar: "Address of a picture (optional)", language: "Language",
    notify: "Notify me of new messages on this device", notifyRefused: "Allow notifications of this page in the browser’s settings.",
    roomSettings: "Settings of the room", slowTime: "Slow mode: time between two messages of a member", off: "Off",
    keepDays: "Days after which messages expire (empty: as on the whole server)", badDays: "The days must be a number, or empty.",
    ownersSend: "Only owners may send messages", membersPin: "Every member may pin messages", searchable: "Searches find the messages",
    mute: "Notifications", muteOf: (/** @type {string} */ level) => `Notifications: ${level}`, allMessages: "All messages", nothing: "Nothing",
    howLong: "For how long", hour: "For 1 hour", morning: "Until tomorrow morning", forever: "For ever", until: (/** @type {string} */ time) => `Until ${time}`,
    reportMessage: "Report this message", spam: "Spam", abuse: "Abuse or threats", illegal: "Something illegal", other: "Something else",
    reportNote: "For the moderators (optional)", reported: "The message is reported. The moderators will look at it.",

    /** The server's text of a ban, with its end and its reason. */
    banned: (/** @type {string} */ detail) => detail,
    /** Its other answers, by their codes. For those that are missing its own text is shown, which is English: other languages have more. */
    /** @type {Record<string, string>} */
    problems: {
        unreachable: "The server cannot be reached.", rate_limited: "Too much at once. Try again soon.",
        query_invalid: "Enter up to 8 words or \"phrases\", of up to 64 characters. At least one must occur.", index_building: "The search is not ready yet. Try again soon.",
        overloaded: "The server is busy. Try again soon.", unavailable: "The server is busy. Try again soon.",
        not_a_member: "You are not a member of this room.", room_not_found: "You are not a member of this room.",
        room_not_allowed: "You are not a member of this room.", room_deleted: "This room was deleted.",
        blocked: "You cannot write to this user.", posting_restricted: "Only owners may write in this room.", unauthenticated: "You are not signed in.",
    },
};
