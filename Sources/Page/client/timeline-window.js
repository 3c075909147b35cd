/**
 * The window of a timeline: messages from `first` to `last` without gaps, each in the latest known snapshot.
 *
 * A window may have many thousand messages, so a change of one message must not cost a pass over it. Messages are kept in
 * chunks, and a change affects one chunk. The unread count is updated as messages come and change.
 *
 * @typedef {import("./timeline-events.js").Message} Message
 * @typedef {import("./timeline.js").Row} Row
 * @typedef {{message: Message, row: Row, day: number}} Entry
 */

/** The number of consecutive `seq`s that share a chunk. */
const CHUNK_SIZE = 128;

const chunkNumber = (/** @type {number} */ seq) => Math.floor(seq / CHUNK_SIZE);

/** Neighbouring messages of a window, and their rows. */
class Chunk {
    /** @type {Entry[]} Ascending without gaps. */
    entries = [];
    /** The latest day of these messages. */
    latestDay = -Infinity;
    /** @type {readonly Row[] | null} The last result of `rows`, until a message changes. */
    #rows = null;
    /** The arguments of that result: the latest day above, and the place of the unread line if it is here. */
    #dayAbove = 0;
    /** @type {number | null} */
    #lineAt = null;

    get first() {
        return this.entries[0].message.seq;
    }

    get last() {
        return this.entries[this.entries.length - 1].message.seq;
    }

    /** @param {Entry} entry */
    append(entry) {
        this.entries.push(entry);
        this.#changed(entry.day);
    }

    /** @param {Entry} entry */
    prepend(entry) {
        this.entries.unshift(entry);
        this.#changed(entry.day);
    }

    /**
     * @param {number} seq
     * @param {Entry} entry
     */
    replace(seq, entry) {
        this.entries[seq - this.first] = entry;
        this.#recount();
    }

    /**
     * Keeps the messages from `first` to `last`, at least one.
     *
     * @param {number} first
     * @param {number} last
     */
    keep(first, last) {
        this.entries = this.entries.slice(first - this.first, last - this.first + 1);
        this.#recount();
    }

    /** @param {(message: Message) => number} dayOf */
    setDays(dayOf) {
        for (const entry of this.entries) entry.day = dayOf(entry.message);
        this.#recount();
    }

    #recount() {
        this.latestDay = Math.max(...this.entries.map(({ day }) => day));
        this.#rows = null;
    }

    /** @param {number} day */
    #changed(day) {
        this.latestDay = Math.max(this.latestDay, day);
        this.#rows = null;
    }

    /**
     * The rows of these messages, with the lines between them. The same array as last time where nothing has changed.
     *
     * @param {number} dayAbove The latest day of all messages above.
     * @param {number | undefined} lineAt The message below the unread line.
     * @param {RowsMaker} makeRows
     */
    rows(dayAbove, lineAt, makeRows) {
        const ownLine = lineAt !== undefined && lineAt >= this.first && lineAt <= this.last ? lineAt : null;
        if (this.#rows === null || this.#dayAbove !== dayAbove || this.#lineAt !== ownLine) {
            this.#rows = makeRows(this.entries, dayAbove);
            this.#dayAbove = dayAbove;
            this.#lineAt = ownLine;
        }
        return this.#rows;
    }
}

/**
 * @callback RowsMaker Creates the rows of messages, with the lines between them.
 * @param {readonly Entry[]} entries
 * @param {number} dayAbove The latest day of all messages above them.
 * @returns {readonly Row[]}
 */

export class MessageWindow {
    /** @type {Chunk[]} Ascending, none empty. Each has the messages of the window with one `chunkNumber`. */
    #chunks = [];
    /** @type {Map<string, number>} The ids of own messages in the window, each with its `seq`. */
    #ownIds = new Map();
    /** @type {number[]} The own messages in the window, ascending. */
    #own = [];
    /** The last result of `rowChunks`, until a message or the unread line changes. */
    /** @type {readonly (readonly Row[])[] | null} */
    #rowChunks = null;
    /** @type {number | undefined} */
    #lineAt = undefined;
    /** @type {(message: Message, isTwice: boolean) => Entry} */
    #entry;
    #me;
    #mark;

