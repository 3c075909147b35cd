/**
 * The parts that a client keeps in the app's store: the windows of rooms, unsent messages, which an outbox sends, and the list of rooms.
 *
 * Without a store it keeps them in memory. If the store fails, the client goes on, and tells the app.
 *
 * @module storage
 */

import { after, stop } from "./defaults.js";
import { asClientError } from "./errors.js";
import { pauseAfter } from "./requests.js";

/**
 * @typedef {import("./types.js").Store} Store
 * @typedef {import("./types.js").Message} Message
 *
 * @typedef {{draft: import("./types.js").PostedDraft, at: number, order: number}} Unsent A send that the server is not known to have.
 *   `order` is its place among those of the room. A clock is no order: it can be set back.
 * @typedef {{messages: Message[], has_before: boolean, has_after: boolean, rev: number, epoch: string, read: number | null, unread: number}}
 *   StoredWindow The newest messages of a room, as the machine's event `restore` takes them.
 */

/** Maximum number of messages stored for a room: the newest of its window. */
const KEPT_MESSAGES = 500;

/**
 * A store that ends with the program.
 *
 * @implements {Store}
 */
export class MemoryStore {
    /** @type {Map<string, object>} */
    #values = new Map();

    /**
     * @param {string} key
     * @returns {Promise<any>}
     */
    async get(key) {
        return this.#values.get(key);
    }

    /**
     * @param {string} key
     * @param {object} value
     */
    async set(key, value) {
        this.#values.set(key, value);
    }

    /** @param {string} key */
    async remove(key) {
        this.#values.delete(key);
    }

    /** @param {string} prefix */
    async keys(prefix) {
        return [...this.#values.keys()].filter((key) => key.startsWith(prefix));
    }
}

/**
 * The beginning of the keys of a user.
 *
 * @param {string} url
 * @param {string} user
 */
export const prefixOf = (url, user) => `backscroll/${encodeURIComponent(url)}/${encodeURIComponent(user)}/`;

/**
 * Returns the key of an unsent message.
 *
 * @param {string} prefix That of the user's keys.
 * @param {string} room
 * @param {string} id
 */
export const unsentKey = (prefix, room, id) => `${prefix}unsent/${room}/${encodeURIComponent(id)}`;

/**
 * Removes what is stored of a user, as when the user signs out.
 *
 * @param {Store} store
 * @param {{url: string, user: string}} account The server's URL and the user, as the client has them.
 */
export async function removeStored(store, { url, user }) {
    for (const key of await store.keys(prefixOf(url.replace(/\/+$/, ""), user))) await store.remove(key);
}

/**
 * Returns the newest messages that are shown, oldest first.
 *
 * @param {readonly (readonly import("./types.js").Row[])[]} chunks
 * @param {number} count
 */
function newest(chunks, count) {
    /** @type {Message[]} */
    let messages = [];
    for (let index = chunks.length - 1; index >= 0 && messages.length < count; index--) {
        messages = [...chunks[index].flatMap(({ message }) => message ?? []), ...messages];
    }
    return messages.slice(-count);
}

export class Storage {
    #store;
    #prefix;
    #limit;
    #onFailure;
    /** @type {Error | null} Set if a call has taken too long. Until one ends, none is made: each would be waited for. */
    #overdue = null;
    /** @type {Set<string>} The keys whose wrong values were told. */
    #wrong = new Set();
    /** @type {Promise<unknown>} The latest write. Reads wait for it. */
    #writes = Promise.resolve();
    /** The number of writes that have not ended. */
    #writing = 0;

    /**
     * @param {Store} store
     * @param {string} url
     * @param {string} user
     * @param {number} limit Maximum time for a call of the store, in milliseconds.
     * @param {(error: unknown) => void} onFailure
     */
    constructor(store, url, user, limit, onFailure) {
        this.#store = store;
        this.#prefix = prefixOf(url, user);
        this.#limit = limit;
        this.#onFailure = onFailure;
    }

    /** False while the first read takes longer than a request. */
    get isOpen() {
        return this.#store.isOpen !== false;
    }

