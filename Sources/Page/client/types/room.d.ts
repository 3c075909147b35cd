export function makeID(): string;
export class Room {
    /**
     * @param {RoomHost} host
     * @param {string} id
     * @param {ClientError | null} [ending] Why the room cannot be opened at all.
     */
    constructor(host: RoomHost, id: string, ending?: ClientError | null | undefined);
    /**
     * The room's id.
     *
     * @type {string}
     */
    id: string;
    /**
     * What a screen shows now: the same object until it changes.
     *
     * @returns {RoomView}
     */
    get view(): Readonly<import("./types.js").RoomViewFields>;
    /**
     * Calls a function after each change of the view, until the returned function is called. Changes that come together are told
     * once.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener: () => void): import("./types.js").Unsubscribe;
    /**
     * Calls a function with each message that comes on the connection, new or changed, also outside the window.
     *
     * @param {(message: Message) => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    onMessage(listener: (message: Message) => void): import("./types.js").Unsubscribe;
    /** True from `open`, or the first send, until the room has ended. */
    get isOpen(): boolean;
    /**
     * Shows the room at a place: where the user left off (`"read"`), at the first unread mention (`"mention"`), at the newest message
     * (`"last"`), or at a `seq`. Returns when messages are shown. After
     * a temporary error it throws, but the room goes on trying.
     *
     * @param {{at?: Place}} [options]
     * @returns {Promise<this>}
     * @throws {ClientError} The server's refusal, such as `not_a_member`.
     */
    open(options?: {
        at?: import("./timeline-events.js").Place | undefined;
    } | undefined): Promise<Room>;
    /** Ends the room's subscription and calls. Messages that are not stored yet are still sent, until the client is closed. */
    close(): void;
    /**
     * Returns the present snapshot of a message of the window.
     *
     * @param {number} seq
     * @returns {Message | undefined}
     */
    message(seq: number): Message | undefined;
    /**
     * Returns a message, also from outside the window.
     *
     * @param {number} seq
     * @returns {Promise<Message>}
     */
    loadMessage(seq: number): Promise<Message>;
    /**
     * Returns the row of the newest own message in the window up to a `seq`.
     *
     * @param {number} [seq]
     * @returns {import("./types.js").Row | undefined}
     */
    lastOwnRow(seq?: number | undefined): import("./types.js").Row | undefined;
    /** Loads older messages. Call it when the reader is within two screens of the first row. */
    loadBefore(): Promise<void>;
    /** Loads newer messages. Call it when the reader is within two screens of the last row. */
    loadAfter(): Promise<void>;
    /**
     * Goes to a place, and loads the messages there if needed. Returns once the view says where to scroll.
     *
     * @param {Place} to
     * @returns {Promise<void>}
     */
    jump(to: Place): Promise<void>;
    /**
     * Tells where the reader is. This moves the read mark, and decides if the list follows new messages.
     *
     * @param {{atBottom: boolean, lastVisible: number | null}} place `lastVisible` is the `seq` of the last message that can be seen.
     */
    setViewport({ atBottom, lastVisible }: {
        atBottom: boolean;
        lastVisible: number | null;
    }): void;
    /**
     * Shows the message of a blocked user, whose row is `folded`, until the room is opened again or the block ends.
     *
     * @param {number} seq
     */
    show(seq: number): void;
    /**
     * Tells if the room's screen is in front of the user. If not, nothing is marked as read.
     *
     * @param {boolean} isActive
     */
    setActive(isActive: boolean): void;
    /**
     * Tells if the whole app is in the background. The client calls it.
     *
     * @param {boolean} isInBackground
     */
    setBackground(isInBackground: boolean): void;
    /**
     * Moves the user's read mark. A screen need not call it: `setViewport` does.
     *
     * @param {number} seq
     * @returns {Promise<void>}
     */
    markRead(seq: number): Promise<void>;
    /** Tells the others that the user types. Call it with every key; a notice is sent at most every 3 seconds. */
    typing(): void;
    /**
     * Sends a message. It is shown at once, and posted until the server has stored it, once.
     *
     * @param {string | import("./types.js").Draft} draft
     * @returns {Promise<Message>} The stored message. It need not be awaited: a refused message is also shown as failed.
     * @throws {ClientError} The server's refusal. The message stays as failed, for `retry` or `discard`.
     */
    send(draft: string | import("./types.js").Draft): Promise<Message>;
    /**
     * Sends a message, and returns its id when it is shown and in the store: if the app ends before it is sent, the next client of
     * the user sends it.
     *
     * @param {string | import("./types.js").Draft} draft
     * @returns {Promise<string>}
     */
    enqueue(draft: string | import("./types.js").Draft): Promise<string>;
    /**
     * Sends a failed message again, and returns it once it is stored.
     *
     * @param {string} id The `client_message_id`.
     * @returns {Promise<Message>}
     */
    retry(id: string): Promise<Message>;
    /**
     * Gives up a failed message.
     *
     * @param {string} id
     */
    discard(id: string): void;
    /**
     * Changes a message of the user, and returns its new state. Like all changes it is repeated after a lost answer or a temporary
     * error, up to three times; the server makes it once.
     *
     * @param {number} seq
     * @param {string | import("./types.js").Changes} changes A new text, or what else changes.
     * @param {{ifRev?: number}} [options] `ifRev` is the `rev` that the message must have.
     */
    edit(seq: number, changes: string | import("./types.js").Changes, options?: {
        ifRev?: number | undefined;
    } | undefined): Promise<import("./timeline-events.js").Message>;
    /**
     * Deletes a message. Its place stays.
     *
     * @param {number} seq
     */
    remove(seq: number): Promise<import("./timeline-events.js").Message>;
    /**
     * Adds a reaction of the user.
     *
     * @param {number} seq
     * @param {string} key An emoji, for example.
     */
    react(seq: number, key: string): Promise<import("./timeline-events.js").Message>;
    /**
     * Removes a reaction of the user.
     *
     * @param {number} seq
     * @param {string} key
     */
    unreact(seq: number, key: string): Promise<import("./timeline-events.js").Message>;
    /**
     * Adds a reaction of the user, or removes it.
     *
     * @param {number} seq
     * @param {string} key
     */
    toggleReaction(seq: number, key: string): Promise<import("./timeline-events.js").Message>;
    /**
     * Returns true if the user has reacted so. A message with many reactions does not list all users.
     *
     * @param {number} seq
     * @param {string} key
     */
    hasReacted(seq: number, key: string): Promise<boolean>;
    /**
     * Returns the users with a reaction, ordered by id, from one on.
     *
     * @param {number} seq
     * @param {string} key
     * @param {{after?: string}} [options]
     */
    reactors(seq: number, key: string, options?: {
        after?: string | undefined;
    } | undefined): Promise<{
        users: string[];
        hasMore: boolean;
    }>;
    /**
     * Reports a message to the moderators.
     *
     * @param {number} seq
     * @param {import("./types.js").ReportReason} reason
     * @param {{note?: string}} [options] Up to 1,000 bytes for the moderators.
     */
    report(seq: number, reason: import("./types.js").ReportReason, options?: {
        note?: string | undefined;
    } | undefined): Promise<void>;
    /**
     * Keeps `view.readers` complete from now on, also with marks that were told before the room was open or without a connection, and
     * makes `view.readership`. Call it again to load both at once, as after adding a member.
     */
    followReads(): void;
    /**
     * Returns the read marks of the room, ordered by user, from one on.
     *
     * @param {{after?: string, from?: number}} [options] With `from`, only those at or beyond a `seq`: who has read a message.
     */
    reads(options?: {
        after?: string | undefined;
        from?: number | undefined;
    } | undefined): Promise<{
        reads: import("./types.js").ReadMark[];
        hasMore: boolean;
    }>;
    /** Stores and sends at once what waits for a while, because the app may be ended. */
    save(): void;
    /** Tries at once what waits for the network. The client calls it. */
    wake(): void;
    /** Shows the messages under the days of the device's present time zone. The client calls it. */
    timeZoneChanged(): void;
    #private;
}
export type Message = import("./types.js").Message;
export type Place = import("./types.js").Place;
export type RoomView = import("./types.js").RoomView;
export type Frame = import("./types.js").Frame;
export type Event = import("./timeline-events.js").Event;
/**
 * What a room needs of its client.
 */
export type RoomHost = {
    requests: import("./requests.js").Requests;
    connection: import("./connection.js").Connection;
    identity: import("./requests.js").Identity;
    storage: (user: string) => import("./storage.js").Storage;
    limits: {
        pageLimit: number;
        windowLimit: number;
    };
    closed: (room: Room) => void;
    /**
     * The server has told the state of a room.
     */
    noteRoom: (summary: import("./types.js").RoomSummary) => void;
    noteUnread: (room: string, unread: number) => void;
    blocks: import("./rooms.js").Blocks;
};
export type Row = import("./types.js").Row;
import { ClientError } from "./errors.js";
