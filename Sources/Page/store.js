/**
 * The data that the page stores in the browser (IndexedDB): the window of each room, unsent messages, and the list of rooms.
 *
 * All data belongs to one user. If the browser has no database, or the database fails, nothing is stored and the page works all
 * the same.
 *
 * @module store
 */

/** Maximum number of messages stored for a room: the newest of its window. */
const KEPT_MESSAGES = 500;

const VERSION = 1;
/** The key in the local storage that is set before the first write to the database. It is read faster than the database. */
const WRITTEN_KEY = "backscroll.written";

/** True if nothing was ever written to the database. */
function isUnwritten() {
    try {
        return localStorage.getItem(WRITTEN_KEY) === null;
    } catch {
        return false;
    }
}

/** Texts that survive a reload of this window. If the browser blocks site data, they last until then. */
class Session {
    /** @type {Map<string, string | null>} What this page has stored. */
    #values = new Map();

    get(key) {
        if (this.#values.has(key)) return this.#values.get(key);
        try {
            // If site data is blocked, even naming the storage fails.
            return sessionStorage.getItem(key);
        } catch {
            return null;
        }
    }

    /** Stores a text; null removes it. */
    set(key, text) {
        this.#values.set(key, text);
        try {
            if (text === null) sessionStorage.removeItem(key);
            else sessionStorage.setItem(key, text);
        } catch {
            // The value lasts until the page is closed.
        }
    }
}

export const session = new Session();

function noteWritten() {
    try {
        localStorage.setItem(WRITTEN_KEY, "1");
    } catch {
        // Without local storage, reads wait for the database.
    }
}

/** Returns the newest messages that are shown, oldest first. */
function newest(chunks, count) {
    let messages = [];
    for (let index = chunks.length - 1; index >= 0 && messages.length < count; index--) {
        messages = chunks[index].filter((row) => row.message).map((row) => row.message).concat(messages);
    }
    return messages.slice(-count);
}

export class Store {
    #user;
    /** @type {Promise<IDBDatabase | null>} */
    #database;
    /** @type {Promise<boolean>} Resolves as soon as it is known if the database is being created; then there is nothing to read. */
    #isNew;
    #hasWritten = false;
    /** True once the database is open, or is known not to open. */
    isOpen = false;

    constructor(user) {
        this.#user = user;
        /** @type {(isNew: boolean) => void} */
        let tellIfNew;
        this.#isNew = new Promise((resolve) => (tellIfNew = resolve));
        if (isUnwritten()) tellIfNew(true);
        this.#database = new Promise((resolve) => {
            let request;
            try {
                request = indexedDB.open("backscroll", VERSION);
            } catch {
                return resolve(null);
            }
            request.onupgradeneeded = ({ oldVersion }) => {
                tellIfNew(oldVersion === 0);
                request.result.createObjectStore("windows");
                request.result.createObjectStore("outbox");
                request.result.createObjectStore("rooms");
            };
            request.onsuccess = () => resolve(request.result);
            request.onerror = request.onblocked = () => resolve(null);
        });
        // Once the database is open, another window may have written to it.
        this.#database.then(() => {
            this.isOpen = true;
            tellIfNew(false);
            this.#isNew = Promise.resolve(false);
        });
    }

    async #run(store, mode, work) {
        if (mode === "readwrite" && !this.#hasWritten) {
            this.#hasWritten = true;
            noteWritten();
        }
        // Creating a database takes some time on the disk. The first messages need not wait for that.
        if (mode === "readonly" && (await this.#isNew) && !this.#hasWritten) return undefined;
        const database = await this.#database;
        if (!database) return undefined;
        return new Promise((resolve) => {
            try {
                const transaction = database.transaction(store, mode);
                const request = work(transaction.objectStore(store));
                // A write has ended when it is on disk, a read when it has its result.
                transaction.oncomplete = () => resolve(request?.result);
                transaction.onerror = transaction.onabort = () => resolve(undefined);
            } catch {
                resolve(undefined);
            }
        });
    }

    /**
     * Returns the stored window of a room, as the machine's event `restore` takes it.
     *
     * @returns {Promise<object | undefined>}
     */
    window(room) {
        return this.#run("windows", "readonly", (store) => store.get([this.#user, room]));
    }

    /** Stores the window of a view. A window has no gaps, so the stored messages have none. */
    saveWindow(room, view) {
        const messages = newest(view.chunks, KEPT_MESSAGES + 1);
        if (!messages.length || view.epoch === null) return this.forgetWindow(room);
        const isCut = messages.length > KEPT_MESSAGES;
        if (isCut) messages.shift();
        const kept = {
            messages, has_before: view.before !== "end" || isCut, has_after: view.after !== "end",
            rev: view.rev, epoch: view.epoch, read: view.read, unread: view.unread,
        };
        return this.#run("windows", "readwrite", (store) => store.put(kept, [this.#user, room]));
    }

    /** Stores the read mark of a view in the stored window, which otherwise stays. */
    saveRead(room, { epoch, read }) {
        const key = [this.#user, room];
        return this.#run("windows", "readwrite", (store) => {
            const request = store.get(key);
            request.onsuccess = () => {
                const kept = request.result;
                if (kept?.epoch !== epoch || kept.read >= read) return;
                // Messages of the stored window that the mark passes are no longer unread. Others are not known here.
                const passed = kept.messages.filter(({ seq }) => seq > kept.read && seq <= read).length;
                store.put({ ...kept, read, unread: Math.max(0, (kept.unread ?? 0) - passed) }, key);
            };
            return request;
        });
    }

    forgetWindow(room) {
        return this.#run("windows", "readwrite", (store) => store.delete([this.#user, room]));
    }

    /** Returns the sends of a room that are not known to be stored by the server, in the order of sending. */
    async unsent(room) {
        const range = IDBKeyRange.bound([this.#user, room], [this.#user, room, []]);
        const sends = (await this.#run("outbox", "readonly", (store) => store.getAll(range))) ?? [];
        return sends.sort((one, other) => one.order - other.order);
    }

    /** Returns the rooms that have such sends. */
    async unsentRooms() {
        const range = IDBKeyRange.bound([this.#user], [this.#user, []]);
        const keys = (await this.#run("outbox", "readonly", (store) => store.getAllKeys(range))) ?? [];
        return new Set(keys.map(([, room]) => room));
    }

    /**
     * Stores a send until the server is known to have it.
     *
     * @param {string} room
     * @param {{draft: any, at: number, order: number}} send `order` is its place among the unsent messages of the room. A clock is
     *   no order: it can be set back.
     */
    addUnsent(room, { draft, at, order }) {
        const send = { draft, at, order };
        return this.#run("outbox", "readwrite", (store) => store.put(send, [this.#user, room, draft.client_message_id]));
    }

    removeUnsent(room, id) {
        return this.#run("outbox", "readwrite", (store) => store.delete([this.#user, room, id]));
    }

    /** Returns the stored list of rooms, with those that the user has visited without being a member. */
    async rooms() {
        return (await this.#run("rooms", "readonly", (store) => store.get(this.#user))) ?? [];
    }

    saveRooms(rooms) {
        return this.#run("rooms", "readwrite", (store) => store.put(rooms, this.#user));
    }
}
