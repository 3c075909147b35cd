/**
 * An open room, which hosts the timeline machine. It performs the effects and reports their results, stores the window and the
 * unsent messages, and has a view of it all.
 *
 * @module room
 */

import { after, elapsed, soon, stop } from "./defaults.js";
import { asClientError, ClientError, closedError } from "./errors.js";
import { Observers, toldFailure, until } from "./observers.js";
import { Readership } from "./readership.js";
import { pauseAfter } from "./requests.js";
import { Timeline } from "./timeline.js";

/**
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./types.js").Place} Place
 * @typedef {import("./types.js").RoomView} RoomView
 * @typedef {import("./types.js").Frame} Frame
 * @typedef {import("./timeline-events.js").Event} Event
 *
 * @typedef {object} RoomHost What a room needs of its client.
 * @property {import("./requests.js").Requests} requests
 * @property {import("./connection.js").Connection} connection
 * @property {import("./requests.js").Identity} identity
 * @property {(user: string) => import("./storage.js").Storage} storage
 * @property {{pageLimit: number, windowLimit: number}} limits
 * @property {(room: Room) => void} closed
 * @property {(summary: import("./types.js").RoomSummary) => void} noteRoom The server has told the state of a room.
 * @property {(room: string, unread: number) => void} noteUnread
 * @property {import("./rooms.js").Blocks} blocks
 */

/** Interval of the machine's clock ticks, in milliseconds. Its waits are whole seconds. */
const TICK_MILLISECONDS = 500;
/** Delay before the window is stored, in milliseconds, so that a burst of messages is one write. */
const SAVE_MILLISECONDS = 800;
/** Delay before the read mark is sent, in milliseconds, so that scrolling causes few requests. */
const MARK_MILLISECONDS = 300;
/** Minimum time between two typing notices, in milliseconds (docs/live.md). */
const TYPING_MILLISECONDS = 3000;
/**
 * Time after which the members and their read marks are loaded again, in milliseconds, because no frame tells who joins or leaves. It
 * is as many times longer as the room has hundreds of members.
 */
const READS_MILLISECONDS = 30000;
/** Maximum number of members, and of read marks, for a readership; and how many an answer has. */
const MAXIMUM_MEMBERS = 10000;
const PART = 1000;
/** The prefix of the keys of own messages. */
const OWN_KEY = "me/";

/** The events that may start a wait of the machine. It begins at the time that the machine knows. */
const STARTING_WAITS = new Set(["fetch_failed", "send_failed", "disconnected"]);

/** @type {RoomView} */
const EMPTY = Object.freeze({
    rows: Object.freeze([]), chunks: Object.freeze([]), before: "idle", after: "idle", connection: "offline", epoch: null, rev: 0, unread: 0,
    read: null, toast: null, typing: Object.freeze([]), online: null, phase: "initial", scroll: null, readers: new Map(),
    readership: null, ban: null, ending: null,
});

/** Returns a random id for a message. */
export const makeID = () => Array.from({ length: 3 }, () => Math.random().toString(36).slice(2, 10).padEnd(8, "0")).join("");

/**
 * Returns a promise that need not be awaited: the view shows its failure, too.
 *
 * @template T
 * @param {Promise<T>} promise
 */
function quiet(promise) {
    promise.catch(() => {});
    return promise;
}

/**
 * @param {readonly unknown[]} one
 * @param {readonly unknown[]} other
 */
const isSame = (one, other) => one === other || (one.length === other.length && one.every((value, index) => value === other[index]));

/** @typedef {import("./types.js").Row} Row */

/**
 * True if two rows show the same. The machine makes those of sends that are stored beyond a gap anew each time.
 *
 * @param {Row} one
 * @param {Row} other
 */
const isSameRow = (one, other) => one === other
    || (one.key === other.key && one.state === other.state && one.code === other.code && one.folded === other.folded && one.message === other.message && one.draft === other.draft);

/**
 * Returns the chunks of a view with those of the view before where they are the same. Unsent messages are in a chunk of their own,
 * which the machine makes anew each time.
 *
 * @param {RoomView["chunks"]} before
 * @param {RoomView["chunks"]} chunks
 */
function sameChunks(before, chunks) {
    if (chunks === before) return before;
    const last = chunks.length - 1;
    const [previous, present] = [before[last], chunks[last]];
    if (previous === undefined || present === undefined) return chunks;
    const isSameLast = previous.length === present.length && present.every((row, index) => isSameRow(row, previous[index]));
    if (!isSameLast) return chunks;
    const kept = [...chunks.slice(0, last), previous];
    return isSame(before, kept) ? before : kept;
}

/**
 * Makes a view, whose rows are joined when they are first read. Not within `#makeView`: the getter would keep the view before, and
 * so all views since the room was opened.
 *
 * @param {Omit<RoomView, "rows">} parts
 * @param {RoomView["rows"] | null} rows The rows, if they are known.
 * @returns {RoomView}
 */
function withRows(parts, rows) {
    return Object.freeze({
        ...parts,
        get rows() {
            return (rows ??= Object.freeze(parts.chunks.flat()));
        },
    });
}

