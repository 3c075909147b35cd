/**
 * Throws unless the event is known and each of its fields has the right type.
 *
 * @param {any} event
 * @throws {MalformedEvent}
 */
export function check(event: any): void;
/**
 * The events of the timeline, and the check that they are well formed.
 *
 * Frames and pages come from the network, so every field that the timeline uses is checked before it changes anything.
 * Unknown fields and types of frames are ignored, because a newer server may send them.
 *
 * @typedef {object} Message One snapshot of a message, as the server sends it.
 * @property {number} seq Its place in the room: 1, 2, 3 … without gaps.
 * @property {number} rev The room's revision at which this snapshot was made.
 * @property {string} sender
 * @property {string} created_at RFC 3339.
 * @property {string} [room]
 * @property {string} [client_message_id]
 * @property {boolean} [deleted] True for a tombstone.
 * @property {string} [text] The timeline does not use this field and those that follow.
 * @property {Attachment[]} [attachments]
 * @property {number} [reply_to] The `seq` of the message that this one answers.
 * @property {string[]} [mentions] The users whom it mentions.
 * @property {boolean} [mentions_room] True if it mentions everybody in the room.
 * @property {boolean} [silent] True if it causes no push notifications.
 * @property {Record<string, any>} [data] Anything of the app's own, as JSON.
 * @property {Reaction[]} [reactions]
 * @property {string} [edited_at] RFC 3339.
 * @property {{by: string, at: string}} [pinned] Who has pinned it, and when.
 *
 * @typedef {object} Attachment
 * @property {"image" | "video" | "audio" | "file" | "link"} type
 * @property {string} url
 * @property {number} [width] In pixels, like `height`: of an image or a video.
 * @property {number} [height]
 * @property {string} [mime] The media type.
 * @property {number} [size] In bytes.
 * @property {string} [thumbhash]
 * @property {string} [title]
 * @property {string} [description]
 *
 * @typedef {object} Reaction
 * @property {string} key
 * @property {number} count The number of all users.
 * @property {string[]} users The first 50 of them.
 *
 * @typedef {object} PostedDraft A message that is being sent.
 * @property {string} client_message_id
 * @property {string} [text]
 * @property {Attachment[]} [attachments]
 * @property {number} [reply_to]
 * @property {string[]} [mentions]
 * @property {boolean} [mentions_room]
 * @property {boolean} [silent]
 * @property {number} [expect_head]
 * @property {Record<string, any>} [data]
 *
 * @typedef {{limit: number, around?: "unread" | "mention" | number, before?: number, after?: number}} Query Which page is requested.
 *
 * @typedef {{type: "subscribed", room: string, head: number, rev: number, epoch: string}
 *   | {type: "message", room?: undefined, epoch?: string, message: Message}
 *   | {type: "live", room: string, epoch?: string, rev: number}
 *   | {type: "typing", room: string, epoch?: string, user: string}
 *   | {type: "read", room: string, epoch?: string, user: string, seq: number}
 *   | {type: "block", room?: undefined, epoch?: string, user: string, blocked: boolean}
 *   | {type: "notify", room: string, epoch?: string, level: "all" | "mentions" | "none", until?: string, room_mentions: boolean}
 *   | {type: "presence", room: string, epoch?: string, online: number}
 *   | {type: "error", room?: string, epoch?: string, code: string, message: string, retry_after?: number}} Frame What the server
 *   sends on a socket. A newer server may send other types, which are ignored.
 *
 * @typedef {object} Page Messages in ascending `seq` without gaps, read in one snapshot at `rev`.
 * @property {Message[]} messages
 * @property {boolean} has_before
 * @property {boolean} has_after
 * @property {number} head The room's highest `seq`; 0 for an empty room.
 * @property {number} rev
 * @property {string} epoch
 * @property {number} [read] The host gives this field and the next three if it knows them.
 * @property {number} [unread]
 * @property {number} [first_unread]
 * @property {number} [first_unread_mention]
 *
 * @typedef {"read" | "mention" | "last" | number} Place A place in the room; a number is a `seq`.
 * @typedef {"before" | "after"} Edge
 *
 * @typedef {[number | null, number][]} UTCOffsets Minutes east of UTC, each from its time (ms since 1970) on; ascending, the
 *   first from null, which is ever.
 *
 * In `start` one of the offsets is required; `utc_offsets` wins.
 *
 * @typedef {{event: "start", me: string, room: string, limit: number, utc_offset?: number, utc_offsets?: UTCOffsets,
 *      window?: number}
 *   | {event: "open", at: Place}
 *   | {event: "restore", messages: Message[], has_before: boolean, has_after: boolean, rev: number, epoch: string,
 *      read: number | null, unread?: number}
 *   | {event: "page", request: number, page: Page}
 *   | {event: "fetch_failed", request: number, status: number, code?: string, retry_after?: number}
 *   | {event: "connected"} | {event: "disconnected"}
 *   | {event: "frame", frame: Frame}
 *   | {event: "near", edge: Edge}
 *   | {event: "viewport", at_bottom: boolean, last_visible: number | null}
 *   | {event: "active", active: boolean}
 *   | {event: "send", draft: PostedDraft, at: number}
 *   | {event: "sent", client_message_id: string, message: Message}
 *   | {event: "send_failed", client_message_id: string, status: number, code?: string, retry_after?: number}
 *   | {event: "marked", read: number, unread: number, head?: number}
 *   | {event: "retry", client_message_id: string} | {event: "discard", client_message_id: string}
 *   | {event: "jump", to: Place}
 *   | {event: "time", now: number}
 *   | {event: "utc_offsets", utc_offsets: UTCOffsets}
 *   | {event: "blocked", users: string[]}
 *   | {event: "show", seq: number}} Event
 */
