/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Message = import("./timeline-events.js").Message;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Attachment = import("./timeline-events.js").Attachment;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Reaction = import("./timeline-events.js").Reaction;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type PostedDraft = import("./timeline-events.js").PostedDraft;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Page = import("./timeline-events.js").Page;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Query = import("./timeline-events.js").Query;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Frame = import("./timeline-events.js").Frame;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Place = import("./timeline-events.js").Place;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Edge = import("./timeline-events.js").Edge;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Row = import("./timeline.js").Row;
/**
 * A message to send. It has a text, attachments or data.
 */
export type Draft = {
    /**
     * Unique among the user's messages of the room; by default the client makes one.
     */
    client_message_id?: string | undefined;
    text?: string | undefined;
    attachments?: import("./timeline-events.js").Attachment[] | undefined;
    /**
     * The `seq` of the message that this one answers.
     */
    reply_to?: number | undefined;
    /**
     * Up to 50 users whom it mentions.
     */
    mentions?: string[] | undefined;
    /**
     * True to mention everybody in the room.
     */
    mentions_room?: boolean | undefined;
    /**
     * True to cause no push notifications.
     */
    silent?: boolean | undefined;
    /**
     * The message is stored only as the one after this `seq`; else the send fails with `head_moved`.
     */
    expect_head?: number | undefined;
    /**
     * Anything of the app's own, as JSON.
     */
    data?: Record<string, any> | undefined;
};
/**
 * What an edit changes. Absent fields stay.
 */
export type Changes = {
    text?: string | undefined;
    attachments?: import("./timeline-events.js").Attachment[] | undefined;
    mentions?: string[] | undefined;
    mentions_room?: boolean | undefined;
    data?: Record<string, any> | undefined;
};
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Role = "owner" | "member";
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Visibility = "open" | "private";
/**
 * A room, as the user sees it in a list.
 */
export type RoomSummary = {
    room: string;
    /**
     * The highest `seq`; 0 for an empty room.
     */
    head: number;
    rev: number;
    epoch: string;
    read: number;
    /**
     * At 1,000 there may be more.
     */
    unread: number;
    first_unread?: number | undefined;
    /**
     * The unread messages that mention the user or the room. At 1,000 there may be more.
     */
    unread_mentions?: number | undefined;
    first_unread_mention?: number | undefined;
    visibility: Visibility;
    title?: string | undefined;
    /**
     * Absent if the user is no member.
     */
    role?: Role | undefined;
    /**
     * The other user of a direct room.
     */
    direct?: string | undefined;
    /**
     * The address of a picture.
     */
    avatar?: string | undefined;
    /**
     * What the app keeps with the room.
     */
    data?: Record<string, any> | undefined;
    /**
     * Set if only owners may send.
     */
    posting?: "owners" | undefined;
    /**
     * Set if every member may pin.
     */
    pinning?: "members" | undefined;
    /**
     * The seconds between two messages of a member.
     */
    slow_seconds?: number | undefined;
    /**
     * The days after which messages expire.
     */
    keep_days?: number | undefined;
    /**
     * Set if no search looks into the room.
     */
    searchable?: false | undefined;
    /**
     * What may disturb the user, if that was set.
     */
    notify?: NotifySettings | undefined;
    last_message?: import("./timeline-events.js").Message | undefined;
};
/**
 * What `make` and `change` set. Absent fields stay.
 */
export type RoomSettings = {
    /**
     * An empty one is removed.
     */
    title?: string | null | undefined;
    visibility?: Visibility | undefined;
    /**
     * Who may send.
     */
    posting?: "members" | "owners" | undefined;
    /**
     * Who may pin messages.
     */
    pinning?: "members" | "owners" | undefined;
    /**
     * The seconds between two messages of a member; 0 for no slow mode.
     */
    slow_seconds?: number | undefined;
    /**
     * The days after which messages expire; 0 for no limit of the room.
     */
    keep_days?: number | undefined;
    /**
     * If searches look into the room.
     */
    searchable?: boolean | undefined;
    /**
     * An empty one is removed.
     */
    avatar?: string | undefined;
    data?: Record<string, any> | undefined;
};
/**
 * Which messages of a room may
 * disturb the user, until when, and whether a mention of the room is one of the user.
 */
export type NotifySettings = {
    level: "all" | "mentions" | "none";
    until?: string;
    room_mentions: boolean;
};
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Member = {
    user: string;
    role: Role;
    profile?: Profile;
};
/**
 * What is shown in place of a user's id.
 */