    /**
     * @template T
     * @param {(store: Store) => Promise<T>} work
     * @returns {Promise<T | undefined>}
     */
    async #try(work) {
        /** @type {any} */
        let timer;
        try {
            return await new Promise((resolve, reject) => {
                const fail = () => reject((this.#overdue = new Error("The store does not answer.")));
                if (this.#overdue) return fail();
                timer = after(this.#limit, fail);
                (async () => work(this.#store))().then(resolve, reject).finally(() => (this.#overdue = null));
            });
        } catch (error) {
            this.#onFailure(error);
        } finally {
            stop(timer);
        }
    }

    /**
     * @template T
     * @param {(store: Store) => Promise<T>} work
     */
    async #read(work) {
        if (this.#writing > 0) await this.#writes;
        return this.#try(work);
    }

    /**
     * Writes are made one after the other.
     *
     * @param {(store: Store) => Promise<unknown>} work
     * @returns {Promise<unknown>}
     */
    #write(work) {
        this.#writing++;
        this.#writes = this.#writes.then(() => this.#try(work)).then(() => this.#writing--);
        return this.#writes;
    }

    /** Returns when all writes have ended. */
    async flush() {
        await this.#writes;
    }

    /**
     * @param {string} room
     * @returns {Promise<StoredWindow | undefined>}
     */
    window(room) {
        return this.#read((store) => store.get(`${this.#prefix}window/${room}`));
    }

    /**
     * Stores the window of a view. A window has no gaps, so the stored messages have none.
     *
     * @param {string} room
     * @param {import("./types.js").RoomView} view
     */
    saveWindow(room, view) {
        const messages = newest(view.chunks, KEPT_MESSAGES + 1);
        if (!messages.length || view.epoch === null) return this.forgetWindow(room);
        const isCut = messages.length > KEPT_MESSAGES;
        if (isCut) messages.shift();
        const { rev, epoch, read, unread } = view;
        const kept = { messages, has_before: view.before !== "end" || isCut, has_after: view.after !== "end", rev, epoch, read, unread };
        return this.#write((store) => store.set(`${this.#prefix}window/${room}`, kept));
    }

    /**
     * Stores the read mark of a view in the stored window, which otherwise stays.
     *
     * @param {string} room
     * @param {import("./types.js").RoomView} view
     */
    saveRead(room, { epoch, read }) {
        return this.#write(async (store) => {
            const key = `${this.#prefix}window/${room}`;
            /** @type {StoredWindow | undefined} */
            const kept = await store.get(key);
            if (kept?.epoch !== epoch || read === null || (kept.read ?? 0) >= read) return;
            // Messages of the stored window that the mark passes are no longer unread. Others are not known here.
            const passed = kept.messages.filter(({ seq }) => seq > (kept.read ?? 0) && seq <= read).length;
            await store.set(key, { ...kept, read, unread: Math.max(0, (kept.unread ?? 0) - passed) });
        });
    }

    /** @param {string} room */
    forgetWindow(room) {
        return this.#write((store) => store.remove(`${this.#prefix}window/${room}`));
    }

    /**
     * Returns the unsent messages of a room, in the order of sending.
     *
     * @param {string} room
     * @returns {Promise<Unsent[]>}
     */
    async unsent(room) {
        const found = await this.#read(async (store) => {
            const keys = await store.keys(`${this.#prefix}unsent/${room}/`);
            /** @type {Unsent[]} */
            const sends = await Promise.all(keys.map((key) => store.get(key)));
            return sends.filter((send, index) => this.#isUnsent(keys[index], send));
        });
        return (found ?? []).sort((one, other) => one.order - other.order);
    }

    /**
     * True for an unsent message. Anything else that is stored in its place is told once, and counts as nothing.
     *
     * @param {string} key
     * @param {any} value
     */
    #isUnsent(key, value) {
        const id = value?.draft?.client_message_id;
        if (id && typeof id === "string" && Number.isSafeInteger(value.at) && value.order >= 0) return true;
        if (value && !this.#wrong.has(key)) this.#onFailure(new Error(`The store has no message under ${key}.`));
        this.#wrong.add(key);
        return false;
    }

    /**
     * Returns the rooms that have unsent messages.
     *
     * @returns {Promise<string[]>}
     */
    async unsentRooms() {
        const prefix = `${this.#prefix}unsent/`;
        const rooms = await this.#read(async (store) => (await store.keys(prefix)).map((key) => key.slice(prefix.length).split("/")[0]));
        return [...new Set(rooms)];
    }

    /**
     * @param {string} room
     * @param {Unsent} send
     */
    addUnsent(room, send) {
        return this.#write((store) => store.set(unsentKey(this.#prefix, room, send.draft.client_message_id), send));
    }

    /**
     * @param {string} room
     * @param {string} id
     */
    removeUnsent(room, id) {
        return this.#write((store) => store.remove(unsentKey(this.#prefix, room, id)));
    }

    /**
     * Returns the stored list of rooms.
     *
     * @returns {Promise<import("./rooms.js").ListedRoom[]>}
     */
    async rooms() {
        const kept = await this.#read((store) => store.get(`${this.#prefix}rooms`));
        return [kept?.rooms].flat().filter((room) => room?.room);
    }

    /** @param {import("./rooms.js").ListedRoom[]} rooms */
    saveRooms(rooms) {
        return this.#write((store) => store.set(`${this.#prefix}rooms`, { rooms }));
    }
}

/**
 * Sends the messages that the user wrote in rooms that are not open: for example offline, before the room or the app was closed.
 *
 * An open room sends its own messages. To each other room, messages are sent one at a time, in the order of writing. A message
 * that is refused stays in the store, and is shown as failed when its room is opened. Two windows may send the same message at
 * once: the server stores it once, because of its `client_message_id`.
 */
export class Outbox {
    #requests;
    #storage;
    #isOpen;
    #isClosed = false;
    /**
     * The rooms that are being sent to.
     *
     * @type {Set<string>}
     */
    #sending = new Set();
    /**
     * The ids of sends that the server refused.
     *
     * @type {Set<string>}
     */
    #refused = new Set();
    /**
     * Functions that each end a pause.
     *
     * @type {Set<() => void>}
     */
    #pauses = new Set();