/** The messages that a cut leaves between the reader and the new edge of the window, in pages. */
export const MARGIN_PAGES: 2;
/** The error for an event that is unknown or malformed. Nothing has changed. */
export class MalformedEvent extends Error {
}
/**
 * One snapshot of a message, as the server sends it.
 */
export type Message = {
    /**
     * Its place in the room: 1, 2, 3 … without gaps.
     */
    seq: number;
    /**
     * The room's revision at which this snapshot was made.
     */
    rev: number;
    sender: string;
    /**
     * RFC 3339.
     */
    created_at: string;
    room?: string | undefined;
    client_message_id?: string | undefined;
    /**
     * True for a tombstone.
     */
    deleted?: boolean | undefined;
    /**
     * The timeline does not use this field and those that follow.
     */
    text?: string | undefined;
    attachments?: Attachment[] | undefined;
    /**
     * The `seq` of the message that this one answers.
     */
    reply_to?: number | undefined;
    /**
     * The users whom it mentions.
     */
    mentions?: string[] | undefined;
    /**
     * True if it mentions everybody in the room.
     */
    mentions_room?: boolean | undefined;
    /**
     * True if it causes no push notifications.
     */
    silent?: boolean | undefined;
    /**
     * Anything of the app's own, as JSON.
     */
    data?: Record<string, any> | undefined;
    reactions?: Reaction[] | undefined;
    /**
     * RFC 3339.
     */
    edited_at?: string | undefined;
    /**
     * Who has pinned it, and when.
     */
    pinned?: {
        by: string;
        at: string;
    } | undefined;
};
/**
 * The events of the timeline, and the check that they are well formed.
 *
 * Frames and pages come from the network, so every field that the timeline uses is checked before it changes anything.
 * Unknown fields and types of frames are ignored, because a newer server may send them.
 */
export type Attachment = {
    type: "image" | "video" | "audio" | "file" | "link";
    url: string;
    /**
     * In pixels, like `height`: of an image or a video.
     */
    width?: number | undefined;
    height?: number | undefined;
    /**
     * The media type.
     */
    mime?: string | undefined;
    /**
     * In bytes.
     */
    size?: number | undefined;
    thumbhash?: string | undefined;
    title?: string | undefined;
    description?: string | undefined;
};
/**
 * The events of the timeline, and the check that they are well formed.
 *
 * Frames and pages come from the network, so every field that the timeline uses is checked before it changes anything.
 * Unknown fields and types of frames are ignored, because a newer server may send them.
 */
export type Reaction = {
    key: string;
    /**
     * The number of all users.
     */
    count: number;
    /**
     * The first 50 of them.
     */
    users: string[];
};
/**
 * A message that is being sent.
 */
export type PostedDraft = {
    client_message_id: string;
    text?: string | undefined;
    attachments?: Attachment[] | undefined;
    reply_to?: number | undefined;
    mentions?: string[] | undefined;
    mentions_room?: boolean | undefined;
    silent?: boolean | undefined;
    expect_head?: number | undefined;
    data?: Record<string, any> | undefined;
};
/**
 * Which page is requested.
 */
export type Query = {
    limit: number;
    around?: "unread" | "mention" | number;
    before?: number;
    after?: number;
};
/**
 * What the server
 * sends on a socket. A newer server may send other types, which are ignored.
 */
