/** @typedef {import("./types.js").Store} Store */
/** @implements {Store} */
export class IndexedDBStore implements Store {
    /** @param {string} [name] The name of the database. Several clients may share one. */
    constructor(name?: string | undefined);
    /** True once the database is open, or is known not to open. */
    isOpen: boolean;
    /**
     * @param {string} key
     * @returns {Promise<any>}
     */
    get(key: string): Promise<any>;
    /**
     * @param {string} key
     * @param {object} value
     */
    set(key: string, value: object): Promise<any>;
    /** @param {string} key */
    remove(key: string): Promise<any>;
    /**
     * @param {string} prefix
     * @returns {Promise<string[]>}
     */
    keys(prefix: string): Promise<string[]>;
    #private;
}
export type Store = import("./types.js").Store;
