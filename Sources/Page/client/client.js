/**
 * A client of one user: requests, one socket for all rooms, the list of rooms, and a store.
 *
 * @module client
 */

import { Connection } from "./connection.js";
import { fetch as platformFetch, webSocket } from "./defaults.js";
import { ClientError, closedError } from "./errors.js";
import { Identity, Requests } from "./requests.js";
import { Room } from "./room.js";
import { Blocks, Rooms } from "./rooms.js";
import { MemoryStore, Outbox, Storage } from "./storage.js";

/**
 * @typedef {object} CommonOptions
 * @property {string} url The server, such as `https://chat.example.com`.
 * @property {import("./types.js").Store} [store] Keeps messages and the outbox across restarts; by default the client keeps them in
 *   memory.
 * @property {import("./types.js").Fetch} [fetch] By default the platform's.
 * @property {import("./types.js").WebSocketConstructor} [WebSocket] The constructor of sockets; by default the platform's. Node 20 has none: pass that of the package `ws`.
 * @property {Record<string, string>} [headers] Header fields to send with every request.
 * @property {number} [requestTimeout] Maximum time of a request, of a call of the store and of the wait for a token, in milliseconds;
 *   by default 30,000.
 * @property {number} [pageLimit] Number of messages of a page, 1 to 200; by default 30.
 * @property {number} [windowLimit] Maximum number of messages that a room keeps, four pages or more; by default 2,000. What is far
 *   from the reader is loaded again when it is needed.
 * @property {(error: unknown) => void} [onStoreFailure] Called when the store fails. The client goes on without what it lacks.
 *
 * @typedef {CommonOptions & {user: string, token?: undefined}} NamedOptions A user of a server in open mode.
 * @typedef {CommonOptions & {token: () => string | Promise<string>, user?: undefined}} TokenOptions A user of a server with keys.
 *   The function is called before the first request, before a token expires, and after the server has refused one.
 * @typedef {NamedOptions | TokenOptions} ClientOptions
 */

