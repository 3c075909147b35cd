/**
 * @callback RowsMaker Creates the rows of messages, with the lines between them.
 * @param {readonly Entry[]} entries
 * @param {number} dayAbove The latest day of all messages above them.
 * @returns {readonly Row[]}
 */
export class MessageWindow {
    /**
     * @param {Message[]} messages Ascending without gaps.
     * @param {{first: number, hasBefore: boolean, hasAfter: boolean, me: string, mark: number | null,
     *   entry: (message: Message, isTwice: boolean) => Entry}} settings `first` is the place of an empty window. `isTwice`
     * is true if another message in the window has the same `client_message_id`.
     */
    constructor(messages: Message[], { first, hasBefore, hasAfter, me, mark, entry }: {
        first: number;
        hasBefore: boolean;
        hasAfter: boolean;
        me: string;
        mark: number | null;
        entry: (message: Message, isTwice: boolean) => Entry;
    });
    /** The lowest `seq` in the window, or the place of the first message of an empty window. */
    first: number;
    /** The highest `seq` in the window; `first - 1` while it is empty. */
    last: number;
    /** True if the room has messages before `first`. */
    hasBefore: boolean;
    /** True if the room has messages after `last`; false means that the window is at the head. */
    hasAfter: boolean;
    /** The number of messages in the window after the read mark that others sent and that are not deleted. */
    unread: number;
    get isEmpty(): boolean;
    /** The number of messages in the window. */
    get count(): number;
    /** @param {number} seq */
    has(seq: number): boolean;
    /**
     * @param {number} seq
     * @returns {Entry | undefined}
     */
    at(seq: number): Entry | undefined;
    /** @param {string} clientMessageID */
    hasOwn(clientMessageID: string): boolean;
    /**
     * Returns the newest own message in the window up to `seq`; undefined if there is none.
     *
     * @param {number} seq
     */
    lastOwn(seq: number): Entry | undefined;
    /**
     * True if the window has every message after `mark` up to `last`.
     *
     * @param {number} mark
     */
    reachesBackTo(mark: number): boolean;
    /** The latest day of the messages; minus infinity if there are none. */
    get latestDay(): number;
    /**
     * Returns the rows of the messages in arrays, oldest first. Arrays that have not changed are the same objects as before.
     *
     * @param {number | undefined} lineAt The message below the unread line.
     * @param {RowsMaker} makeRows
     * @returns {readonly (readonly Row[])[]} The same array as last time if no row has changed.
     */
    rowChunks(lineAt: number | undefined, makeRows: RowsMaker): readonly (readonly Row[])[];
    /**
     * Appends a message, whose `seq` is `last + 1`.
     *
     * @param {Message} message
     */
    append(message: Message): void;
    /**
     * Prepends messages; the last of them has the `seq` `first - 1`.
     *
     * @param {Message[]} messages
     */
    prepend(messages: Message[]): void;
    /**
     * Removes all messages except those from `first` to `last`, at least one. The room goes on where messages were removed.
     *
     * @param {number} first
     * @param {number} last
     */
    keep(first: number, last: number): void;
    /** The days of the messages. */
    get days(): Set<number>;
    /**
     * Gives each message another day, because the user's time zone has changed.
     *
     * @param {(message: Message) => number} dayOf
     */
    setDays(dayOf: (message: Message) => number): void;
    /**
     * Replaces a message in the window if this snapshot is newer (rule 4).
     *
     * @param {Message} message
     */
    replace(message: Message): void;
    /**
     * Makes the row of another user's message anew.
     *
     * @param {number} seq
     */
    renew(seq: number): void;
    /**
     * Moves the read mark forward.
     *
     * @param {number} mark
     * @returns {number} The number of unread messages that it passed. A message outside the window counts as one of another
     *   user.
     */
    moveMark(mark: number): number;
    #private;
}
/**
 * The window of a timeline: messages from `first` to `last` without gaps, each in the latest known snapshot.
 *
 * A window may have many thousand messages, so a change of one message must not cost a pass over it. Messages are kept in
 * chunks, and a change affects one chunk. The unread count is updated as messages come and change.
 */
export type Message = import("./timeline-events.js").Message;
/**
 * The window of a timeline: messages from `first` to `last` without gaps, each in the latest known snapshot.
 *
 * A window may have many thousand messages, so a change of one message must not cost a pass over it. Messages are kept in
 * chunks, and a change affects one chunk. The unread count is updated as messages come and change.
 */
export type Row = import("./timeline.js").Row;
/**
 * The window of a timeline: messages from `first` to `last` without gaps, each in the latest known snapshot.
 *
 * A window may have many thousand messages, so a change of one message must not cost a pass over it. Messages are kept in
 * chunks, and a change affects one chunk. The unread count is updated as messages come and change.
 */
export type Entry = {
    message: Message;
    row: Row;
    day: number;
};
/**
 * Creates the rows of messages, with the lines between them.
 */
export type RowsMaker = (entries: readonly Entry[], dayAbove: number) => readonly Row[];
