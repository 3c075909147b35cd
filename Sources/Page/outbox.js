/**
 * Sends the messages that the user wrote in rooms that are no longer open: for example offline, before going to another room or
 * closing the page.
 *
 * The open room sends its own messages. To each other room, messages are sent one at a time, in the order of writing. A message
 * that is refused stays in the store, and is shown as failed when its room is opened. Two windows may send the same message at
 * once: the server stores it once, because of its `client_message_id`.
 *
 * @module outbox
 */

import { RequestError } from "./api.js";
import { isTemporary } from "./timeline.js";

/** Pauses before the next attempt, in milliseconds. They double each time. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30000;

export class Outbox {
    #api;
    #store;
    #open = null;
    #isClosed = false;
    /** @type {Set<string>} The rooms that are being sent to. */
    #sending = new Set();
    /** @type {Set<string>} The ids of sends that the server refused. */
    #refused = new Set();
    /** @type {Set<() => void>} Functions that each end a pause. */
    #pauses = new Set();

    constructor(api, store) {
        this.#api = api;
        this.#store = store;
    }

    close() {
        this.#isClosed = true;
        this.wake();
    }

    /**
     * Sends the unsent messages of all rooms except the open one.
     *
     * @param {string | null} open The room that sends its own messages from now on.
     */
    async send(open) {
        this.#open = open;
        for (const room of await this.#store.unsentRooms()) {
            if (room === this.#open || this.#sending.has(room)) continue;
            this.#sending.add(room);
            this.#sendIn(room).finally(() => this.#sending.delete(room));
        }
    }

    /** Ends all pauses, because the network has come back. */
    wake() {
        for (const end of this.#pauses) end();
    }

    async #sendIn(room) {
        let pause = FIRST_PAUSE;
        while (!this.#isClosed && room !== this.#open) {
            // Sends that the user has discarded, or another window has sent, are gone by now.
            const unsent = await this.#store.unsent(room);
            const draft = unsent.map((send) => send.draft).find(({ client_message_id: id }) => !this.#refused.has(id));
            if (!draft) return;
            try {
                await this.#api.send(room, draft);
                await this.#store.removeUnsent(room, draft.client_message_id);
                pause = FIRST_PAUSE;
            } catch (error) {
                if (!(error instanceof RequestError)) throw error;
                if (!isTemporary(error.status)) {
                    this.#refused.add(draft.client_message_id);
                    continue;
                }
                await this.#wait(error.retryAfter === undefined ? pause : error.retryAfter * 1000);
                pause = Math.min(2 * pause, LONGEST_PAUSE);
            }
        }
    }

    #wait(milliseconds) {
        return new Promise((resolve) => {
            const end = () => {
                clearTimeout(timer);
                this.#pauses.delete(end);
                resolve();
            };
            const timer = setTimeout(end, milliseconds);
            this.#pauses.add(end);
        });
    }
}