export class Room {
    /**
     * The room's id.
     *
     * @type {string}
     */
    id;
    #host;
    #timeline = new Timeline();
    #observers = new Observers();
    /** @type {RoomView} */
    #view = EMPTY;
    /** True if the machine may have changed since the view was made. */
    #isDirty = false;
    /** The view that the listeners were told of. */
    #told = EMPTY;
    #isTelling = false;
    /** @type {RoomView["scroll"]} */
    #scroll = null;
    /** @type {Map<string, number>} */
    #readers = new Map();
    /** True if read marks that were missed, and the members, are loaded. */
    #followsReads = false;
    /** The time from which on they are loaded again; infinite while they are loaded. */
    #readsDue = 0;
    /** @type {string[] | null} */
    #members = null;
    /** @type {unknown[]} What the readership was made of. */
    #counted = [];
    /** @type {Readership | null} */
    #readership = null;
    /** @type {string | null} */
    #ban = null;
    /** @type {ClientError | null} */
    #ending = null;
    /**
     * Resolves once the machine has been opened.
     *
     * @type {Promise<void> | null}
     */
    #starting = null;
    /** True once the machine has been opened. */
    #isStarted = false;
    /** @type {Timeline | null} A machine that shows the sends of the time before, and how many these are. Its effects are not performed. */
    #preview = null;
    #earlySends = 0;
    #me = "";
    /** @type {import("./storage.js").Storage | null} */
    #storage = null;
    /**
     * Set once what was stored has been shown: a send waits for it, so that it does not overtake.
     *
     * @type {(() => void) | null}
     */
    #restored = null;
    /** @type {Promise<void>} */
    #isRestored = new Promise((resolve) => (this.#restored = resolve));
    /**
     * A page that was requested before the machine asked for it.
     *
     * @type {{query: string, page: Promise<import("./types.js").Page>} | null}
     */
    #early = null;
    /** True if the room's screen is in front of the user, as far as the app has told. */
    #isActive = true;
    #isInBackground = false;
    /** @type {Set<(message: Message) => void>} */
    #messageListeners = new Set();
    /**
     * The latest failure to load, and how many there were in a row.
     *
     * @type {ClientError | null}
     */
    #failure = null;
    #failures = 0;
    /**
     * Those who wait for a state.
     *
     * @type {Set<() => void>}
     */
    #waiting = new Set();
    /** @type {import("./defaults.js").Timer | null} */
    #ticking = null;
    /** @type {import("./defaults.js").Timer | null} */
    #saving = null;
    /**
     * The timer of the next request for the read mark.
     *
     * @type {import("./defaults.js").Timer | null}
     */
    #marking = null;
    #markFailures = 0;
    /** The read mark to send; 0 if the server has it. */
    #mark = 0;
    /**
     * The epoch of the last subscription, to which the mark belongs; null before the first one.
     *
     * @type {string | null}
     */
    #epoch = null;
    /**
     * The error of the last mark that the server refused.
     *
     * @type {ClientError | null}
     */
    #markRefusal = null;
    /**
     * True if the next `live` sends the user's read mark, or asks for it: it may have moved on another device meanwhile, and the
     * server may have another history.
     */
    #asksForMark = false;
    #typedAt = -Infinity;
    /**
     * The epoch of the window that this object has stored, if that window reached the newest message.
     *
     * @type {string | null}
     */
    #newestStored = null;
    /**
     * The sends in the store, by id.
     *
     * @type {Map<string, import("./storage.js").Unsent>}
     */
    #unsent = new Map();
    /** The highest order of a send in the store. */
    #order = 0;
    /**
     * The sends that are waited for.
     *
     * @type {Map<string, {promise: Promise<Message>, resolve: (message: Message) => void, reject: (error: ClientError) => void}>}
     */
    #awaited = new Map();
    /** @type {import("./connection.js").Subscriber} */
    #subscriber;
    /** Ends the subscription to the blocked users. */
    #unfollowBlocks = () => {};

