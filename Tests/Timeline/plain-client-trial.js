import { must } from "./must.js";
import { LIMIT, PlainClient } from "./plain-client.js";
import { SimulatedServer } from "./simulated-server.js";

/** A client, its server, and what is under way between them. */
export class Trial {
    server = new SimulatedServer("alice", () => 0);
    frames = [];
    #subscription = null;

    constructor(without) {
        this.client = new PlainClient("alice", without);
    }

    /** Other users send messages. */
    grow(count) {
        for (let sent = 0; sent < count; sent++) this.server.send("bob");
    }

    /** A room of this many messages is opened at its newest page, or around a message, and is live. */
    openLive(count, query = {}) {
        this.grow(count);
        this.client.open(query);
        this.arrive(this.read());
        this.connect();
        this.replay();
        this.deliver();
    }

    /** The server reads the next page that the client has asked for. */
    read(limit = LIMIT) {
        const request = this.client.requests.shift();
        return { request, page: this.server.page({ ...request.query, limit }) };
    }

    arrive({ request, page }) {
        this.client.takePage(request, page);
    }

    connect() {
        this.client.takeConnected();
        this.#subscription = this.server.subscribe(this.client.rev, this.client.epoch, (frame) => this.frames.push(frame));
        if (!this.#subscription) this.client.takeFrame({ type: "error", code: "cursor_unknown" });
    }

    /** Sends the replay, or so many frames of it. */
    replay(count = Infinity) {
        for (let sent = 0; sent < count && this.#subscription?.step(); sent++);
    }

    deliver(count = Infinity) {
        for (let delivered = 0; delivered < count && this.frames.length > 0; delivered++) this.client.takeFrame(this.frames.shift());
    }

    cut() {
        this.#subscription?.close();
        this.#subscription = null;
        this.frames = [];
        this.client.takeDisconnected();
    }

    /** Performs the client's requests and POSTs until it has none. */
    finish() {
        for (let turns = 0; this.client.requests.length + this.client.posts.length > 0; turns++) {
            must(turns < 1000, "the client does not come to rest", this.client.requests);
            if (this.client.requests.length > 0) this.arrive(this.read());
            if (this.client.posts.length > 0) this.post();
        }
    }

    post(status = 200) {
        const draft = this.client.posts.shift();
        const { message } = status === 0 || status === 200 ? this.server.send("alice", draft.client_message_id) : {};
        this.client.takeAnswer(draft, status, message);
    }

    /** Loads all pages on one side. */
    loadAll(edge) {
        for (let pages = 0; edge === "before" ? this.client.hasBefore : this.client.hasAfter; pages++) {
            must(pages < 1000, "a page brings nothing");
            this.client.load(edge);
            this.finish();
        }
    }

    /** Checks that the window has no gap, and the server's snapshots. */
    check(first = this.client.first, last = this.client.last) {
        const { messages } = this.client;
        must(messages.every(({ seq }, index) => seq === first + index), "a gap", messages.map(({ seq }) => seq));
        must(this.client.last === last && this.client.first === first, "the window ends at", this.client.first, this.client.last);
        for (const message of messages) {
            const { rev } = this.server.messages[message.seq - 1];
            must(message.rev === rev, "an old snapshot of", message.seq, message.rev, rev);
        }
    }
}
