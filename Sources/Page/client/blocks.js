/**
 * The users whom the user blocks, the same on all devices.
 *
 * @module blocks
 */

import { Observers } from "./observers.js";

export class Blocks {
    #requests;
    #observers = new Observers();
    /** @type {ReadonlySet<string>} */
    #view = new Set();
    #isOpen = false;
    /** Number of changes that were told, so that a list that was read before one is read again. */
    #changes = 0;

    /** @param {import("./requests.js").Requests} requests */
    constructor(requests) {
        this.#requests = requests;
    }

    /**
     * The blocked users now: the same set until it changes.
     *
     * @returns {ReadonlySet<string>}
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
     * Loads the blocked users, and keeps them current while the list of rooms is open.
     *
     * @returns {Promise<this>}
     */
    async open() {
        this.#isOpen = true;
        for (;;) {
            const changes = this.#changes;
            const users = new Set();
            let answer, last;
            do {
                answer = await this.#requests.blocks(last);
                for (const { user } of answer.blocks) users.add((last = user));
            } while (answer.has_more);
            if (changes !== this.#changes) continue;
            this.#show(users);
            return this;
        }
    }

    /**
     * Blocks a user: direct messages end, and the app folds the user's other messages.
     *
     * @param {string} user
     */
    async block(user) {
        await this.#requests.setBlock(user, true);
        this.note(user, true);
    }

    /**
     * Ends a block.
     *
     * @param {string} user
     */
    async unblock(user) {
        await this.#requests.setBlock(user, false);
        this.note(user, false);
    }

    /**
     * Takes a change that the server has told. The client calls it.
     *
     * @param {string} user
     * @param {boolean} isBlocked
     */
    note(user, isBlocked) {
        this.#changes++;
        const users = new Set(this.#view);
        if (isBlocked) users.add(user);
        else users.delete(user);
        this.#show(users);
    }

    /** Loads the blocked users again, because changes may have been missed. The client calls it. */
    renew() {
        if (this.#isOpen) this.open().catch(() => {});
    }

    /** @param {Set<string>} users */
    #show(users) {
        if (users.size === this.#view.size && [...users].every((user) => this.#view.has(user))) return;
        this.#view = users;
        this.#observers.tell();
    }
}