    /** The lowest `seq` in the window, or the place of the first message of an empty window. */
    first;
    /** The highest `seq` in the window; `first - 1` while it is empty. */
    last;
    /** True if the room has messages before `first`. */
    hasBefore;
    /** True if the room has messages after `last`; false means that the window is at the head. */
    hasAfter;
    /** The number of messages in the window after the read mark that others sent and that are not deleted. */
    unread = 0;

    /**
     * @param {Message[]} messages Ascending without gaps.
     * @param {{first: number, hasBefore: boolean, hasAfter: boolean, me: string, mark: number | null,
     *   entry: (message: Message, isTwice: boolean) => Entry}} settings `first` is the place of an empty window. `isTwice`
     * is true if another message in the window has the same `client_message_id`.
     */
    constructor(messages, { first, hasBefore, hasAfter, me, mark, entry }) {
        this.first = messages[0]?.seq ?? first;
        this.last = this.first - 1;
        this.hasBefore = hasBefore;
        this.hasAfter = hasAfter;
        this.#me = me;
        this.#mark = mark ?? 0;
        this.#entry = entry;
        for (const message of messages) this.append(message);
    }

    get isEmpty() {
        return this.#chunks.length === 0;
    }

    /** The number of messages in the window. */
    get count() {
        return this.last - this.first + 1;
    }

    /** @param {number} seq */
    has(seq) {
        return seq >= this.first && seq <= this.last;
    }

    /**
     * @param {number} seq
     * @returns {Entry | undefined}
     */
    at(seq) {
        if (!this.has(seq)) return undefined;
        const chunk = this.#chunkOf(seq);
        return chunk.entries[seq - chunk.first];
    }

