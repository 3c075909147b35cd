/**
 * The listeners of something that has a view, and those who wait for a state of it.
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

/** Number of failures in a row after which those who wait are told. Loading is tried on. */
const TOLD_FAILURES = 3;

/**
 * Returns the latest of some failures in a row, if those who wait are told of it.
 *
 * @param {import("./errors.js").ClientError | null} failure
 * @param {number} count
 */
export const toldFailure = (failure, count) => (failure && count && (count >= TOLD_FAILURES || !failure.isTemporary) ? failure : undefined);

/**
 * Waits for a state.
 *
 * @param {Set<() => void>} waiting The functions that are called after each change.
 * @param {() => import("./errors.js").ClientError | null | undefined} outcome Returns null once the state is reached, the error to
 *   throw instead, or undefined to wait on.
 * @returns {Promise<void>}
 */
export function until(waiting, outcome) {
    return new Promise((resolve, reject) => {
        const look = () => {
            const error = outcome();
            if (error === undefined) return;
            waiting.delete(look);
            if (error) reject(error);
            else resolve();
        };
        waiting.add(look);
        look();
    });
}