export type Profile = {
    user: string;
    name?: string;
    avatar?: string;
    data?: Record<string, any>;
};
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type ProfileSettings = {
    name?: string;
    avatar?: string;
    data?: Record<string, any>;
};
/**
 * Up to where a user has read, and when the mark moved there, if that is known.
 */
export type ReadMark = {
    user: string;
    seq: number;
    at?: string;
};
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type ReportReason = "spam" | "abuse" | "illegal" | "other";
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type RoomView = Readonly<RoomViewFields>;
/**
 * What a screen of the room shows. Each object is immutable; the next change makes another one.
 */
export type RoomViewFields = {
    /**
     * Oldest first: day lines, the unread line, messages, own sends.
     */
    rows: readonly Row[];
    /**
     * The same rows in arrays of some hundred. An unchanged one is the same object.
     */
    chunks: readonly (readonly Row[])[];
    before: "idle" | "loading" | "failed" | "end";
    after: "idle" | "loading" | "failed" | "end";
    connection: "offline" | "catching_up" | "live";
    /**
     * Null until the room has been loaded.
     */
    epoch: string | null;
    rev: number;
    /**
     * At 1,000 there may be more.
     */
    unread: number;
    read: number | null;
    /**
     * New messages that the reader has not seen.
     */
    toast: {
        count: number;
        seq: number;
    } | null;
    typing: readonly string[];
    online: number | null;
    phase: "initial" | "prepending" | "appending" | "idle";
    /**
     * Where to scroll: the key of a row, or `"bottom"`. Another object asks for another scroll.
     */
    scroll: {
        to: string;
    } | null;
    /**
     * The read marks of other users, as far as they were told while the room was open.
     */
    readers: ReadonlyMap<string, number>;
    /**
     * Who of the members has read what, after `followReads`; null until
     * it is known, and in a room of more than 10,000 members.
     */
    readership: import("./readership.js").Readership | null;
    /**
     * The reason why the user may not write; null if none is known.
     */
    ban: string | null;
    /**
     * Why the room has ended; null while it is open.
     */
    ending: import("./errors.js").ClientError | null;
};
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type RoomsView = Readonly<RoomsViewFields>;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type RoomsViewFields = {
    /**
     * Latest activity first.
     */
    rooms: readonly RoomSummary[];
    /**
     * True once the stored list, or the server's, is shown.
     */
    isListed: boolean;
    /**
     * True while the list is complete and follows the server.
     */
    isLive: boolean;
    /**
     * True if the user has more rooms than are listed.
     */
    hasMore: boolean;
    /**
     * The sum of the unread messages.
     */
    unread: number;
    /**
     * True if there may be more than that.
     */
    hasMoreUnread: boolean;
    /**
     * Why the list has ended; null while it is open.
     */
    ending: import("./errors.js").ClientError | null;
};
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type ConnectionView = Readonly<ConnectionViewFields>;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type ConnectionViewFields = {
    /**
     * `waiting` is the pause before the next attempt.
     */
    state: "closed" | "connecting" | "waiting" | "open";
    /**
     * The latest failure of the connection or of a request's token; null
     * once the server has answered.
     */
    error: import("./errors.js").ClientError | null;
};
/**
 * What keeps texts of the app across restarts. All values are plain objects of JSON.
 */
export type Store = {
    /**
     * Returns the value; undefined if there is none.
     */
    get: (key: string) => Promise<any>;
    set: (key: string, value: object) => Promise<unknown>;
    remove: (key: string) => Promise<unknown>;
    /**
     * Returns the keys that begin so.
     */
    keys: (prefix: string) => Promise<string[]>;
    /**
     * False while the first `get` takes longer than a request, so that the client makes both at once.
     */
    isOpen?: boolean | undefined;
};
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Fetch = (url: string, options: any) => Promise<{
    ok: boolean;
    status: number;
    statusText?: string | undefined;
    headers: {
        get(name: string): string | null;
    };
    text(): Promise<string>;
}>;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type WebSocketLike = {
    readyState: number;
    onopen: any;
    onmessage: any;
    onclose: any;
    onerror: any;
    send: (text: string) => void;
    close: (code?: number, reason?: string) => void;
};
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;
/**
 * The types that the modules share. Messages, rooms and frames are as the server sends them (docs/api.md, docs/live.md).
 */
export type Unsubscribe = () => void;
