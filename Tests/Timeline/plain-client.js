/**
 * A small client that follows the rules of docs/clients.md to the letter, and nothing else. run-plain-client.js plays each rule,
 * with it and without it.
 *
 * It has no network. Whoever plays it performs `requests` and `posts`, and passes on the answers and the frames.
 */

/** The number of messages of a page. */
export const LIMIT = 5;
/** Maximum number of messages that are held. */
const MAXIMUM_HELD = 200;

export class PlainClient {
    #me;
    #without;
    /** The messages of the window, by ascending `seq` without gaps. */
    messages = [];
    hasBefore = false;
    hasAfter = false;
    head = 0;
    epoch = null;
    /** The position in this epoch. */
    rev = 0;
    /** The number of messages that the "new messages" button shows. */
    count = 0;
    mark = 0;
    /** The number of unread messages, as the server has said last. */
    unread = 0;
    /** The pages to load: `{ window, edge, query }`. */
    requests = [];
    /** The messages to POST. */
    posts = [];
    /** The sends that are not known to be stored, and those that were refused. */
    unsent = [];
    failed = [];
    #window = 0;
    #place = 1;
    #held = new Map();
    #kept = new Map();
    #loading = { before: false, after: false };
    #isGap = false;
    #isReplaying = false;
    #isSubscribed = false;
    /** True once the opening's page is there. */
    #isOpen = false;
    /** The send whose POST is under way, with its epoch. */
    #posting = null;

    /** @param {string} me @param {string} [without] The name of a rule that this client does not follow. */
    constructor(me, without) {
        this.#me = me;
        this.#without = without;
    }

