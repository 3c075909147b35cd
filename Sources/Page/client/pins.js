/**
 * The pinned messages of a room, which an open room keeps current (docs/javascript.md).
 *
 * @module pins
 */

import { after, stop } from "./defaults.js";
import { Observers } from "./observers.js";
import { isMessage, listOf } from "./requests.js";

/** @typedef {import("./types.js").Message} Message */

/** Time after which a list that has messages is loaded again, in milliseconds, because no frame tells that one has expired. */
const RENEWAL_MILLISECONDS = 600000;

export class Pins {
    #client;
    #room;
    #path;
    #observers = new Observers();
    #unsubscribe;
    /** @type {Map<number, Message>} The pinned messages, by `seq`. */
    #pinned = new Map();
    /** @type {Map<number, Message> | null} The messages that came while the list is being loaded. */
    #news = null;
    /** @type {readonly Message[]} */
    #view = Object.freeze([]);
    #isLive = false;
    /** @type {import("./defaults.js").Timer | null} */
    #renewal = null;

    /**
     * @param {import("./client.js").Client} client
     * @param {import("./room.js").Room} room An open room, or one that will be opened.
     */
    constructor(client, room) {
        this.#client = client;
        this.#room = room;
        this.#path = `/v1/rooms/${encodeURIComponent(room.id)}`;
        const ends = [room.onMessage((message) => this.#take(message)), room.subscribe(() => this.#look())];
        this.#unsubscribe = () => ends.forEach((end) => end());
        this.#look();
    }

    /**
     * The pinned messages, the one that was pinned last first. Another array has other messages.
     *
     * @returns {readonly Message[]}
     */
    get view() {
        return this.#view;
    }

    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener) {
        return this.#observers.add(listener);
    }

    /**
     * Pins a message.
     *
     * @param {number} seq
     * @returns {Promise<Message>}
     * @throws {import("./errors.js").ClientError} `forbidden` if the user may not, `too_many_pins` if the room has 50.
     */
    pin(seq) {
        return this.#set("PUT", seq);
    }

    /**
     * Takes a message off the list.
     *
     * @param {number} seq
     * @returns {Promise<Message>}
     */
    unpin(seq) {
        return this.#set("DELETE", seq);
    }

    /** Ends the list; the room stays open. */
    close() {
        this.#unsubscribe();
        this.#news = null;
        stop(this.#renewal);
    }

    /**
     * @param {string} method
     * @param {number} seq
     */
    async #set(method, seq) {
        /** @type {Message} */
        const message = await this.#client.request(method, `${this.#path}/messages/${seq}/pin`, { isValid: isMessage });
        this.#take(message);
        return message;
    }

    /** Loads the list with each connection. From then on each change comes as a message. */
    #look() {
        const isLive = this.#room.view.connection === "live";
        if (isLive && !this.#isLive) this.#load();
        this.#isLive = isLive;
    }

    async #load() {
        const news = (this.#news = new Map());
        /** @type {Message[]} */
        const messages = [];
        try {
            for (let cursor; ; ) {
                /** @type {{messages: Message[], has_more: boolean, cursor?: string}} */
                const answer = await this.#client.request("GET", `${this.#path}/pins`, listOf("messages", { cursor }));
                if (news !== this.#news) return;
                messages.push(...answer.messages);
                cursor = answer.has_more ? answer.cursor : undefined;
                if (cursor === undefined) break;
            }
        } catch {
            // The list stays as it is until the next connection or renewal.
            if (news !== this.#news) return;
            this.#news = null;
            return this.#renewLater();
        }
        this.#news = null;
        this.#pinned = new Map(messages.map((message) => [message.seq, message]));
        for (const message of news.values()) this.#put(message);
        this.#changed();
    }

    /** @param {Message} message */
    #take(message) {
        this.#news?.set(message.seq, message);
        if (this.#put(message)) this.#changed();
    }

    /**
     * Returns true if the list has changed.
     *
     * @param {Message} message
     */
    #put(message) {
        const known = this.#pinned.get(message.seq);
        if (known ? known.rev >= message.rev : !message.pinned) return false;
        if (message.pinned) this.#pinned.set(message.seq, message);
        else this.#pinned.delete(message.seq);
        return true;
    }

    #changed() {
        const at = (/** @type {Message} */ { pinned }) => Date.parse(pinned?.at ?? "");
        this.#view = Object.freeze([...this.#pinned.values()].sort((one, other) => at(other) - at(one) || other.seq - one.seq));
        this.#observers.tell();
        this.#renewLater();
    }

    #renewLater() {
        stop(this.#renewal);
        this.#renewal = this.#pinned.size ? after(RENEWAL_MILLISECONDS, () => (this.#isLive ? this.#load() : null)) : null;
    }
}
