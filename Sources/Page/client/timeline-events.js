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
export const MARGIN_PAGES = 2;
/** Minimum of the window's maximum, in pages: the margins on both sides of the reader. */
const MINIMUM_WINDOW_PAGES = 2 * MARGIN_PAGES;

/** The error for an event that is unknown or malformed. Nothing has changed. */
export class MalformedEvent extends Error {}

/**
 * Throws unless the event is known and each of its fields has the right type.
 *
 * @param {any} event
 * @throws {MalformedEvent}
 */
export function check(event) {
    fields(event, { event: text }, "the event");
    if (!Object.hasOwn(events, event.event)) throw new MalformedEvent(`unknown event ${JSON.stringify(event.event)}`);
    fields(event, events[event.event], event.event);
}

/**
 * Returns the check of a type.
 *
 * @type {(test: (value: any) => boolean, meaning: string) => Check}
 */
const type = (test, meaning) => (value, path) => {
    if (!test(value)) throw new MalformedEvent(`${path} must be ${meaning}`);
};

/** @typedef {(value: any, path: string, siblings: any) => void} Check `siblings` is the object that has the value. */

/**
 * Also accepts a field that is absent or null.
 *
 * @param {Check} expected
 * @returns {Check}
 */
const optional = (expected) => (value, path, siblings) => {
    if (value != null) expected(value, path, siblings);
};

/**
 * @param {Record<string, Check>} expected
 * @returns {Check}
 */
const object = (expected) => (value, path) => fields(value, expected, path);

/**
 * @param {any} value
 * @param {Record<string, Check>} expected
 * @param {string} path
 */
function fields(value, expected, path) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw new MalformedEvent(`${path} must be an object`);
    }
    for (const name in expected) expected[name](value[name], `${path}.${name}`, value);
}

const text = type((value) => typeof value === "string", "a string");
const name = type((value) => typeof value === "string" && value !== "", "a non-empty string");
const flag = type((value) => typeof value === "boolean", "true or false");
const from = (/** @type {number} */ least) => type((value) => Number.isSafeInteger(value) && value >= least, `an integer from ${least}`);
const count = from(0);
const positive = from(1);
const milliseconds = type((value) => Number.isFinite(value), "milliseconds");
/** The times that a day line can show. */
const wallClock = type((value) => Math.abs(value) <= 8e15 && Number.isFinite(value), "milliseconds since 1970");
const seconds = type((value) => Number.isFinite(value) && value >= 0, "seconds, 0 or more");
const offset = type((value) => Number.isSafeInteger(value) && Math.abs(value) <= 1440, "minutes east of UTC");
const offsets = type(
    (value) => Array.isArray(value) && value.length > 0 && value.every((pair, index) => isOffsetFrom(pair, value[index - 1])),
    "ascending [time, minutes east of UTC] pairs, the first from null",
);

/**
 * Returns true if this offset begins at a time after the one before it; the first one begins at null.
 *
 * @param {any} pair
 * @param {any} previous
 */
function isOffsetFrom(pair, previous) {
    if (!Array.isArray(pair) || pair.length !== 2) return false;
    const [from, minutes] = pair;
    if (!Number.isSafeInteger(minutes) || Math.abs(minutes) > 1440) return false;
    if (previous === undefined) return from === null;
    return Number.isSafeInteger(from) && Math.abs(from) <= 8e15 && (previous[0] === null || from > previous[0]);
}
const edge = type((value) => value === "before" || value === "after", '"before" or "after"');
const place = type(
    (value) => ["read", "mention", "last"].includes(value) || (Number.isSafeInteger(value) && value >= 0),
    '"read", "mention", "last" or a seq',
);
const rfc3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const timestamp = type(
    (value) => typeof value === "string" && rfc3339.test(value) && !Number.isNaN(Date.parse(value)),
    "an RFC 3339 time",
);

const message = object({
    seq: positive,
    rev: positive,
    sender: name,
    created_at: timestamp,
    room: optional(text),
    client_message_id: optional(name),
    deleted: optional(flag),
});

/**
 * @param {Check} expected
 * @returns {Check}
 */
const array = (expected) => (value, path) => {
    if (!Array.isArray(value)) throw new MalformedEvent(`${path} must be an array`);
    value.forEach((/** @type {any} */ element, /** @type {number} */ index) => expected(element, `${path}[${index}]`, value));
};
const messages = array(message);

/** @type {Check} */
const page = (value, path) => {
    fields(value, {
        messages,
        has_before: flag,
        has_after: flag,
        head: count,
        rev: count,
        epoch: name,
        read: optional(count),
        unread: optional(count),
        first_unread: optional(count),
        first_unread_mention: optional(count),
    }, path);
    // A page with a gap would leave a gap in the window.
    const first = value.messages[0]?.seq;
    if (value.messages.some((/** @type {Message} */ { seq }, /** @type {number} */ index) => seq !== first + index)) {
        throw new MalformedEvent(`${path}.messages must ascend without gaps`);
    }
};

const failure = { status: count, code: optional(text), retry_after: optional(seconds) };
const ownSend = { client_message_id: name };

/** The fields of the frames that the timeline knows. */
/** @type {Record<string, Record<string, Check>>} */
const frames = {
    subscribed: { head: optional(count), rev: optional(count), epoch: optional(name) },
    message: { message },
    live: { rev: optional(count) },
    typing: { user: name },
    read: { user: name, seq: count },
    presence: { online: count },
    error: { code: text },
};

/** @type {Check} */
const frame = (value, path) => {
    fields(value, { type: text, room: optional(text), epoch: optional(name) }, path);
    if (Object.hasOwn(frames, value.type)) fields(value, frames[value.type], path);
};

/** @type {Record<string, Record<string, Check>>} */
const events = {
    start: {
        me: name,
        room: name,
        limit: type((value) => Number.isSafeInteger(value) && value >= 1 && value <= 200, "an integer from 1 to 200"),
        utc_offset: (value, path, siblings) => {
            (siblings.utc_offsets == null ? offset : optional(offset))(value, path, siblings);
        },
        utc_offsets: optional(offsets),
        window: optional((value, path, siblings) => from(MINIMUM_WINDOW_PAGES * siblings.limit)(value, path, siblings)),
    },
    open: { at: place },
    restore: { messages, has_before: flag, has_after: flag, rev: count, epoch: name, read: optional(count), unread: optional(count) },
    page: { request: positive, page },
    fetch_failed: { request: positive, ...failure },
    connected: {},
    disconnected: {},
    frame: { frame },
    near: { edge },
    viewport: { at_bottom: flag, last_visible: optional(count) },
    active: { active: flag },
    send: { draft: object(ownSend), at: wallClock },
    sent: { ...ownSend, message },
    send_failed: { ...ownSend, ...failure },
    marked: { read: count, unread: count, head: optional(count) },
    retry: ownSend,
    discard: ownSend,
    jump: { to: place },
    time: { now: milliseconds },
    utc_offsets: { utc_offsets: offsets },
    blocked: { users: array(name) },
    show: { seq: positive },
};
