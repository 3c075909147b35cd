/**
 * The window of a timeline: messages from `first` to `last` without holes, each in the latest snapshot known.
 *
 * A window may grow to the whole of a long room, so nothing here walks through it for a change of one message. Messages
 * are kept in chunks, of which a change touches one, and what is unread is counted as messages come and change.
 *
 * @typedef {import("./timeline-events.js").Message} Message
 * @typedef {import("./timeline.js").Row} Row
 * @typedef {{message: Message, row: Row, day: number}} Entry
 */

/** The number of places in the room that share a chunk. */
const CHUNK_SIZE = 128;

const chunkNumber = (seq) => Math.floor(seq / CHUNK_SIZE);

/** Neighbouring messages of a window, and the rows that they give. */
class Chunk {
    /** @type {Entry[]} Ascending without holes. */
    entries = [];
    /** The latest day of the messages here. */
    latestDay = -Infinity;
    /** @type {readonly Row[] | null} The rows as last asked for, until a message changes. */
    #rows = null;
    /** What `#rows` were made for: the latest day above, and the place of the unread line if it is here. */
    #dayAbove = 0;
    #lineAt = null;

    get first() {
        return this.entries[0].message.seq;
    }

    get last() {
        return this.entries.at(-1).message.seq;
    }

    append(entry) {
        this.entries.push(entry);
        this.#changed(entry.day);
    }

    prepend(entry) {
        this.entries.unshift(entry);
        this.#changed(entry.day);
    }

    replace(seq, entry) {
        this.entries[seq - this.first] = entry;
        this.latestDay = Math.max(...this.entries.map(({ day }) => day));
        this.#rows = null;
    }

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
        const ownLine = lineAt >= this.first && lineAt <= this.last ? lineAt : null;
        if (this.#rows === null || this.#dayAbove !== dayAbove || this.#lineAt !== ownLine) {
            this.#rows = makeRows(this.entries, dayAbove);
            this.#dayAbove = dayAbove;
            this.#lineAt = ownLine;
        }
        return this.#rows;
    }
}

/**
 * @callback RowsMaker Makes the rows of messages, with the lines between them.
 * @param {readonly Entry[]} entries
 * @param {number} dayAbove The latest day of all messages above them.
 * @returns {readonly Row[]}
 */

export class MessageWindow {
    /** @type {Chunk[]} Ascending, none empty; each holds the messages of the window with one `chunkNumber`. */
    #chunks = [];
    /** @type {Map<string, number>} The ids of own messages in the window, and the `seq` of each. */
    #ownIds = new Map();
    /** @type {number[]} The own messages in the window, ascending. */
    #own = [];
    /** The answer to the last `rowChunks`, until a message or the unread line changes. */
    #rowChunks = null;
    #lineAt = undefined;
    /** @type {(message: Message, isTwice: boolean) => Entry} */
    #entry;
    #me;
    #mark;

    /** The lowest `seq` in the window, or the place where its first message will stand. */
    first;
    /** The highest `seq` in the window; `first - 1` while it is empty. */
    last;
    /** True if the room goes on before `first`. */
    hasBefore;
    /** True if the room goes on after `last`; false means that the window is at the head. */
    hasAfter;
    /** The number of messages of others in the window beyond the read mark that are not deleted. */
    unread = 0;

    /**
     * @param {Message[]} messages Ascending without holes.
     * @param {{first: number, hasBefore: boolean, hasAfter: boolean, me: string, mark: number | null,
     *   entry: (message: Message, isTwice: boolean) => Entry}} settings `first` is where an empty window begins;
     *   `isTwice` says that the message's `client_message_id` is already that of another one in the window.
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

    has(seq) {
        return seq >= this.first && seq <= this.last;
    }

    /** @returns {Entry | undefined} */
    at(seq) {
        if (!this.has(seq)) return undefined;
        const chunk = this.#chunkOf(seq);
        return chunk.entries[seq - chunk.first];
    }