export type Frame = {
    type: "subscribed";
    room: string;
    head: number;
    rev: number;
    epoch: string;
} | {
    type: "message";
    room?: undefined;
    epoch?: string;
    message: Message;
} | {
    type: "live";
    room: string;
    epoch?: string;
    rev: number;
} | {
    type: "typing";
    room: string;
    epoch?: string;
    user: string;
} | {
    type: "read";
    room: string;
    epoch?: string;
    user: string;
    seq: number;
} | {
    type: "block";
    room?: undefined;
    epoch?: string;
    user: string;
    blocked: boolean;
} | {
    type: "notify";
    room: string;
    epoch?: string;
    level: "all" | "mentions" | "none";
    until?: string;
    room_mentions: boolean;
} | {
    type: "presence";
    room: string;
    epoch?: string;
    online: number;
} | {
    type: "error";
    room?: string;
    epoch?: string;
    code: string;
    message: string;
    retry_after?: number;
};
/**
 * Messages in ascending `seq` without gaps, read in one snapshot at `rev`.
 */
export type Page = {
    messages: Message[];
    has_before: boolean;
    has_after: boolean;
    /**
     * The room's highest `seq`; 0 for an empty room.
     */
    head: number;
    rev: number;
    epoch: string;
    /**
     * The host gives this field and the next three if it knows them.
     */
    read?: number | undefined;
    unread?: number | undefined;
    first_unread?: number | undefined;
    first_unread_mention?: number | undefined;
};
/**
 * A place in the room; a number is a `seq`.
 */
export type Place = "read" | "mention" | "last" | number;
/**
 * The events of the timeline, and the check that they are well formed.
 *
 * Frames and pages come from the network, so every field that the timeline uses is checked before it changes anything.
 * Unknown fields and types of frames are ignored, because a newer server may send them.
 */
export type Edge = "before" | "after";
/**
 * Minutes east of UTC, each from its time (ms since 1970) on; ascending, the
 * first from null, which is ever.
 *
 * In `start` one of the offsets is required; `utc_offsets` wins.
 */
export type UTCOffsets = [number | null, number][];
/**
 * The events of the timeline, and the check that they are well formed.
 *
 * Frames and pages come from the network, so every field that the timeline uses is checked before it changes anything.
 * Unknown fields and types of frames are ignored, because a newer server may send them.
 */
export type Event = {
    event: "start";
    me: string;
    room: string;
    limit: number;
    utc_offset?: number;
    utc_offsets?: [number | null, number][];
    window?: number;
} | {
    event: "open";
    at: Place;
} | {
    event: "restore";
    messages: Message[];
    has_before: boolean;
    has_after: boolean;
    rev: number;
    epoch: string;
    read: number | null;
    unread?: number;
} | {
    event: "page";
    request: number;
    page: Page;
} | {
    event: "fetch_failed";
    request: number;
    status: number;
    code?: string;
    retry_after?: number;
} | {
    event: "connected";
} | {
    event: "disconnected";
} | {
    event: "frame";
    frame: Frame;
} | {
    event: "near";
    edge: Edge;
} | {
    event: "viewport";
    at_bottom: boolean;
    last_visible: number | null;
} | {
    event: "active";
    active: boolean;
} | {
    event: "send";
    draft: PostedDraft;
    at: number;
} | {
    event: "sent";
    client_message_id: string;
    message: Message;
} | {
    event: "send_failed";
    client_message_id: string;
    status: number;
    code?: string;
    retry_after?: number;
} | {
    event: "marked";
    read: number;
    unread: number;
    head?: number;
} | {
    event: "retry";
    client_message_id: string;
} | {
    event: "discard";
    client_message_id: string;
} | {
    event: "jump";
    to: Place;
} | {
    event: "time";
    now: number;
} | {
    event: "utc_offsets";
    utc_offsets: [number | null, number][];
} | {
    event: "blocked";
    users: string[];
} | {
    event: "show";
    seq: number;
};
/**
 * `siblings` is the object that has the value.
 */
export type Check = (value: any, path: string, siblings: any) => void;
/**
 * Returns the check of a type.
 *
 * @type {(test: (value: any) => boolean, meaning: string) => Check}
 */
declare const type: (test: (value: any) => boolean, meaning: string) => Check;
declare function message(value: any, path: string, siblings: any): void;
declare function messages(value: any, path: string, siblings: any): void;
/** @type {Check} */
declare const page: Check;
/** @type {Check} */
declare const frame: Check;
declare function edge(value: any, path: string, siblings: any): void;
export {};