    /**
     * The entry of a message of the window.
     *
     * @param {number} seq
     */
    #known(seq) {
        return /** @type {Entry} */ (this.at(seq));
    }

    /** @param {string} clientMessageID */
    hasOwn(clientMessageID) {
        return this.#ownIds.has(clientMessageID);
    }

    /**
     * Returns the newest own message in the window up to `seq`; undefined if there is none.
     *
     * @param {number} seq
     */
    lastOwn(seq) {
        let low = 0;
        let high = this.#own.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.#own[middle] <= seq) low = middle + 1;
            else high = middle;
        }
        return this.at(this.#own[low - 1]);
    }

    /**
     * True if the window has every message after `mark` up to `last`.
     *
     * @param {number} mark
     */
    reachesBackTo(mark) {
        return !this.hasBefore || this.first <= mark + 1;
    }

    /** The latest day of the messages; minus infinity if there are none. */
    get latestDay() {
        return this.#chunks.reduce((day, { latestDay }) => Math.max(day, latestDay), -Infinity);
    }

    /**
     * Returns the rows of the messages in arrays, oldest first. Arrays that have not changed are the same objects as before.
     *
     * @param {number | undefined} lineAt The message below the unread line.
     * @param {RowsMaker} makeRows
     * @returns {readonly (readonly Row[])[]} The same array as last time if no row has changed.
     */
    rowChunks(lineAt, makeRows) {
        if (this.#rowChunks !== null && this.#lineAt === lineAt) return this.#rowChunks;
        let dayAbove = -Infinity;
        this.#lineAt = lineAt;
        this.#rowChunks = this.#chunks.map((chunk) => {
            const rows = chunk.rows(dayAbove, lineAt, makeRows);
            dayAbove = Math.max(dayAbove, chunk.latestDay);
            return rows;
        });
        return this.#rowChunks;
    }

    /**
     * Appends a message, whose `seq` is `last + 1`.
     *
     * @param {Message} message
     */
    append(message) {
        this.last = message.seq;
        this.#rowChunks = null;
        if (this.isEmpty || chunkNumber(this.#chunks[this.#chunks.length - 1].last) !== chunkNumber(message.seq)) {
            this.#chunks.push(new Chunk());
        }
        this.#chunks[this.#chunks.length - 1].append(this.#enter(message));
        if (message.sender === this.#me) this.#own.push(message.seq);
        if (this.#isUnread(message)) this.unread++;
    }

    /**
     * Prepends messages; the last of them has the `seq` `first - 1`.
     *
     * @param {Message[]} messages
     */
    prepend(messages) {
        this.#rowChunks = null;
        const entries = messages.map((/** @type {Message} */ message) => this.#enter(message));
        for (const entry of entries.reverse()) {
            this.first = entry.message.seq;
            if (this.isEmpty || chunkNumber(this.#chunks[0].first) !== chunkNumber(this.first)) {
                this.#chunks.unshift(new Chunk());
            }
            this.#chunks[0].prepend(entry);
        }
        this.#own.unshift(...messages.filter(({ sender }) => sender === this.#me).map(({ seq }) => seq));
        this.unread += messages.filter((/** @type {Message} */ message) => this.#isUnread(message)).length;
    }

    /**
     * Removes all messages except those from `first` to `last`, at least one. The room goes on where messages were removed.
     *
     * @param {number} first
     * @param {number} last
     */
    keep(first, last) {
        const isKept = (/** @type {number} */ seq) => seq >= first && seq <= last;
        for (let seq = this.first; seq <= this.last; seq++) {
            if (isKept(seq)) continue;
            const { message } = this.#known(seq);
            if (this.#isUnread(message)) this.unread--;
            this.#forgetID(message);
        }
        this.#own = this.#own.filter(isKept);
        this.#chunks = this.#chunks.filter((chunk) => chunk.last >= first && chunk.first <= last);
        for (const chunk of new Set([...this.#chunks.slice(0, 1), ...this.#chunks.slice(-1)])) {
            if (!isKept(chunk.first) || !isKept(chunk.last)) chunk.keep(Math.max(first, chunk.first), Math.min(last, chunk.last));
        }
        this.hasBefore ||= first > this.first;
        this.hasAfter ||= last < this.last;
        [this.first, this.last] = [first, last];
        this.#rowChunks = null;
    }

    /**
     * Forgets the id of a message that leaves the window or changes.
     *
     * @param {Message} message
     */
    #forgetID({ seq, client_message_id: id }) {
        if (id !== undefined && this.#ownIds.get(id) === seq) this.#ownIds.delete(id);
    }

    /** The days of the messages. */
    get days() {
        return new Set(this.#chunks.flatMap(({ entries }) => entries.map(({ day }) => day)));
    }

    /**
     * Gives each message another day, because the user's time zone has changed.
     *
     * @param {(message: Message) => number} dayOf
     */
    setDays(dayOf) {
        for (const chunk of this.#chunks) chunk.setDays(dayOf);
        this.#rowChunks = null;
    }

    /**
     * Replaces a message in the window if this snapshot is newer (rule 4).
     *
     * @param {Message} message
     */
    replace(message) {
        const { message: known } = this.#known(message.seq);
        if (message.rev <= known.rev) return;
        this.unread += Number(this.#isUnread(message)) - Number(this.#isUnread(known));
        this.#forgetID(known);
        this.#rowChunks = null;
        this.#chunkOf(message.seq).replace(message.seq, this.#enter(message));
    }

    /**
     * Makes the row of another user's message anew.
     *
     * @param {number} seq
     */
    renew(seq) {
        this.#rowChunks = null;
        this.#chunkOf(seq).replace(seq, this.#entry(this.#known(seq).message, false));
    }

    /**
     * Moves the read mark forward.
     *
     * @param {number} mark
     * @returns {number} The number of unread messages that it passed. A message outside the window counts as one of another
     *   user.
     */
    moveMark(mark) {
        const from = Math.max(this.#mark + 1, this.first);
        const to = Math.min(mark, this.last);
        let passed = mark - this.#mark - Math.max(0, to - from + 1);
        for (let seq = from; seq <= to; seq++) {
            if (!this.#isUnread(this.#known(seq).message)) continue;
            passed++;
            this.unread--;
        }
        this.#mark = mark;
        return passed;
    }

    /** @param {number} seq */
    #chunkOf(seq) {
        return this.#chunks[chunkNumber(seq) - chunkNumber(this.first)];
    }

    /**
     * Creates a message's entry and records its id.
     *
     * The answer to a POST does not name its epoch. After the server was restored from a backup, the answer may belong to the
     * new epoch while the frames still belong to the old one. An id then has two places until the reset.
     *
     * @param {Message} message
     */
    #enter(message) {
        const { seq, sender, client_message_id: id } = message;
        if (sender !== this.#me || !id) return this.#entry(message, false);
        if (!this.#ownIds.has(id)) this.#ownIds.set(id, seq);
        return this.#entry(message, this.#ownIds.get(id) !== seq);
    }

    /** @param {Message} message */
    #isUnread({ seq, sender, deleted }) {
        return seq > this.#mark && sender !== this.#me && !deleted;
    }
}