    hasOwn(clientMessageID) {
        return this.#ownIds.has(clientMessageID);
    }

    /** The newest own message in the window that is not beyond `seq`; undefined if there is none. */
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

    /** True if every message of the room that is beyond `mark`, up to `last`, is here. */
    reachesBackTo(mark) {
        return !this.hasBefore || this.first <= mark + 1;
    }

    /** The latest day of the messages; minus infinity without any. */
    get latestDay() {
        return this.#chunks.reduce((day, { latestDay }) => Math.max(day, latestDay), -Infinity);
    }

    /**
     * The rows of the messages, oldest first, in arrays of which those are the same as before that have not changed.
     *
     * @param {number | undefined} lineAt The message below the unread line.
     * @param {RowsMaker} makeRows
     * @returns {readonly (readonly Row[])[]} The same array as last time if none has changed.
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

    /** Puts a message behind the last one; its `seq` is `last + 1`. */
    append(message) {
        this.last = message.seq;
        this.#rowChunks = null;
        if (this.isEmpty || chunkNumber(this.#chunks.at(-1).last) !== chunkNumber(message.seq)) {
            this.#chunks.push(new Chunk());
        }
        this.#chunks.at(-1).append(this.#enter(message));
        if (message.sender === this.#me) this.#own.push(message.seq);
        if (this.#isUnread(message)) this.unread++;
    }

    /** Puts messages before the first one; the last of them is `first - 1`. */
    prepend(messages) {
        this.#rowChunks = null;
        const entries = messages.map((message) => this.#enter(message));
        for (const entry of entries.reverse()) {
            this.first = entry.message.seq;
            if (this.isEmpty || chunkNumber(this.#chunks[0].first) !== chunkNumber(this.first)) {
                this.#chunks.unshift(new Chunk());
            }
            this.#chunks[0].prepend(entry);
        }
        this.#own.unshift(...messages.filter(({ sender }) => sender === this.#me).map(({ seq }) => seq));
        this.unread += messages.filter((message) => this.#isUnread(message)).length;
    }

    /** Takes this snapshot of a message in the window if it is newer than the one known (rule 4). */
    replace(message) {
        const { message: known } = this.at(message.seq);
        if (message.rev <= known.rev) return;
        this.unread += Number(this.#isUnread(message)) - Number(this.#isUnread(known));
        if (this.#ownIds.get(known.client_message_id) === known.seq) this.#ownIds.delete(known.client_message_id);
        this.#rowChunks = null;
        this.#chunkOf(message.seq).replace(message.seq, this.#enter(message));
    }

    /**
     * Moves the read mark forward.
     *
     * @returns {number} The number of unread messages that it passed. One outside the window counts as another's.
     */
    moveMark(mark) {
        const from = Math.max(this.#mark + 1, this.first);
        const to = Math.min(mark, this.last);
        let passed = mark - this.#mark - Math.max(0, to - from + 1);
        for (let seq = from; seq <= to; seq++) {
            if (!this.#isUnread(this.at(seq).message)) continue;
            passed++;
            this.unread--;
        }
        this.#mark = mark;
        return passed;
    }

    #chunkOf(seq) {
        return this.#chunks[chunkNumber(seq) - chunkNumber(this.first)];
    }

    /**
     * Makes a message's entry and remembers its id.
     *
     * The answer to a POST does not name its epoch. When the server has come back from a backup, the answer may be of
     * the new epoch while the frames are still those of the old one, and an id then has two places until the reset.
     */
    #enter(message) {
        const { seq, sender, client_message_id: id } = message;
        if (sender !== this.#me || !id) return this.#entry(message, false);
        if (!this.#ownIds.has(id)) this.#ownIds.set(id, seq);
        return this.#entry(message, this.#ownIds.get(id) !== seq);
    }

    #isUnread({ seq, sender, deleted }) {
        return seq > this.#mark && sender !== this.#me && !deleted;
    }
}
