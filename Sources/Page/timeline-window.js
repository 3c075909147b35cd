/**
 * The window of a timeline: messages from `first` to `last` without holes, each in the latest snapshot known.
 *
 * It keeps each message's row and day beside it, so that a change of one message costs one row, and counts what is
 * unread in it, so that nothing walks through the window for each message.
 *
 * @typedef {import("./timeline-events.js").Message} Message
 * @typedef {import("./timeline.js").Row} Row
 * @typedef {{message: Message, row: Row, day: number}} Entry
 */
export class MessageWindow {
    /** @type {Entry[]} The message with `seq` is at `seq - first`. */
    #entries = [];
    /** @type {Map<string, number>} The ids of own messages in the window, and the `seq` of each. */
    #ownIds = new Map();
    /** @type {(message: Message, isTwice: boolean) => Entry} */
    #entry;
    #me;
    #mark;

    /** The lowest `seq` in the window, or the place where its first message will stand. */
    first;
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
        this.hasBefore = hasBefore;
        this.hasAfter = hasAfter;
        this.#me = me;
        this.#mark = mark ?? 0;
        this.#entry = entry;
        for (const message of messages) this.append(message);
    }

    /** The highest `seq` in the window; `first - 1` while it is empty. */
    get last() {
        return this.first + this.#entries.length - 1;
    }

    get isEmpty() {
        return this.#entries.length === 0;
    }

    /** @type {readonly Entry[]} Oldest first. */
    get entries() {
        return this.#entries;
    }

    has(seq) {
        return seq >= this.first && seq <= this.last;
    }

    /** @returns {Entry | undefined} */
    at(seq) {
        return this.#entries[seq - this.first];
    }

    hasOwn(clientMessageID) {
        return this.#ownIds.has(clientMessageID);
    }

    /** True if every message of the room that is beyond `mark`, up to `last`, is here. */
    reachesBackTo(mark) {
        return !this.hasBefore || this.first <= mark + 1;
    }

    /** Puts a message behind the last one; its `seq` is `last + 1`. */
    append(message) {
        this.#entries.push(this.#enter(message));
        if (this.#isUnread(message)) this.unread++;
    }

    /** Puts messages before the first one; the last of them is `first - 1`. */
    prepend(messages) {
        this.#entries = messages.map((message) => this.#enter(message)).concat(this.#entries);
        this.first -= messages.length;
        this.unread += messages.filter((message) => this.#isUnread(message)).length;
    }

    /** Takes this snapshot of a message in the window if it is newer than the one known (rule 4). */
    replace(message) {
        const index = message.seq - this.first;
        const { message: known } = this.#entries[index];
        if (message.rev <= known.rev) return;
        this.unread += Number(this.#isUnread(message)) - Number(this.#isUnread(known));
        if (this.#ownIds.get(known.client_message_id) === known.seq) this.#ownIds.delete(known.client_message_id);
        this.#entries[index] = this.#enter(message);
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