    /**
     * @param {RoomHost} host
     * @param {string} id
     * @param {ClientError | null} [ending] Why the room cannot be opened at all.
     */
    constructor(host, id, ending = null) {
        this.#host = host;
        this.id = id;
        this.#ending = ending;
        this.#isDirty = ending !== null;
        this.#subscriber = {
            id,
            connected: () => this.#handle({ event: "connected" }),
            disconnected: () => this.#handle({ event: "disconnected" }),
            take: (frame) => this.#takeFrame(frame),
            end: (error) => this.#end(error),
        };
    }

    /**
     * What a screen shows now: the same object until it changes.
     *
     * @returns {RoomView}
     */
    get view() {
        if (this.#isDirty) {
            this.#isDirty = false;
            this.#view = this.#makeView(this.#view);
        }
        return this.#view;
    }

    /**
     * Calls a function after each change of the view, until the returned function is called. Changes that come together are told
     * once.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener) {
        return this.#observers.add(listener);
    }

    /**
     * Calls a function with each message that comes on the connection, new or changed, also outside the window.
     *
     * @param {(message: Message) => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    onMessage(listener) {
        const own = (/** @type {Message} */ message) => listener(message);
        this.#messageListeners.add(own);
        return () => void this.#messageListeners.delete(own);
    }

    /** True from `open`, or the first send, until the room has ended. */
    get isOpen() {
        return this.#starting !== null && this.#ending === null;
    }

    /**
     * Shows the room at a place: where the user left off (`"read"`), at the first unread mention (`"mention"`), at the newest message
     * (`"last"`), or at a `seq`. Returns when messages are shown. After
     * a temporary error it throws, but the room goes on trying.
     *
     * @param {{at?: Place}} [options]
     * @returns {Promise<this>}
     * @throws {ClientError} The server's refusal, such as `not_a_member`.
     */
    async open(options = {}) {
        const { at = "read" } = options;
        this.#check();
        this.#failures = 0;
        if (this.#starting === null) this.#starting = this.#start(at);
        else if (this.#isStarted) this.#handle({ event: "open", at });
        await this.#until(() => this.#isStarted && this.view.phase !== "initial");
        return this;
    }

    /** Ends the room's subscription and calls. Messages that are not stored yet are still sent, until the client is closed. */
    close() {
        this.#end(closedError("room"));
    }

    /**
     * Returns the present snapshot of a message of the window.
     *
     * @param {number} seq
     * @returns {Message | undefined}
     */
    message(seq) {
        return this.#timeline.message(seq);
    }

    /**
     * Returns a message, also from outside the window.
     *
     * @param {number} seq
     * @returns {Promise<Message>}
     */
    async loadMessage(seq) {
        return this.message(seq) ?? this.#host.requests.message(this.id, seq);
    }

    /**
     * Returns the row of the newest own message in the window up to a `seq`.
     *
     * @param {number} [seq]
     * @returns {import("./types.js").Row | undefined}
     */
    lastOwnRow(seq) {
        return this.#timeline.lastOwnRow(seq);
    }

    // The reader

    /** Loads older messages. Call it when the reader is within two screens of the first row. */
    loadBefore() {
        return quiet(this.#load("before"));
    }

    /** Loads newer messages. Call it when the reader is within two screens of the last row. */
    loadAfter() {
        return quiet(this.#load("after"));
    }

    /** @param {import("./types.js").Edge} edge */
    async #load(edge) {
        this.#check();
        this.#failures = 0;
        this.#handle({ event: "near", edge });
        await this.#until(() => this.view[edge] === "idle" || this.view[edge] === "end");
    }

    /**
     * Goes to a place, and loads the messages there if needed. Returns once the view says where to scroll.
     *
     * @param {Place} to
     * @returns {Promise<void>}
     */
    jump(to) {
        return quiet(this.#jump(to));
    }

    /** @param {Place} to */
    async #jump(to) {
        this.#check();
        this.#failures = 0;
        const before = this.#scroll;
        this.#handle({ event: "jump", to });
        await this.#until(() => this.#scroll !== before);
    }

    /**
     * Tells where the reader is. This moves the read mark, and decides if the list follows new messages.
     *
     * @param {{atBottom: boolean, lastVisible: number | null}} place `lastVisible` is the `seq` of the last message that can be seen.
     */
    setViewport({ atBottom, lastVisible }) {
        if (this.#isStarted) this.#handle({ event: "viewport", at_bottom: atBottom, last_visible: lastVisible });
    }

    /**
     * Shows the message of a blocked user, whose row is `folded`, until the room is opened again or the block ends.
     *
     * @param {number} seq
     */
    show(seq) {
        if (this.#isStarted) this.#handle({ event: "show", seq });
    }

    /**
     * Tells if the room's screen is in front of the user. If not, nothing is marked as read.
     *
     * @param {boolean} isActive
     */
    setActive(isActive) {
        this.#isActive = isActive;
        this.#tellActive();
    }

    /**
     * Tells if the whole app is in the background. The client calls it.
     *
     * @param {boolean} isInBackground
     */
    setBackground(isInBackground) {
        this.#isInBackground = isInBackground;
        this.#tellActive();
        if (isInBackground) this.save();
    }

    #tellActive(isActive = this.#isActive && !this.#isInBackground) {
        if (!this.#isStarted) return;
        this.#tick();
        this.#handle({ event: "active", active: isActive });
    }

    /**
     * Moves the user's read mark. A screen need not call it: `setViewport` does.
     *
     * @param {number} seq
     * @returns {Promise<void>}
     */
    markRead(seq) {
        return quiet(this.#markReadUpTo(seq));
    }

    /** @param {number} seq */
    async #markReadUpTo(seq) {
        this.#check();
        this.#startAtEnd();
        this.#markRefusal = null;
        this.#mark = Math.max(this.#mark, seq);
        this.#agreeOnMark();
        await this.#until(() => this.#mark === 0, () => undefined);
        if (this.#markRefusal !== null) throw this.#markRefusal;
    }

    /** Tells the others that the user types. Call it with every key; a notice is sent at most every 3 seconds. */
    typing() {
        if (elapsed() - this.#typedAt < TYPING_MILLISECONDS) return;
        this.#typedAt = elapsed();
        this.#host.connection.sendTyping(this.id);
    }

    // Sending

    /**
     * Sends a message. It is shown at once, and posted until the server has stored it, once.
     *
     * @param {string | import("./types.js").Draft} draft
     * @returns {Promise<Message>} The stored message. It need not be awaited: a refused message is also shown as failed.
     * @throws {ClientError} The server's refusal. The message stays as failed, for `retry` or `discard`.
     */
    send(draft) {
        const sent = async () => {
            const posted = this.#posted(draft);
            const stored = this.#await(posted.client_message_id);
            await this.#add(posted);
            return stored;
        };
        return quiet(sent());
    }

    /**
     * Sends a message, and returns its id when it is shown and in the store: if the app ends before it is sent, the next client of
     * the user sends it.
     *
     * @param {string | import("./types.js").Draft} draft
     * @returns {Promise<string>}
     */
    async enqueue(draft) {
        const posted = this.#posted(draft);
        await this.#add(posted);
        return posted.client_message_id;
    }

    /**
     * Sends a failed message again, and returns it once it is stored.
     *
     * @param {string} id The `client_message_id`.
     * @returns {Promise<Message>}
     */
    retry(id) {
        const send = this.#unsent.get(id);
        if (!send || !this.#isFailed(id)) return quiet(Promise.reject(new ClientError("not_failed", "No failed message has this id.")));
        const stored = this.#await(id);
        // It goes to the end of the outbox.
        this.#keepUnsent(send);
        this.#handle({ event: "retry", client_message_id: id });
        return stored;
    }

    /**
     * Gives up a failed message.
     *
     * @param {string} id
     */
    discard(id) {
        if (!this.#isFailed(id)) return;
        this.#forgetUnsent(id);
        this.#handle({ event: "discard", client_message_id: id });
    }

    /**
     * Changes a message of the user, and returns its new state. Like all changes it is repeated after a lost answer or a temporary
     * error, up to three times; the server makes it once.
     *
     * @param {number} seq
     * @param {string | import("./types.js").Changes} changes A new text, or what else changes.
     * @param {{ifRev?: number}} [options] `ifRev` is the `rev` that the message must have.
     */
    edit(seq, changes, options = {}) {
        const edited = typeof changes === "string" ? { text: changes } : changes;
        return this.#change(() => this.#host.requests.edit(this.id, seq, edited, options.ifRev));
    }

    /**
     * Deletes a message. Its place stays.
     *
     * @param {number} seq
     */
    remove(seq) {
        return this.#change(() => this.#host.requests.remove(this.id, seq));
    }

    /**
     * Adds a reaction of the user.
     *
     * @param {number} seq
     * @param {string} key An emoji, for example.
     */
    react(seq, key) {
        return this.#change(() => this.#host.requests.react(this.id, seq, key, true));
    }

    /**
     * Removes a reaction of the user.
     *
     * @param {number} seq
     * @param {string} key
     */
    unreact(seq, key) {
        return this.#change(() => this.#host.requests.react(this.id, seq, key, false));
    }

    /**
     * Adds a reaction of the user, or removes it.
     *
     * @param {number} seq
     * @param {string} key
     */
    async toggleReaction(seq, key) {
        return (await this.hasReacted(seq, key)) ? this.unreact(seq, key) : this.react(seq, key);
    }

    /**
     * Returns true if the user has reacted so. A message with many reactions does not list all users.
     *
     * @param {number} seq
     * @param {string} key
     */
    async hasReacted(seq, key) {
        const me = await this.#host.identity.user();
        const reaction = (await this.loadMessage(seq)).reactions?.find((reaction) => reaction.key === key);
        if (!reaction || reaction.users.includes(me)) return reaction !== undefined;
        if (reaction.count <= reaction.users.length) return false;
        // The users are ordered by id, so those whose ids begin as this one's come after that beginning.
        const beginning = [...me].slice(0, -1).join("");
        let last = /^\.{0,2}$/.test(beginning) ? undefined : beginning;
        for (;;) {
            const { users, has_more: hasMore } = await this.#host.requests.reactors(this.id, seq, key, last);
            if (users.includes(me)) return true;
            last = users.at(-1);
            if (!hasMore || last === undefined || !last.startsWith(beginning)) return false;
        }
    }

    /**
     * Returns the users with a reaction, ordered by id, from one on.
     *
     * @param {number} seq
     * @param {string} key
     * @param {{after?: string}} [options]
     */
    async reactors(seq, key, options = {}) {
        const { users, has_more: hasMore } = await this.#host.requests.reactors(this.id, seq, key, options.after);
        return { users, hasMore };
    }

    /**
     * Reports a message to the moderators.
     *
     * @param {number} seq
     * @param {import("./types.js").ReportReason} reason
     * @param {{note?: string}} [options] Up to 1,000 bytes for the moderators.
     */
    async report(seq, reason, options = {}) {
        const { note } = options;
        await this.#host.requests.report(this.id, seq, { reason, note });
    }

    /**
     * Keeps `view.readers` complete from now on, also with marks that were told before the room was open or without a connection, and
     * makes `view.readership`. Call it again to load both at once, as after adding a member.
     */
    followReads() {
        this.#followsReads = true;
        if (this.view.connection === "live") this.#loadReads();
    }

    async #loadReads() {
        this.#readsDue = Infinity;
        let wait = READS_MILLISECONDS;
        const before = this.#readers;
        const { requests } = this.#host;
        try {
            const reads = await this.#all(async (query) => {
                const { reads, has_more } = await requests.reads(this.id, query);
                return { list: reads, has_more };
            });
            const members = reads && await this.#all(async (query) => {
                const { members, has_more } = await requests.members(this.id, query);
                return { list: members, has_more };
            });
            // Marks that were told meanwhile may be newer.
            const told = [...this.#readers].filter(([user, seq]) => before.get(user) !== seq);
            if (reads) this.#readers = new Map(reads.flatMap(({ user, seq }) => (user === this.#me ? [] : [[user, seq]])));
            for (const [user, seq] of told) this.#noteReader(user, seq);
            const users = members?.map(({ user }) => user) ?? null;
            if (!users || !this.#members || !isSame(users, this.#members)) this.#members = users;
            wait *= Math.max(1, (users?.length ?? MAXIMUM_MEMBERS) / 100);
            this.#changed();
        } catch (error) {
            // The next time tries again, unless the server shows no read marks.
            this.#followsReads &&= asClientError(error).isTemporary;
        }
        this.#readsDue = elapsed() + wait;
    }

    /**
     * Loads all parts of a list of users; null if there are too many.
     *
     * @template {{user: string}} Item
     * @param {(query: import("./requests.js").QueryFields) => Promise<{list: Item[], has_more: boolean}>} load
     */
    async #all(load) {
        /** @type {Item[]} */
        const items = [];
        for (let hasMore = true; hasMore && this.#ending === null; ) {
            if (items.length >= MAXIMUM_MEMBERS) return null;
            const { list, has_more } = await load({ limit: PART, after: items.at(-1)?.user });
            items.push(...list);
            hasMore = has_more;
        }
        return items;
    }

    /** @param {number | null} read The user's own mark. */
    #makeReadership(read) {
        const own = Math.max(this.#mark, read ?? 0);
        const inputs = [this.#members, this.#readers, own];
        if (!isSame(inputs, this.#counted)) {
            this.#counted = inputs;
            this.#readership = this.#members && new Readership(this.#members, [...this.#readers, [this.#me, own]]);
        }
        return this.#readership;
    }

    /**
     * @param {string} user
     * @param {number} seq
     */
    #noteReader(user, seq) {
        if (user === this.#me || (this.#readers.get(user) ?? -1) >= seq) return;
        this.#readers = new Map(this.#readers).set(user, seq);
    }

    /**
     * Returns the read marks of the room, ordered by user, from one on.
     *
     * @param {{after?: string, from?: number}} [options] With `from`, only those at or beyond a `seq`: who has read a message.
     */
    async reads(options = {}) {
        const { after, from } = options;
        const { reads, has_more: hasMore } = await this.#host.requests.reads(this.id, { after, from });
        return { reads, hasMore };
    }

    /** Stores and sends at once what waits for a while, because the app may be ended. */
    save() {
        if (this.#mark > 0) this.#agreeOnMark();
        if (this.#saving !== null) this.#save();
    }

    /** Tries at once what waits for the network. The client calls it. */
    wake() {
        if (!this.#isStarted) return;
        if (this.#markFailures > 0) this.#agreeOnMark();
        // Becoming active ends all waits except those that the server asked for.
        this.#tellActive(false);
        this.#tellActive();
    }

    /** Shows the messages under the days of the device's present time zone. The client calls it. */
    timeZoneChanged() {
        if (this.#isStarted) this.#handle({ event: "utc_offsets", utc_offsets: utcOffsets() });
    }

    // Opening

    #check() {
        if (this.#ending !== null) throw this.#ending;
    }

    /** Opens the room at its end if it is not open. */
    #startAtEnd() {
        this.#starting ??= this.#start("last");
    }

    /** @param {Place} at */
    async #start(at) {
        const { identity, limits } = this.#host;
        // Without tokens the user is known, and the first request goes out in the same turn.
        let me = identity.knownUser;
        while (me === null) {
            try {
                me = await identity.user();
            } catch (error) {
                this.#noteFailure(this.#host.connection.noteAnswer(asClientError(error)));
                await new Promise((resolve) => after(pauseAfter(this.#failures), () => resolve(null)));
            }
            if (this.#ending !== null) return;
        }
        this.#me = me;
        /** @type {Event} */
        const beginning = { event: "start", me, room: this.id, limit: limits.pageLimit, utc_offsets: utcOffsets(), window: limits.windowLimit };
        this.#timeline.handle(beginning);
        const storage = (this.#storage = this.#host.storage(me));
        if (!storage.isOpen) this.#fetchEarly(beginning, at);
        const [kept, unsent] = await Promise.all([storage.window(this.id), storage.unsent(this.id)]);
        this.#order = Math.max(0, ...unsent.map(({ order }) => order));
        if (this.#ending !== null) return;
        this.#tick();
        const { blocks } = this.#host;
        const fold = () => this.#handle({ event: "blocked", users: [...blocks.view] });
        this.#unfollowBlocks = blocks.subscribe(fold);
        fold();
        this.#take({ event: "active", active: this.#isActive && !this.#isInBackground });
        for (const send of unsent) {
            this.#unsent.set(send.draft.client_message_id, send);
            this.#take({ event: "send", draft: send.draft, at: send.at });
        }
        if (kept) {
            // An earlier version may have stored something else.
            try {
                this.#take({ event: "restore", ...kept });
                this.#noteStored(kept.messages);
            } catch {
                storage.forgetWindow(this.id);
            }
        }
        this.#take({ event: "open", at });
        this.#early = null;
        this.#isStarted = true;
        this.#restored?.();
        this.#tickOn();
        this.#changed();
    }

    /**
     * Requests the page that the machine will ask for if the store has no window. The answer arrives while the store opens, which
     * takes longer than the request.
     *
     * @param {Event} beginning
     * @param {Place} at
     */
    #fetchEarly(beginning, at) {
        const machine = new Timeline();
        machine.handle(beginning);
        const [fetch] = machine.handle({ event: "open", at }).effects;
        if (fetch?.effect !== "fetch") return;
        this.#early = { query: JSON.stringify(fetch.query), page: this.#host.requests.page(this.id, fetch.query) };
        // An error is handled where the answer is taken.
        this.#early.page.catch(() => {});
    }

    /**
     * The early page, if it was requested with this query.
     *
     * @param {import("./types.js").Query} query
     */
    #takeEarly(query) {
        if (this.#early?.query !== JSON.stringify(query)) return null;
        const { page } = this.#early;
        this.#early = null;
        return page;
    }

    /**
     * Waits for a state.
     *
     * @param {() => boolean} isReached
     * @param {() => ClientError | undefined} [failure] The error to throw instead, if there is one.
     */
    #until(isReached, failure = () => toldFailure(this.#failure, this.#failures)) {
        return until(this.#waiting, () => this.#ending ?? (isReached() ? null : failure()));
    }

    /** @param {ClientError} error */
    #noteFailure(error) {
        this.#failure = error;
        this.#failures++;
        this.#changed();
    }

    // The machine

    #tickOn() {
        this.#ticking = after(TICK_MILLISECONDS, () => {
            this.#tick();
            if (this.#ending === null) this.#tickOn();
        });
    }

    #tick() {
        this.#handle({ event: "time", now: Date.now() });
        const isInFront = this.#isActive && !this.#isInBackground && this.view.connection === "live";
        if (this.#followsReads && isInFront && elapsed() >= this.#readsDue) this.#loadReads();
    }

    /** @param {Event} event */
    #handle(event) {
        this.#take(event);
        this.#changed();
    }

    /** @param {Event} event */
    #take(event) {
        if (this.#ending !== null) return;
        if (STARTING_WAITS.has(event.event)) this.#take({ event: "time", now: Date.now() });
        const { effects } = this.#timeline.handle(event);
        this.#isDirty = true;
        for (const effect of effects) this.#carryOut(effect);
    }

    /** @param {import("./timeline.js").Effect} effect */
    #carryOut(effect) {
        switch (effect.effect) {
            case "fetch": return void this.#fetch(effect.request, effect.query);
            case "subscribe":
                if ((this.#epoch ?? effect.epoch) !== effect.epoch) this.#mark = 0;
                this.#epoch = effect.epoch;
                this.#asksForMark = true;
                return this.#host.connection.add(this.#subscriber, effect.since, effect.epoch);
            case "post": return void this.#post(effect.draft);
            case "mark_read":
                this.#mark = Math.max(this.#mark, effect.seq);
                return this.#agreeAfter(MARK_MILLISECONDS);
            case "scroll": this.#scroll = Object.freeze({ to: effect.to });
        }
    }

    /** Tells those who wait and the listeners, once the present work is done. */
    #changed() {
        this.#isDirty = true;
        if (this.#isTelling) return;
        this.#isTelling = true;
        soon(() => {
            this.#isTelling = false;
            for (const look of [...this.#waiting]) look();
            if (this.view === this.#told) return;
            this.#told = this.view;
            this.#observers.tell();
        });
    }

    /**
     * @param {RoomView} before
     * @returns {RoomView}
     */
    #makeView(before) {
        const now = this.#preview?.view ?? (this.#isStarted ? this.#timeline.view : before);
        if (now === before && this.#ending === null) return before;
        const chunks = sameChunks(before.chunks, now.chunks);
        const isSameToast = now.toast?.count === before.toast?.count && now.toast?.seq === before.toast?.seq;
        /** @type {Omit<RoomView, "rows">} */
        const parts = {
            chunks, before: now.before, after: now.after, connection: this.#ending === null ? now.connection : "offline", epoch: now.epoch,
            rev: now.rev, unread: now.unread, read: now.read, toast: isSameToast ? before.toast : now.toast,
            typing: isSame(before.typing, now.typing) ? before.typing : now.typing, online: now.online, phase: now.phase,
            scroll: this.#scroll, readers: this.#readers, readership: this.#makeReadership(now.read), ban: this.#ban, ending: this.#ending,
        };
        if (Object.entries(parts).every(([name, value]) => value === /** @type {any} */ (before)[name])) return before;
        return withRows(parts, chunks === before.chunks ? before.rows : null);
    }

    /**
     * @param {number} request
     * @param {import("./types.js").Query} query
     */
    async #fetch(request, query) {
        try {
            const page = await (this.#takeEarly(query) ?? this.#host.requests.page(this.id, query));
            this.#failures = 0;
            this.#noteStored(page.messages);
            const isOpening = this.#timeline.view.phase === "initial";
            this.#handle({ event: "page", request, page });
            // The subscription begins where the page was read, and the page has the mark.
            if (isOpening && page.read !== undefined) this.#asksForMark = this.#mark > 0;
            this.#saveSoon();
        } catch (error) {
            const failure = asClientError(error);
            if (failure.endsAccess) return this.#end(failure);
            this.#noteFailure(failure);
            this.#handle({ event: "fetch_failed", request, status: failure.status, code: failure.code, retry_after: failure.retryAfter });
        }
    }

    /** @param {import("./types.js").PostedDraft} draft */
    async #post(draft) {
        const id = draft.client_message_id;
        try {
            const message = await this.#host.requests.send(this.id, draft);
            this.#noteBan(null);
            this.#handle({ event: "sent", client_message_id: id, message });
            this.#forgetUnsent(id);
            this.#settle(id, message);
        } catch (error) {
            const failure = asClientError(error);
            const { status, code, retryAfter } = failure;
            if (code === "banned") this.#noteBan(failure.message);
            this.#handle({ event: "send_failed", client_message_id: id, status, code, retry_after: retryAfter });
            if (this.#isFailed(id)) this.#settle(id, failure);
        }
    }

    /** @param {string | null} detail */
    #noteBan(detail) {
        if (this.#ending === null) this.#ban = detail;
    }

    // Sends

    /**
     * @param {string | import("./types.js").Draft} draft
     * @returns {import("./types.js").PostedDraft}
     */
    #posted(draft) {
        this.#check();
        const content = typeof draft === "string" ? { text: draft } : draft;
        return { ...content, client_message_id: content.client_message_id ?? makeID() };
    }

    /** @param {import("./types.js").PostedDraft} draft */
    async #add(draft) {
        const at = Date.now();
        this.#startAtEnd();
        if (!this.#isStarted) {
            this.#showEarly(draft, at);
            await this.#isRestored;
            if (--this.#earlySends === 0) this.#preview = null;
        }
        this.#check();
        const stored = this.#ownMessage(draft.client_message_id);
        if (stored) return this.#settle(draft.client_message_id, stored);
        const kept = this.#keepUnsent({ draft, at, order: 0 });
        this.#handle({ event: "send", draft, at });
        await kept;
    }

    /**
     * Shows a send while the user or what is stored is not known yet.
     *
     * @param {import("./types.js").PostedDraft} draft
     * @param {number} at
     */
    #showEarly(draft, at) {
        this.#earlySends++;
        if (!this.#preview) {
            this.#preview = new Timeline();
            this.#preview.handle({ event: "start", me: "-", room: this.id, limit: 1, utc_offsets: utcOffsets() });
        }
        this.#preview.handle({ event: "send", draft, at });
        this.#changed();
    }

    /**
     * Returns the user's stored message of the window with an id. An app that gives ids itself may send a message again.
     *
     * @param {string} id
     */
    #ownMessage(id) {
        for (const rows of this.#timeline.view.chunks) {
            const row = rows.find(({ key }) => key === OWN_KEY + id);
            if (row) return row.message;
        }
        return undefined;
    }

    /** @param {string} id */
    #isFailed(id) {
        const { chunks } = this.#timeline.view;
        return chunks.at(-1)?.some(({ key, state }) => key === OWN_KEY + id && state === "failed") ?? false;
    }

    /** @param {import("./storage.js").Unsent} send */
    #keepUnsent({ draft, at }) {
        const send = { draft, at, order: ++this.#order };
        this.#unsent.set(draft.client_message_id, send);
        return this.#storage?.addUnsent(this.id, send);
    }

    /** @param {string} id */
    #forgetUnsent(id) {
        if (this.#unsent.delete(id)) this.#storage?.removeUnsent(this.id, id);
    }

    /**
     * Removes own sends from the store once they are known to be stored, whatever event shows it.
     *
     * @param {Message[]} messages
     */
    #noteStored(messages) {
        if (!this.#unsent.size && !this.#awaited.size) return;
        for (const message of messages) {
            const { sender, client_message_id: id } = message;
            if (sender !== this.#me || id === undefined) continue;
            this.#forgetUnsent(id);
            this.#settle(id, message);
        }
    }

    /**
     * @param {string} id
     * @returns {Promise<Message>}
     */
    #await(id) {
        const known = this.#awaited.get(id);
        if (known) return known.promise;
        /** @type {(message: Message) => void} */
        let resolve = () => {};
        /** @type {(error: ClientError) => void} */
        let reject = () => {};
        /** @type {Promise<Message>} */
        const promise = new Promise((...settlers) => ([resolve, reject] = settlers));
        this.#awaited.set(id, { promise: quiet(promise), resolve, reject });
        return promise;
    }

    /**
     * @param {string} id
     * @param {Message | ClientError} outcome
     */
    #settle(id, outcome) {
        const awaited = this.#awaited.get(id);
        this.#awaited.delete(id);
        if (outcome instanceof Error) awaited?.reject(outcome);
        else awaited?.resolve(outcome);
    }

    /**
     * Shows the answer to a change. It is a snapshot, like the answer to a send.
     *
     * @param {() => Promise<Message>} change
     */
    async #change(change) {
        this.#check();
        try {
            const message = await change();
            this.#noteBan(null);
            if (this.#isStarted) this.#handle({ event: "sent", client_message_id: "-", message });
            return message;
        } catch (error) {
            const failure = asClientError(error);
            if (failure.code === "banned") this.#noteBan(failure.message);
            this.#changed();
            throw failure;
        }
    }

    // Frames

    /** @param {Frame} frame */
    #takeFrame(frame) {
        if (this.#ending !== null) return;
        if (frame.type === "error" && frame.code === "banned") return void this.#askForBan(frame);
        if (frame.type === "read") this.#noteReader(frame.user, frame.seq);
        if (frame.type === "message") {
            this.#noteStored([frame.message]);
            for (const listener of [...this.#messageListeners]) listener(frame.message);
        }
        // The notice is shown for some seconds from now on.
        if (frame.type === "typing") this.#tick();
        try {
            this.#handle({ event: "frame", frame });
        } catch {
            // A newer server may send something else in a field.
            return;
        }
        if (frame.type === "message" || frame.type === "live") this.#saveSoon();
        if (frame.type !== "live") return;
        if (this.#asksForMark) {
            this.#asksForMark = false;
            this.#agreeOnMark();
        }
        if (this.#followsReads) this.#loadReads();
    }

    /**
     * Finds out if the user may still read.
     *
     * @param {any} frame
     */
    async #askForBan(frame) {
        try {
            await this.#host.requests.page(this.id, { limit: 1 });
            this.#noteBan(frame.message);
            this.#changed();
        } catch (error) {
            const failure = asClientError(error);
            if (failure.endsAccess) this.#end(failure);
        }
    }

    /** @param {ClientError} error */
    #end(error) {
        if (this.#ending !== null) return;
        const { unread, epoch } = this.view;
        if (error.code === "closed" && this.#isStarted) this.save();
        this.#ending = error;
        this.#unfollowBlocks();
        for (const timer of [this.#ticking, this.#saving, this.#marking]) stop(timer);
        if (error.endsAccess) this.#storage?.forgetWindow(this.id);
        this.#mark = 0;
        this.#restored?.();
        this.#host.connection.remove(this.#subscriber);
        if (epoch !== null) this.#host.noteUnread(this.id, unread);
        for (const id of [...this.#awaited.keys()]) this.#settle(id, error);
        this.#host.closed(this);
        this.#changed();
    }

    // Delayed writes: the kept window and the read mark

    #saveSoon() {
        if (this.#ending === null) this.#saving ??= after(SAVE_MILLISECONDS, () => this.#save());
    }

    #save() {
        stop(this.#saving);
        this.#saving = null;
        if (this.#ending !== null) return;
        // A reader who scrolls back far loses the end of the window. The room still opens at its newest messages.
        const isNewest = this.view.after === "end";
        if (!isNewest && this.#newestStored === this.view.epoch) return void this.#storage?.saveRead(this.id, this.view);
        this.#newestStored = isNewest ? this.view.epoch : null;
        this.#storage?.saveWindow(this.id, this.view);
    }

    /** @param {number} milliseconds */
    #agreeAfter(milliseconds) {
        if (this.#ending === null) this.#marking ??= after(milliseconds, () => this.#agreeOnMark());
    }

    /**
     * Sends the read mark, or asks for it if the server has it. The answer has the user's mark on all devices, and the number of
     * unread messages. A request that cannot be served now is repeated.
     *
     * In another history, the mark would cover messages that the user has not read. So before `live` the server is asked for its
     * epoch first.
     */
    async #agreeOnMark() {
        stop(this.#marking);
        this.#marking = null;
        const mark = this.#mark;
        if (mark > 0) this.#saveSoon();
        try {
            const { requests } = this.#host;
            const sends = mark > 0 && this.#epoch === (this.#asksForMark ? await requests.room(this.id) : this.view).epoch;
            const summary = await (sends ? requests.markRead(this.id, mark) : requests.room(this.id));
            this.#markFailures = 0;
            if (sends && this.#mark === mark) this.#mark = 0;
            this.#host.noteRoom(summary);
            if (this.#ending !== null) return;
            this.#changed();
            const { epoch, head, read, unread } = summary;
            if (epoch !== this.view.epoch) return;
            this.#handle({ event: "marked", read, unread, head });
            this.#saveSoon();
            const own = this.view.read ?? 0;
            if (mark > 0 || read >= own) return;
            // The mark was not sent before the app was ended.
            this.#mark = Math.max(this.#mark, own);
            this.#agreeAfter(MARK_MILLISECONDS);
        } catch (error) {
            const failure = asClientError(error);
            if (!failure.isTemporary) {
                if (this.#mark !== mark) return;
                this.#mark = 0;
                this.#markRefusal = failure;
                return this.#changed();
            }
            this.#markFailures++;
            this.#agreeAfter(pauseAfter(this.#markFailures, failure));
        }
    }
}

// The offsets from UTC of the device's time zone, which day lines need

/** The step in which changes of the offset are searched, in milliseconds. No two changes are nearer to each other. */
const STEP_MILLISECONDS = 7 * 86400000;
/** The time after now for which changes of the offset are told, in milliseconds. The app may stay open for long. */
const AHEAD_MILLISECONDS = 2 * 365 * 86400000;

/** @param {number} time */
const offsetAt = (time) => 0 - Math.round(new Date(time).getTimezoneOffset());

/**
 * Returns the minutes east of UTC of the device's zone, each from its time on, as the timeline takes them. Before 1970 the first
 * one holds.
 *
 * @returns {[number | null, number][]}
 */
function utcOffsets(now = Date.now()) {
    /** @type {[number | null, number][]} */
    const offsets = [[null, offsetAt(0)]];
    let last = offsetAt(0);
    for (let start = 0; start < now + AHEAD_MILLISECONDS; start += STEP_MILLISECONDS) {
        let [low, high] = [start, start + STEP_MILLISECONDS];
        const offset = offsetAt(high);
        if (offset === last) continue;
        while (high - low > 1) {
            const middle = Math.floor((low + high) / 2);
            if (offsetAt(middle) === offset) high = middle;
            else low = middle;
        }
        offsets.push([high, offset]);
        last = offset;
    }
    return offsets;
}
