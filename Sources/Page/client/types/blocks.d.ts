export class Blocks {
    /** @param {import("./requests.js").Requests} requests */
    constructor(requests: import("./requests.js").Requests);
    /**
     * The blocked users now: the same set until it changes.
     *
     * @returns {ReadonlySet<string>}
     */
    get view(): ReadonlySet<string>;
    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener: () => void): import("./types.js").Unsubscribe;
    /**
     * Loads the blocked users, and keeps them current while the list of rooms is open.
     *
     * @returns {Promise<this>}
     */
    open(): Promise<Blocks>;
    /**
     * Blocks a user: direct messages end, and the app folds the user's other messages.
     *
     * @param {string} user
     */
    block(user: string): Promise<void>;
    /**
     * Ends a block.
     *
     * @param {string} user
     */
    unblock(user: string): Promise<void>;
    /**
     * Takes a change that the server has told. The client calls it.
     *
     * @param {string} user
     * @param {boolean} isBlocked
     */
    note(user: string, isBlocked: boolean): void;
    /** Loads the blocked users again, because changes may have been missed. The client calls it. */
    renew(): void;
    #private;
}
