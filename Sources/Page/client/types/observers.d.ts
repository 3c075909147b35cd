export class Observers {
    /**
     * Calls a function after each change, until the returned function is called. Changes that come together are told once.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    add(listener: () => void): import("./types.js").Unsubscribe;
    /** Tells the listeners once the present work is done. */
    tell(): void;
    #private;
}
