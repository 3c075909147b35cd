/**
 * What the page keeps in the browser (IndexedDB): the window of each room, unsent messages, and the list of rooms.
 *
 * Everything is kept for one user. Where the browser has no database, or it fails, nothing is kept and the page works all
 * the same.
 *
 * @module store
 */

/** Maximum number of messages that are kept of a room: the newest of its window. */
const KEPT_MESSAGES = 500;

const VERSION = 1;

export class Store {
    #user;
    /** @type {Promise<IDBDatabase | null>} */
    #database;

    constructor(user) {
        this.#user = user;
        this.#database = new Promise((resolve) => {
            let request;
            try {
                request = indexedDB.open("backscroll", VERSION);
            } catch {
                return resolve(null);
            }
            request.onupgradeneeded = () => {
                request.result.createObjectStore("windows");
                request.result.createObjectStore("outbox");
                request.result.createObjectStore("rooms");
            };
            request.onsuccess = () => resolve(request.result);
            request.onerror = request.onblocked = () => resolve(null);
        });
    }

    async #run(store, mode, work) {
        const database = await this.#database;
        if (!database) return undefined;
        return new Promise((resolve) => {
            try {
                const transaction = database.transaction(store, mode);
                const request = work(transaction.objectStore(store));
                // A write is over when it is on disk, a read when it has its result.
                transaction.oncomplete = () => resolve(request?.result);
                transaction.onerror = transaction.onabort = () => resolve(undefined);
            } catch {
                resolve(undefined);
            }
        });
    }

    /**
     * The window of a room as it was kept: what the machine's event `restore` takes.
     *
     * @returns {Promise<object | undefined>}
     */
    window(room) {
        return this.#run("windows", "readonly", (store) => store.get([this.#user, room]));
    }

    /** Keeps the window that a view shows. A window has no holes, so what is kept has none. */
    saveWindow(room, view) {
        const stored = view.rows.filter((row) => row.message);
        if (!stored.length || view.epoch === null) return this.forgetWindow(room);
        const messages = stored.slice(-KEPT_MESSAGES).map((row) => row.message);
        const kept = {
            messages, has_before: view.before !== "end" || messages.length < stored.length, has_after: view.after !== "end",
            rev: view.rev, epoch: view.epoch, read: view.read,
        };
        return this.#run("windows", "readwrite", (store) => store.put(kept, [this.#user, room]));
    }

    forgetWindow(room) {
        return this.#run("windows", "readwrite", (store) => store.delete([this.#user, room]));
    }

    /** The sends of a room that are not known to be stored, in the order of sending. */
    async unsent(room) {
        const range = IDBKeyRange.bound([this.#user, room], [this.#user, room, []]);
        const sends = (await this.#run("outbox", "readonly", (store) => store.getAll(range))) ?? [];
        return sends.sort((one, other) => one.order - other.order);
    }

    /** Keeps a send until it is known to be stored. */
    addUnsent(room, draft, at) {
        const send = { draft, at, order: at };
        return this.#run("outbox", "readwrite", (store) => store.put(send, [this.#user, room, draft.client_message_id]));
    }

    removeUnsent(room, id) {
        return this.#run("outbox", "readwrite", (store) => store.delete([this.#user, room, id]));
    }

    /** The list of rooms as it was kept. */
    async rooms() {
        return (await this.#run("rooms", "readonly", (store) => store.get(this.#user))) ?? [];
    }

    saveRooms(rooms) {
        return this.#run("rooms", "readwrite", (store) => store.put(rooms, this.#user));
    }
}