const REQUEST_MILLISECONDS = 30000;
const PAGE_LIMIT = 30;
const WINDOW_LIMIT = 2000;
const URL_FORM = /^https?:\/\/[^/?#\s]+(\/[^?#\s]*)?$/;
const ROOM_ID = /^([A-Za-z0-9][A-Za-z0-9._~-]{0,127}|@[A-Za-z0-9_-]{22})$/;

export class Client {
    #url;
    #identity;
    /** @type {Requests} */
    #requests;
    /** @type {Connection} */
    #connection;
    #store;
    #onStoreFailure;
    #requestTimeout;
    /** @type {Storage | null} */
    #storage = null;
    /** @type {Outbox | null} */
    #outbox = null;
    /** @type {Map<string, Room>} */
    #rooms = new Map();
    /** @type {Rooms | null} */
    #list = null;
    /** @type {Blocks} */
    #blocks;
    #isClosed = false;
    /** @type {import("./room.js").RoomHost} */
    #host;

    /** @param {ClientOptions} options */
    constructor(options) {
        const {
            url, user, token, store = new MemoryStore(), fetch = platformFetch, WebSocket = webSocket(), headers = {},
            requestTimeout = REQUEST_MILLISECONDS, pageLimit = PAGE_LIMIT, windowLimit = WINDOW_LIMIT, onStoreFailure = () => {},
        } = options ?? {};
        if (typeof url !== "string" || !URL_FORM.test(url)) throw new TypeError("`url` must be that of a server, such as https://chat.example.com.");
        if ((user === undefined) === (token === undefined)) throw new TypeError("Either `user`, a name, or `token`, a function, is required.");
        if (token !== undefined && typeof token !== "function") throw new TypeError("`token` must be a function that returns a token.");
        if (typeof WebSocket !== "function") throw new TypeError("This platform needs a `WebSocket`, such as that of the package `ws`.");
        this.#url = url.replace(/\/+$/, "");
        this.#store = store;
        this.#onStoreFailure = onStoreFailure;
        this.#requestTimeout = requestTimeout;
        const identity = (this.#identity = new Identity(user, token, requestTimeout));
        /** @type {Requests} */
        const requests = (this.#requests = new Requests({
            url: this.#url, identity, fetch, headers, limit: requestTimeout, onAnswer: (error) => this.#connection.noteAnswer(error),
        }));
        this.#blocks = new Blocks(requests);
        // Unread mentions by users who were blocked no longer count, and those by others count again.
        this.#blocks.subscribe(() => {
            for (const { room, unread } of this.#list?.view.rooms ?? []) if (unread) this.#list?.refresh(room);
        });
        this.#connection = new Connection({
            identity,
            blocked: (user, isBlocked) => this.#blocks.note(user, isBlocked),
            open: (text) => {
                const query = text === null && user ? `?user=${encodeURIComponent(user)}` : "";
                // With this subprotocol the server gives the reason if it refuses the socket.
                const protocols = text === null ? ["backscroll.v1"] : ["backscroll.v1", `bearer.${text}`];
                return new WebSocket(`${this.#url.replace(/^http/, "ws")}/v1/live${query}`, protocols);
            },
            silent: () => requests.renewConnections(),
            reached: () => {
                this.#outbox?.wake();
                this.#sendUnsent();
                this.#blocks.renew();
            },
        });
        this.#host = {
            requests, identity, connection: this.#connection, limits: { pageLimit, windowLimit: Math.max(windowLimit, 4 * pageLimit) },
            storage: (me) => this.#storageOf(me),
            closed: (room) => {
                if (this.#rooms.get(room.id) === room) this.#rooms.delete(room.id);
                this.#sendUnsent();
                // The user may have joined it on another device. No frame tells that while its screen has the subscription.
                if (!this.#isClosed && !this.#list?.get(room.id)) this.#list?.refresh(room.id);
            },
            noteRoom: (summary) => this.#list?.note(summary),
            noteUnread: (room, unread) => this.#list?.noteUnread(room, unread),
            blocks: this.#blocks,
        };
    }

    /** The state of the connection, as `connection.view`; `connection.subscribe(listener)` tells its changes. */
    get connection() {
        return this.#connection;
    }

    /** The users whom the user blocks. It loads nothing until it is opened. */
    get blocks() {
        return this.#blocks;
    }

    /** The list of the user's rooms. It loads nothing until it is opened. */
    get rooms() {
        if (this.#list === null || (this.#list.view.ending !== null && !this.#isClosed)) this.#list = new Rooms(this.#host);
        return this.#list;
    }

    /**
     * Returns a room. It loads nothing until it is opened. The same object until it is closed or has ended.
     *
     * @param {string} id
     */
    room(id) {
        const refusal = this.#refusal(id);
        if (refusal) throw refusal;
        const room = this.#rooms.get(id) ?? new Room(this.#host, id);
        this.#rooms.set(id, room);
        return room;
    }

    /**
     * Returns a room as `room` does, but throws nothing: a room that cannot be opened has its `ending` from the start. For hooks.
     *
     * @param {string} id
     */
    roomOrEnded(id) {
        const refusal = this.#refusal(id);
        return refusal ? new Room(this.#host, id, refusal) : this.room(id);
    }

    /** @param {unknown} id */
    #refusal(id) {
        if (this.#isClosed) return closedError("client");
        if (typeof id === "string" && ROOM_ID.test(id)) return null;
        return new ClientError("invalid_room", "A room's id has up to 128 letters, digits and . _ ~ -, and begins with a letter or digit.", { status: 400, field: "room" });
    }

    /**
     * Returns the user's id: with tokens the `sub` of the first one.
     *
     * @returns {Promise<string>}
     */
    userID() {
        return this.#identity.user();
    }

    /**
     * Sends a request to the API, with the client's user and time limit: for what the client has no call for.
     *
     * @param {string} method
     * @param {string} path With its parts encoded, such as `/v1/rooms/lobby/presence`.
     * @param {{query?: import("./requests.js").QueryFields, body?: object, isValid?: (answer: any) => boolean}} [options] With `isValid`, an answer for which
     *   it returns false fails as `invalid_answer`: a proxy may answer anything with success.
     * @returns {Promise<any>} The JSON of the answer; null if there is none.
     */
    request(method, path, options) {
        return this.#requests.request(method, path, options);
    }

    /** Returns the rooms that have unsent messages. The client sends them, also without opening the rooms. */
    async roomsWithUnsentMessages() {
        return this.#storageOf(await this.userID()).unsentRooms();
    }

    /** Sends what earlier clients of this user have left unsent, also if no room is opened. */
    async sendUnsent() {
        this.#storageOf(await this.userID());
        this.#sendUnsent();
    }

    /** Tells that the app is in front of the user again: checks the socket, or connects at once, and tries what waits. */
    enterForeground() {
        this.#connection.setBackground(false);
        for (const room of this.#rooms.values()) room.setBackground(false);
        this.timeZoneChanged();
        this.networkPathChanged();
    }

    /** Tells that the app is no longer in front of the user: nothing is marked as read. The connection stays while the platform lets it. */
    enterBackground() {
        this.#connection.setBackground(true);
        for (const room of this.#rooms.values()) room.setBackground(true);
    }

    /** Tells that the network has come back or has changed: checks the socket, or connects at once, and tries what waits. */
    networkPathChanged() {
        this.#connection.wake();
        for (const room of this.#rooms.values()) room.wake();
        this.#outbox?.wake();
    }

    /** Tells that the network is gone: the rooms are offline at once, and not when the connection is found dead. */
    networkLost() {
        this.#connection.lose();
    }

    /** Tells that the device's time zone has changed. */
    timeZoneChanged() {
        for (const room of this.#rooms.values()) room.timeZoneChanged();
    }

    /**
     * Ends the rooms, the list, the connection and all calls. Without a store, messages that the server has not confirmed are given
     * up. Resolves when the store has everything.
     */
    async close() {
        if (this.#isClosed) return;
        for (const room of [...this.#rooms.values()]) room.close();
        this.#list?.close();
        this.#isClosed = true;
        this.#outbox?.close();
        this.#connection.close();
        this.#requests.close();
        await this.#storage?.flush();
    }

    /** @param {string} user */
    #storageOf(user) {
        if (this.#storage === null) {
            this.#storage = new Storage(this.#store, this.#url, user, this.#requestTimeout, this.#onStoreFailure);
            this.#outbox = new Outbox(this.#requests, this.#storage, (room) => this.#rooms.get(room)?.isOpen ?? false);
        }
        return this.#storage;
    }

    #sendUnsent() {
        if (!this.#isClosed) this.#outbox?.send();
    }
}
