/**
 * Sends the messages that the user wrote in rooms that are not open: for example offline, before the room or the app was closed.
 *
 * An open room sends its own messages. To each other room, messages are sent one at a time, in the order of writing. A message
 * that is refused stays in the store, and is shown as failed when its room is opened. Two windows may send the same message at
 * once: the server stores it once, because of its `client_message_id`.
 *
 * @module outbox
 */

import { after, stop } from "./defaults.js";
import { asClientError } from "./errors.js";
import { pauseAfter } from "./requests.js";

export class Outbox {
    #requests;
    #storage;
    #isOpen;
    #isClosed = false;
    /**
     * The rooms that are being sent to.
     *
     * @type {Set<string>}
     */
    #sending = new Set();
    /**
     * The ids of sends that the server refused.
     *
     * @type {Set<string>}
     */
    #refused = new Set();
    /**
     * Functions that each end a pause.
     *
     * @type {Set<() => void>}
     */
    #pauses = new Set();

    /**
     * @param {import("./requests.js").Requests} requests
     * @param {import("./storage.js").Storage} storage
     * @param {(room: string) => boolean} isOpen
     */
    constructor(requests, storage, isOpen) {
        this.#requests = requests;
        this.#storage = storage;
        this.#isOpen = isOpen;
    }

    close() {
        this.#isClosed = true;
        this.wake();
    }

    /** Sends the unsent messages of all rooms that are not open. */
    async send() {
        for (const room of await this.#storage.unsentRooms()) {
            if (this.#isClosed || this.#isOpen(room) || this.#sending.has(room)) continue;
            this.#sending.add(room);
            this.#sendIn(room).finally(() => this.#sending.delete(room));
        }
    }

    /** Ends all pauses, because the network has come back. */
    wake() {
        for (const end of [...this.#pauses]) end();
    }

    /** @param {string} room */
    async #sendIn(room) {
        for (let failures = 0; !this.#isClosed && !this.#isOpen(room); ) {
            // Sends that the user has discarded, or another window has sent, are gone by now.
            const unsent = await this.#storage.unsent(room);
            const draft = unsent.map((send) => send.draft).find(({ client_message_id: id }) => !this.#refused.has(id));
            if (!draft) return;
            try {
                await this.#requests.send(room, draft);
                await this.#storage.removeUnsent(room, draft.client_message_id);
                failures = 0;
            } catch (error) {
                const failure = asClientError(error);
                if (failure.code === "closed") return;
                if (!failure.isTemporary) {
                    this.#refused.add(draft.client_message_id);
                    continue;
                }
                failures++;
                await this.#wait(pauseAfter(failures, failure));
            }
        }
    }

    /**
     * @param {number} milliseconds
     * @returns {Promise<void>}
     */
    #wait(milliseconds) {
        return new Promise((resolve) => {
            const end = () => {
                stop(timer);
                this.#pauses.delete(end);
                resolve();
            };
            const timer = after(milliseconds, end);
            this.#pauses.add(end);
        });
    }
}
