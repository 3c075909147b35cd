/**
 * A store in the browser (IndexedDB), for the option `store` of a client.
 *
 * If the browser has no database, nothing is stored, and the client works all the same. It needs `indexedDB`, `IDBKeyRange`, and
 * for a fast first visit `localStorage`.
 *
 * @module store-indexeddb
 */

import { prefixOf, unsentKey } from "./storage.js";

const VERSION = 2;
const VALUES = "values";

/** @typedef {import("./types.js").Store} Store */

/** @implements {Store} */
export class IndexedDBStore {
    /** The key in the local storage that is set before the first write to the database. It is read faster than the database. */
    #writtenKey;
    /** @type {Promise<IDBDatabase | null>} */
    #database;
    /**
     * Resolves as soon as it is known if the database is being created; then there is nothing to read.
     *
     * @type {Promise<boolean>}
     */
    #isNew;
    #hasWritten = false;
    /** True once the database is open, or is known not to open. */
    isOpen = false;

    /** @param {string} [name] The name of the database. Several clients may share one. */
    constructor(name = "backscroll") {
        this.#writtenKey = `${name}.written`;
        /** @type {(isNew: boolean) => void} */
        let tellIfNew = () => {};
        this.#isNew = new Promise((resolve) => (tellIfNew = resolve));
        if (this.#isUnwritten) tellIfNew(true);
        this.#database = new Promise((resolve) => {
            /** @type {IDBOpenDBRequest} */
            let request;
            try {
                request = indexedDB.open(name, VERSION);
            } catch {
                return resolve(null);
            }
            request.onupgradeneeded = ({ oldVersion }) => {
                tellIfNew(oldVersion === 0);
                request.result.createObjectStore(VALUES);
                if (oldVersion === 1 && request.transaction) takeUnsent(request.transaction);
            };
            request.onsuccess = () => resolve(request.result);
            request.onerror = request.onblocked = () => resolve(null);
        });
        this.#database.then((database) => {
            // Another window may have a newer version of the app.
            if (database) database.onversionchange = () => database.close();
            this.isOpen = true;
            // Once the database is open, another window may have written to it.
            tellIfNew(false);
            this.#isNew = Promise.resolve(false);
        });
    }

    /** True if nothing was ever written to the database. */
    get #isUnwritten() {
        try {
            return localStorage.getItem(this.#writtenKey) === null;
        } catch {
            return false;
        }
    }

    /**
     * @param {string} key
     * @returns {Promise<any>}
     */
    get(key) {
        return this.#run("readonly", (values) => values.get(key));
    }

    /**
     * @param {string} key
     * @param {object} value
     */
    set(key, value) {
        return this.#run("readwrite", (values) => values.put(value, key));
    }

    /** @param {string} key */
    remove(key) {
        return this.#run("readwrite", (values) => values.delete(key));
    }

    /**
     * @param {string} prefix
     * @returns {Promise<string[]>}
     */
    async keys(prefix) {
        return (await this.#run("readonly", (values) => values.getAllKeys(IDBKeyRange.bound(prefix, `${prefix}\uffff`)))) ?? [];
    }

    /**
     * @param {IDBTransactionMode} mode
     * @param {(values: IDBObjectStore) => IDBRequest} work
     * @returns {Promise<any>}
     */
    async #run(mode, work) {
        if (mode === "readwrite" && !this.#hasWritten) {
            this.#hasWritten = true;
            try {
                localStorage.setItem(this.#writtenKey, "1");
            } catch {
                // Without local storage, reads wait for the database.
            }
        }
        // Creating a database takes some time on the disk. The first messages need not wait for that.
        if (mode === "readonly" && (await this.#isNew) && !this.#hasWritten) return undefined;
        const database = await this.#database;
        if (!database) return undefined;
        return new Promise((resolve, reject) => {
            const transaction = database.transaction(VALUES, mode);
            const request = work(transaction.objectStore(VALUES));
            // A write has ended when it is on disk, a read when it has its result.
            transaction.oncomplete = () => resolve(request.result);
            transaction.onerror = transaction.onabort = () => reject(transaction.error);
        });
    }
}

/**
 * Takes over the unsent messages of version 1, which only the server's own page has written, for the server of its origin.
 *
 * @param {IDBTransaction} transaction
 */
function takeUnsent(transaction) {
    const values = transaction.objectStore(VALUES);
    const cursor = transaction.objectStore("outbox").openCursor();
    cursor.onsuccess = () => {
        const entry = cursor.result;
        if (entry) {
            const [user, room, id] = /** @type {string[]} */ (entry.key);
            values.put(entry.value, unsentKey(prefixOf(location.origin, user), room, id));
            entry.continue();
            return;
        }
        for (const name of ["windows", "outbox", "rooms"]) transaction.db.deleteObjectStore(name);
    };
}
