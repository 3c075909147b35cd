export class Client {
    /** @param {ClientOptions} options */
    constructor(options: ClientOptions);
    /** The state of the connection, as `connection.view`; `connection.subscribe(listener)` tells its changes. */
    get connection(): Connection;
    /** The users whom the user blocks. It loads nothing until it is opened. */
    get blocks(): Blocks;
    /** The list of the user's rooms. It loads nothing until it is opened. */
    get rooms(): Rooms;
    /**
     * Returns a room. It loads nothing until it is opened. The same object until it is closed or has ended.
     *
     * @param {string} id
     */
    room(id: string): Room;
    /**
     * Returns a room as `room` does, but throws nothing: a room that cannot be opened has its `ending` from the start. For hooks.
     *
     * @param {string} id
     */
    roomOrEnded(id: string): Room;
    /**
     * Returns the user's id: with tokens the `sub` of the first one.
     *
     * @returns {Promise<string>}
     */
    userID(): Promise<string>;
    /**
     * Sends a request to the API, with the client's user and time limit: for what the client has no call for.
     *
     * @param {string} method
     * @param {string} path With its parts encoded, such as `/v1/rooms/lobby/presence`.
     * @param {{query?: import("./requests.js").QueryFields, body?: object, isValid?: (answer: any) => boolean}} [options] With `isValid`, an answer for which
     *   it returns false fails as `invalid_answer`: a proxy may answer anything with success.
     * @returns {Promise<any>} The JSON of the answer; null if there is none.
     */
    request(method: string, path: string, options?: {
        query?: import("./requests.js").QueryFields | undefined;
        body?: object | undefined;
        isValid?: ((answer: any) => boolean) | undefined;
    } | undefined): Promise<any>;
    /** Returns the rooms that have unsent messages. The client sends them, also without opening the rooms. */
    roomsWithUnsentMessages(): Promise<string[]>;
    /** Sends what earlier clients of this user have left unsent, also if no room is opened. */
    sendUnsent(): Promise<void>;
    /** Tells that the app is in front of the user again: checks the socket, or connects at once, and tries what waits. */
    enterForeground(): void;
    /** Tells that the app is no longer in front of the user: nothing is marked as read. The connection stays while the platform lets it. */
    enterBackground(): void;
    /** Tells that the network has come back or has changed: checks the socket, or connects at once, and tries what waits. */
    networkPathChanged(): void;
    /** Tells that the network is gone: the rooms are offline at once, and not when the connection is found dead. */
    networkLost(): void;
    /** Tells that the device's time zone has changed. */
    timeZoneChanged(): void;
    /**
     * Ends the rooms, the list, the connection and all calls. Without a store, messages that the server has not confirmed are given
     * up. Resolves when the store has everything.
     */
    close(): Promise<void>;
    #private;
}
export type CommonOptions = {
    /**
     * The server, such as `https://chat.example.com`.
     */
    url: string;
    /**
     * Keeps messages and the outbox across restarts; by default the client keeps them in
     * memory.
     */
    store?: import("./types.js").Store | undefined;
    /**
     * By default the platform's.
     */
    fetch?: import("./types.js").Fetch | undefined;
    /**
     * The constructor of sockets; by default the platform's. Node 20 has none: pass that of the package `ws`.
     */
    WebSocket?: import("./types.js").WebSocketConstructor | undefined;
    /**
     * Header fields to send with every request.
     */
    headers?: Record<string, string> | undefined;
    /**
     * Maximum time of a request, of a call of the store and of the wait for a token, in milliseconds;
     * by default 30,000.
     */
    requestTimeout?: number | undefined;
    /**
     * Number of messages of a page, 1 to 200; by default 30.
     */
    pageLimit?: number | undefined;
    /**
     * Maximum number of messages that a room keeps, four pages or more; by default 2,000. What is far
     * from the reader is loaded again when it is needed.
     */
    windowLimit?: number | undefined;
    /**
     * Called when the store fails. The client goes on without what it lacks.
     */
    onStoreFailure?: ((error: unknown) => void) | undefined;
};
/**
 * A user of a server in open mode.
 */
export type NamedOptions = CommonOptions & {
    user: string;
    token?: undefined;
};
/**
 * A user of a server with keys.
 *  The function is called before the first request, before a token expires, and after the server has refused one.
 */
export type TokenOptions = CommonOptions & {
    token: () => string | Promise<string>;
    user?: undefined;
};
export type ClientOptions = NamedOptions | TokenOptions;
import { Connection } from "./connection.js";
import { Blocks } from "./rooms.js";
import { Rooms } from "./rooms.js";
import { Room } from "./room.js";
