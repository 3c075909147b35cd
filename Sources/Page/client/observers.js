/**
 * The listeners of something that has a view.
 *
 * @module observers
 */

import { soon } from "./defaults.js";

export class Observers {
    /** @type {Set<() => void>} */
    #listeners = new Set();
    #isTelling = false;

    /**
     * Calls a function after each change, until the returned function is called. Changes that come together are told once.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    add(listener) {
        // The same function may be added twice.
        const own = () => listener();
        this.#listeners.add(own);
        return () => void this.#listeners.delete(own);
    }

    /** Tells the listeners once the present work is done. */
    tell() {
        if (this.#isTelling || !this.#listeners.size) return;
        this.#isTelling = true;
        soon(() => {
            this.#isTelling = false;
            for (const listener of [...this.#listeners]) if (this.#listeners.has(listener)) listener();
        });
    }
}