    #follows(rule) {
        return rule !== this.#without;
    }

    get last() {
        return this.messages.at(-1)?.seq ?? this.#place - 1;
    }

    get first() {
        return this.messages[0]?.seq ?? this.#place;
    }

    // Open in the middle

    /** Requests the page to open with. */
    open(query) {
        if (this.#follows("frames of an earlier subscription")) this.#isSubscribed = this.#isOpen = false;
        this.#window++;
        this.messages = [];
        this.hasBefore = this.hasAfter = false;
        this.#held.clear();
        this.#kept.clear();
        this.#loading = { before: false, after: false };
        this.#isGap = false;
        this.#isReplaying = false;
        this.requests.push({ window: this.#window, edge: "opening", query });
    }

    /** Requests the page beyond an edge, unless the room ends there. */
    load(edge) {
        const goesOn = edge === "before" ? this.hasBefore : this.hasAfter || this.#isGap;
        if (!goesOn || this.#loading[edge]) return;
        this.#loading[edge] = true;
        const query = edge === "before" ? { before: this.first } : { after: this.last };
        this.requests.push({ window: this.#window, edge, query });
    }

    /** Takes the answer to a request. */
    takePage({ window, edge }, page) {
        if (window !== this.#window && this.#follows("a page of an earlier window")) return;
        if (edge !== "opening" && page.epoch !== this.epoch) return this.#startOver();
        this.head = Math.max(this.head, page.head);
        const messages = page.messages.map((message) => this.#latest(message));
        if (edge === "opening") this.#takeOpening(page, messages);
        if (edge === "before") this.#takeBefore(page, messages);
        if (edge === "after") this.#takeAfter(page, messages);
        for (const message of messages) this.#settle(message);
        if (!this.#loading.before && !this.#loading.after) this.#kept.clear();
    }

    #takeOpening(page, messages) {
        this.#isOpen = true;
        this.#place = page.has_after ? 1 : page.head + 1;
        this.messages = messages;
        this.hasBefore = page.has_before;
        this.hasAfter = page.has_after;
        this.head = page.head;
        if (this.epoch !== null && this.epoch !== page.epoch && this.#posting) this.#posting.isOutdated = true;
        this.epoch = page.epoch;
        this.rev = page.rev;
        this.#postNext();
    }

    #takeBefore(page, messages) {
        this.#loading.before = false;
        for (const message of messages) if (message.seq >= this.first) this.#replace(message);
        this.messages.unshift(...messages.filter(({ seq }) => seq < this.first));
        this.hasBefore = page.has_before && (this.#follows("a short page") || messages.length === LIMIT);
    }

    #takeAfter(page, messages) {
        this.#loading.after = false;
        for (const message of messages) {
            if (message.seq <= this.last) this.#replace(message);
            else this.messages.push(message);
        }
        this.hasAfter = page.has_after && (this.#follows("a short page") || messages.length === LIMIT);
        if (this.head > this.last && this.#follows("a stale has_after")) this.hasAfter = true;
        if (!this.#isReplaying) this.#appendHeld();
        const isFilled = messages.length === 0 || !this.hasAfter || !this.#follows("a gap of several pages");
        if (this.#isGap && !isFilled) this.load("after");
        else this.#isGap = false;
    }

    // Take live messages

    takeConnected() {
        this.#isSubscribed = true;
    }

    takeFrame(frame) {
        if (!this.#isSubscribed) return;
        if ((frame.epoch !== undefined && frame.epoch !== this.epoch) || frame.code === "cursor_unknown") return this.#startOver();
        switch (frame.type) {
            case "subscribed":
                this.head = Math.max(this.head, frame.head);
                this.#isReplaying = true;
                break;
            case "message":
                this.rev = Math.max(this.rev, frame.message.rev);
                this.#take(frame.message);
                break;
            case "live":
                this.rev = Math.max(this.rev, frame.rev);
                this.#isReplaying = false;
                this.#appendHeld();
                if (this.#held.size > 0 && !this.hasAfter) this.#fillGap();
        }
    }

    takeDisconnected() {
        this.#isSubscribed = false;
        if (!this.#follows("a replay that is cut")) this.#held.clear();
    }

    #take(message) {
        const isNew = message.seq > this.head || !this.#follows("edits are not new");
        if (isNew && message.sender !== this.#me) this.count++;
        this.head = Math.max(this.head, message.seq);
        this.#settle(message);
        // Without a window there is nothing to insert into. The subscription at the opening's page brings the message.
        if (!this.#isOpen) return;
        if (message.seq >= this.first && message.seq <= this.last) return this.#replace(message);
        if (message.seq < this.first) return this.#keep(message);
        if (this.hasAfter && this.#follows("messages after unloaded pages")) return this.#keep(message);
        if (this.hasAfter) return void this.messages.push(message);
        if (this.#isReplaying && this.#follows("a replay is held")) return this.#hold(message);
        if (message.seq === this.last + 1 || !this.#follows("a gap")) {
            this.messages.push(this.#latest(message));
            this.#appendHeld();
        } else {
            this.#hold(message);
            if (!this.hasAfter) this.#fillGap();
        }
    }

    #fillGap() {
        this.#isGap = true;
        this.load("after");
    }

    #replace(message) {
        const index = message.seq - this.first;
        const isNewer = message.rev > this.messages[index].rev || !this.#follows("the higher rev");
        if (isNewer) this.messages[index] = message;
    }

    #hold(message) {
        this.#held.set(message.seq, this.#latest(message));
        if (this.#held.size <= MAXIMUM_HELD || !this.#follows("too many held")) return;
        this.#held.clear();
        this.hasAfter = true;
    }

    #appendHeld() {
        for (let next; (next = this.#held.get(this.last + 1)); ) this.messages.push(next);
        for (const seq of this.#held.keys()) if (seq <= this.last) this.#held.delete(seq);
        if (this.last >= this.head) this.hasAfter = false;
    }

    #keep(message) {
        const isLoading = this.#loading.before || this.#loading.after;
        if (isLoading && this.#follows("a change races a page")) this.#kept.set(message.seq, this.#latest(message));
    }

    #latest(message) {
        let latest = message;
        for (const other of [this.#held.get(message.seq), this.#kept.get(message.seq)]) {
            if (other && other.rev > latest.rev) latest = other;
        }
        return latest;
    }

    // Send

    send(draft) {
        this.unsent.push(draft);
        this.#postNext();
    }

    #postNext() {
        const isFree = this.#posting === null || !this.#follows("one POST at a time");
        const next = this.unsent.find(({ client_message_id: id }) => id !== this.#posting?.id && !this.#isPosted(id));
        if (!isFree || !next || this.epoch === null) return;
        this.#posting = { id: next.client_message_id, isOutdated: false };
        this.posts.push(next);
    }

    #isPosted(id) {
        return this.posts.some((post) => post.client_message_id === id);
    }

    /** Takes the answer to a POST; status 0 if it was lost. Whoever plays the client waits before this. */
    takeAnswer(draft, status, message) {
        const isOutdated = this.#posting?.isOutdated;
        this.#posting = null;
        const isTemporary = status === 0 || status === 401 || status === 408 || status === 429 || status >= 500;
        if (status < 300 && status > 0 && !isOutdated) {
            if (!this.#follows("the position is moved by frames")) this.rev = Math.max(this.rev, message.rev);
            this.#take(message);
        } else if (!isOutdated && (!isTemporary || !this.#follows("a POST is repeated"))) {
            this.unsent = this.unsent.filter((other) => other !== draft);
            this.failed.push(draft);
        }
        this.#postNext();
    }

    /** A send is stored once it is seen, wherever that is. */
    #settle({ sender, client_message_id: id }) {
        if (sender !== this.#me || !this.#follows("a send is stored where it is seen")) return;
        this.unsent = this.unsent.filter((draft) => draft.client_message_id !== id);
    }

    // Come back

    #startOver() {
        if (!this.#follows("another history")) return;
        if (this.#posting) this.#posting.isOutdated = true;
        this.epoch = null;
        this.head = 0;
        this.rev = 0;
        this.open({});
    }

    /** The user has seen a message. Returns the mark to PUT; null for none. */
    see(seq) {
        if (seq <= this.mark) return null;
        this.mark = seq;
        return seq;
    }

    /** Takes the room from the answer to a GET, or to the PUT of a mark. */
    takeRoom({ read, unread, head }) {
        if (read > this.mark) this.mark = read;
        if (head === this.head) this.unread = unread;
    }
}
