/**
 * Texts that survive a reload of this browser window, and those that the browser keeps.
 *
 * @module session
 */

/** Texts by key. If the browser blocks site data, they last until the page is closed. */
class Texts {
    #storage;
    /** @type {Map<string, string | null>} What this page has stored. */
    #values = new Map();

    /** @param {() => Storage} storage */
    constructor(storage) {
        this.#storage = storage;
    }

    /**
     * @param {string} key
     * @returns {string | null}
     */
    get(key) {
        if (this.#values.has(key)) return this.#values.get(key) ?? null;
        try {
            // If site data is blocked, even naming the storage fails.
            return this.#storage().getItem(key);
        } catch {
            return null;
        }
    }

    /**
     * Stores a text; null removes it.
     *
     * @param {string} key
     * @param {string | null} text
     */
    set(key, text) {
        this.#values.set(key, text);
        try {
            if (text === null) this.#storage().removeItem(key);
            else this.#storage().setItem(key, text);
        } catch {
            // The value lasts until the page is closed.
        }
    }
}

export const session = new Texts(() => sessionStorage);
export const kept = new Texts(() => localStorage);