    /**
     * @param {import("./requests.js").Requests} requests
     * @param {Storage} storage
     * @param {(room: string) => boolean} isOpen
     */
    constructor(requests, storage, isOpen) {
        this.#requests = requests;
        this.#storage = storage;
        this.#isOpen = isOpen;
    }

    close() {
        this.#isClosed = true;
        this.wake();
    }

    /** Sends the unsent messages of all rooms that are not open. */
    async send() {
        for (const room of await this.#storage.unsentRooms()) {
            if (this.#isClosed || this.#isOpen(room) || this.#sending.has(room)) continue;
            this.#sending.add(room);
            this.#sendIn(room).finally(() => this.#sending.delete(room));
        }
    }

    /** Ends all pauses, because the network has come back. */
    wake() {
        for (const end of [...this.#pauses]) end();
    }

    /** @param {string} room */
    async #sendIn(room) {
        for (let failures = 0; !this.#isClosed && !this.#isOpen(room); ) {
            // Sends that the user has discarded, or another window has sent, are gone by now.
            const unsent = await this.#storage.unsent(room);
            const draft = unsent.map((send) => send.draft).find(({ client_message_id: id }) => !this.#refused.has(id));
            if (!draft) return;
            try {
                await this.#requests.send(room, draft);
                await this.#storage.removeUnsent(room, draft.client_message_id);
                failures = 0;
            } catch (error) {
                const failure = asClientError(error);
                if (failure.code === "closed") return;
                if (!failure.isTemporary) {
                    this.#refused.add(draft.client_message_id);
                    continue;
                }
                failures++;
                await this.#wait(pauseAfter(failures, failure));
            }
        }
    }

    /**
     * @param {number} milliseconds
     * @returns {Promise<void>}
     */
    #wait(milliseconds) {
        return new Promise((resolve) => {
            const end = () => {
                stop(timer);
                this.#pauses.delete(end);
                resolve();
            };
            const timer = after(milliseconds, end);
            this.#pauses.add(end);
        });
    }
}
