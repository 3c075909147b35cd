/**
 * Removes what is stored of a user, as when the user signs out.
 *
 * @param {Store} store
 * @param {{url: string, user: string}} account The server's URL and the user, as the client has them.
 */
export function removeStored(store: Store, { url, user }: {
    url: string;
    user: string;
}): Promise<void>;
/**
 * A store that ends with the program.
 *
 * @implements {Store}
 */
export class MemoryStore implements Store {
    /**
     * @param {string} key
     * @returns {Promise<any>}
     */
    get(key: string): Promise<any>;
    /**
     * @param {string} key
     * @param {object} value
     */
    set(key: string, value: object): Promise<void>;
    /** @param {string} key */
    remove(key: string): Promise<void>;
    /** @param {string} prefix */
    keys(prefix: string): Promise<string[]>;
    #private;
}
export function prefixOf(url: string, user: string): string;
export function unsentKey(prefix: string, room: string, id: string): string;
export class Storage {
    /**
     * @param {Store} store
     * @param {string} url
     * @param {string} user
     * @param {number} limit Maximum time for a call of the store, in milliseconds.
     * @param {(error: unknown) => void} onFailure
     */
    constructor(store: Store, url: string, user: string, limit: number, onFailure: (error: unknown) => void);
    /** False while the first read takes longer than a request. */
    get isOpen(): boolean;
    /** Returns when all writes have ended. */
    flush(): Promise<void>;
    /**
     * @param {string} room
     * @returns {Promise<StoredWindow | undefined>}
     */
    window(room: string): Promise<StoredWindow | undefined>;
    /**
     * Stores the window of a view. A window has no gaps, so the stored messages have none.
     *
     * @param {string} room
     * @param {import("./types.js").RoomView} view
     */
    saveWindow(room: string, view: Readonly<import("./types.js").RoomViewFields>): Promise<unknown>;
    /**
     * Stores the read mark of a view in the stored window, which otherwise stays.
     *
     * @param {string} room
     * @param {import("./types.js").RoomView} view
     */
    saveRead(room: string, { epoch, read }: Readonly<import("./types.js").RoomViewFields>): Promise<unknown>;
    /** @param {string} room */
    forgetWindow(room: string): Promise<unknown>;
    /**
     * Returns the unsent messages of a room, in the order of sending.
     *
     * @param {string} room
     * @returns {Promise<Unsent[]>}
     */
    unsent(room: string): Promise<Unsent[]>;
    /**
     * Returns the rooms that have unsent messages.
     *
     * @returns {Promise<string[]>}
     */
    unsentRooms(): Promise<string[]>;
    /**
     * @param {string} room
     * @param {Unsent} send
     */
    addUnsent(room: string, send: Unsent): Promise<unknown>;
    /**
     * @param {string} room
     * @param {string} id
     */
    removeUnsent(room: string, id: string): Promise<unknown>;
    /**
     * Returns the stored list of rooms.
     *
     * @returns {Promise<import("./rooms.js").ListedRoom[]>}
     */
    rooms(): Promise<import("./rooms.js").ListedRoom[]>;
    /** @param {import("./rooms.js").ListedRoom[]} rooms */
    saveRooms(rooms: import("./rooms.js").ListedRoom[]): Promise<unknown>;
    #private;
}
/**
 * Sends the messages that the user wrote in rooms that are not open: for example offline, before the room or the app was closed.
 *
 * An open room sends its own messages. To each other room, messages are sent one at a time, in the order of writing. A message
 * that is refused stays in the store, and is shown as failed when its room is opened. Two windows may send the same message at
 * once: the server stores it once, because of its `client_message_id`.
 */
export class Outbox {
    /**
     * @param {import("./requests.js").Requests} requests
     * @param {Storage} storage
     * @param {(room: string) => boolean} isOpen
     */
    constructor(requests: import("./requests.js").Requests, storage: Storage, isOpen: (room: string) => boolean);
    close(): void;
    /** Sends the unsent messages of all rooms that are not open. */
    send(): Promise<void>;
    /** Ends all pauses, because the network has come back. */
    wake(): void;
    #private;
}
export type Store = import("./types.js").Store;
export type Message = import("./types.js").Message;
/**
 * A send that the server is not known to have.
 * `order` is its place among those of the room. A clock is no order: it can be set back.
 */
export type Unsent = {
    draft: import("./types.js").PostedDraft;
    at: number;
    order: number;
};
/**
 * The newest messages of a room, as the machine's event `restore` takes them.
 */
export type StoredWindow = {
    messages: Message[];
    has_before: boolean;
    has_after: boolean;
    rev: number;
    epoch: string;
    read: number | null;
    unread: number;
};
