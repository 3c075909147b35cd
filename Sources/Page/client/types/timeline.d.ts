/**
 * Returns true if the same request may succeed later (rules 11 and 18). 401 is among them: a token has ended, and the host gets
 * another.
 *
 * @param {number} status The status of the answer; 0 if no answer came.
 */
export function isTemporary(status: number): boolean;
/**
 * Returns the part of a view's toast that is unread; null if there is none. The user may have read the rest on another device.
 *
 * @param {Pick<View, "toast" | "read" | "unread">} view
 */
export function unreadToast({ toast, read, unread }: Pick<View, "toast" | "read" | "unread">): {
    count: number;
    seq: number;
} | null;
export { MalformedEvent };
export class Timeline {
    /**
     * Handles an event.
     *
     * @param {Event} event
     * @returns {{effects: Effect[], readonly view: View}} The view is created when it is read, so that a host can handle many
     *   events between two frames of the screen and draw once. It is always the view after the latest event.
     * @throws {MalformedEvent} The event is unknown or malformed; nothing has changed.
     */
    handle(event: Event): {
        effects: Effect[];
        readonly view: View;
    };
    /**
     * The present view.
     *
     * @returns {View}
     */
    get view(): View;
    /**
     * Returns the latest snapshot of a message in the window.
     *
     * @param {number} seq
     * @returns {Message | undefined}
     */
    message(seq: number): Message | undefined;
    /**
     * Returns the row of the newest own message in the window up to `seq`.
     *
     * @returns {Row | undefined}
     */
    lastOwnRow(seq?: number): Row | undefined;
    #private;
}
export type Event = import("./timeline-events.js").Event;
export type Message = import("./timeline-events.js").Message;
export type Page = import("./timeline-events.js").Page;
export type Place = import("./timeline-events.js").Place;
export type Edge = import("./timeline-events.js").Edge;
export type Query = import("./timeline-events.js").Query;
export type Frame = import("./timeline-events.js").Frame;
export type PostedDraft = import("./timeline-events.js").PostedDraft;
export type Entry = import("./timeline-window.js").Entry;
export type Effect = {
    effect: "fetch";
    request: number;
    query: Query;
} | {
    effect: "subscribe";
    since: number;
    epoch: string;
} | {
    effect: "post";
    draft: PostedDraft;
} | {
    effect: "mark_read";
    seq: number;
} | {
    effect: "scroll";
    to: string;
};
/**
 * A line of the list. An unchanged row is the same object in the next view.
 */
export type Row = {
    /**
     * Unique among the rows, and never changes.
     */
    key: string;
    /**
     * Only stored messages have `seq` and `rev`.
     */
    seq?: number | undefined;
    rev?: number | undefined;
    /**
     * Absent for day lines and the unread line.
     */
    state?: "deleted" | "stored" | "queued" | "sending" | "failed" | undefined;
    /**
     * The error's code if `state` is `failed`.
     */
    code?: string | null | undefined;
    mine?: true | undefined;
    /**
     * True for a message of a blocked user, to be drawn as such and not with its content (rule 23).
     */
    folded?: true | undefined;
    /**
     * The message, if the row is a stored one.
     */
    message?: import("./timeline-events.js").Message | undefined;
    /**
     * The draft, if the row is a send that is not known to be stored.
     */
    draft?: import("./timeline-events.js").PostedDraft | undefined;
};
export type View = {
    /**
     * Oldest first.
     */
    rows: readonly Row[];
    /**
     * The same rows in arrays of some hundred. An unchanged array is the
     * same object in the next view, so that a host can find changes without examining each row.
     */
    chunks: readonly (readonly Row[])[];
    before: "idle" | "loading" | "failed" | "end";
    after: "idle" | "loading" | "failed" | "end";
    connection: "offline" | "catching_up" | "live";
    epoch: string | null;
    rev: number;
    unread: number;
    read: number | null;
    toast: {
        count: number;
        seq: number;
    } | null;
    typing: string[];
    online: number | null;
    phase: "initial" | "prepending" | "appending" | "idle";
};
export type EventOf<Name extends "start" | "open" | "restore" | "page" | "fetch_failed" | "connected" | "disconnected" | "frame" | "near" | "viewport" | "active" | "send" | "sent" | "send_failed" | "marked" | "retry" | "discard" | "jump" | "time" | "utc_offsets" | "blocked" | "show"> = Extract<Event, {
    event: Name;
}>;
/**
 * The end of a wait, and whether the server has asked for it.
 */
export type Wait = {
    until: number;
    asked: boolean;
};
import { MalformedEvent } from "./timeline-events.js";
