/**
 * Returns the pause after failures in a row, in milliseconds: the one that the server asks for, or else exponential back-off, of
 * which one half is random.
 *
 * @param {number} failures
 * @param {{retryAfter?: number}} error The last of them.
 */
export function pauseAfter(failures: number, { retryAfter }?: {
    retryAfter?: number;
}): number;
/**
 * Returns a part of a path, encoded. One that is missing would name something else: `undefined` is also the id of a room, and the
 * platform removes dots.
 *
 * @param {unknown} value
 * @param {string} [name]
 */
export function pathPart(value: unknown, name?: string | undefined): string;
/**
 * Returns the error of an answer without success. Only Backscroll's own has a code in its JSON; others come from something in between.
 *
 * @param {{status: number, statusText?: string, headers: {get(name: string): string | null}}} response
 * @param {any} json The JSON of the answer.
 */
export function answerError({ status, statusText, headers }: {
    status: number;
    statusText?: string | undefined;
    headers: {
        get(name: string): string | null;
    };
}, json: any): ClientError;
/**
 * Returns the user and the expiry of a JSON Web Token, without verifying the token, which is the server's task. Null if the text is
 * no token.
 *
 * @param {unknown} token
 * @returns {{user: string, expiry: number | null} | null} The expiry in milliseconds since 1970.
 */
export function claimsOf(token: unknown): {
    user: string;
    expiry: number | null;
} | null;
/** Maximum pause between two attempts that the server did not ask for, and the longest for which a change waits. */
export const LONGEST_PAUSE: 30000;
export function listOf(name: string, query: QueryFields): RequestOptions;
export function has(name: string): (answer: any) => boolean;
export function isMessage(answer: any): boolean;
export class Requests {
    /**
     * @param {object} settings
     * @param {string} settings.url The server, without a slash at the end.
     * @param {Identity} settings.identity
     * @param {import("./types.js").Fetch} settings.fetch
     * @param {Record<string, string>} settings.headers
     * @param {number} settings.limit Maximum time for an answer, in milliseconds.
     * @param {(error: ClientError | null) => void} settings.onAnswer Called with null after an answer, and with each 401.
     */
    constructor({ url, identity, fetch, headers, limit, onAnswer }: {
        url: string;
        identity: Identity;
        fetch: import("./types.js").Fetch;
        headers: Record<string, string>;
        limit: number;
        onAnswer: (error: ClientError | null) => void;
    });
    /** Ends the requests under way, except those that outlive the page. */
    close(): void;
    /**
     * Sends a request. Without an answer in time it fails, as if the server could not be reached. A refused token is replaced once.
     *
     * @param {string} method
     * @param {string} target
     * @param {RequestOptions} [options]
     * @returns {Promise<any>} The answer's JSON; null if it has none.
     * @throws {ClientError}
     */
    request(method: string, target: string, options?: RequestOptions | undefined): Promise<any>;
    /**
     * Ends the connections that no longer work, because one has been found dead. Otherwise the platform would use each of them for
     * one more request, which would get no answer. Requests that have waited for a while fail now.
     */
    renewConnections(): Promise<void>;
    /**
     * @param {string} room
     * @param {import("./types.js").Query | {limit: number}} query
     * @returns {Promise<import("./types.js").Page>}
     */
    page(room: string, query: import("./types.js").Query | {
        limit: number;
    }): Promise<import("./types.js").Page>;
    /**
     * @param {string} room
     * @param {number} seq
     * @returns {Promise<Message>}
     */
    message(room: string, seq: number): Promise<Message>;
    /**
     * @param {string} room
     * @param {import("./types.js").PostedDraft} draft
     * @returns {Promise<Message>}
     */
    send(room: string, draft: import("./types.js").PostedDraft): Promise<Message>;
    /**
     * @param {string} room
     * @param {number} seq
     * @param {import("./types.js").Changes} changes
     * @param {number} [rev]
     */
    edit(room: string, seq: number, changes: import("./types.js").Changes, rev?: number | undefined): Promise<import("./timeline-events.js").Message>;
    /**
     * @param {string} room
     * @param {number} seq
     */
    remove(room: string, seq: number): Promise<import("./timeline-events.js").Message>;
    /**
     * @param {string} room
     * @param {number} seq
     * @param {string} key
     * @param {boolean} isOn
     */
    react(room: string, seq: number, key: string, isOn: boolean): Promise<import("./timeline-events.js").Message>;
    /**
     * @param {string} room
     * @param {number} seq
     * @param {string} key
     * @param {string} [after]
     * @returns {Promise<{users: string[], has_more: boolean}>}
     */
    reactors(room: string, seq: number, key: string, after?: string | undefined): Promise<{
        users: string[];
        has_more: boolean;
    }>;
    /**
     * @param {string} room
     * @param {number} seq
     * @param {{reason: import("./types.js").ReportReason, note?: string}} report
     * @returns {Promise<null>}
     */
    report(room: string, seq: number, report: {
        reason: import("./types.js").ReportReason;
        note?: string;
    }): Promise<null>;
    /**
     * @param {string} [after]
     * @returns {Promise<{blocks: {user: string}[], has_more: boolean}>}
     */
    blocks(after?: string | undefined): Promise<{
        blocks: {
            user: string;
        }[];
        has_more: boolean;
    }>;
    /**
     * @param {string} user
     * @param {boolean} isBlocked
     * @returns {Promise<null>}
     */
    setBlock(user: string, isBlocked: boolean): Promise<null>;
    /**
     * @param {string} user
     * @returns {Promise<RoomSummary>}
     */
    direct(user: string): Promise<RoomSummary>;
    /**
     * @param {string} room
     * @param {QueryFields} query
     * @returns {Promise<{reads: import("./types.js").ReadMark[], has_more: boolean}>}
     */
    reads(room: string, query: QueryFields): Promise<{
        reads: import("./types.js").ReadMark[];
        has_more: boolean;
    }>;
    /**
     * @param {string} room
     * @param {number} seq
     * @returns {Promise<RoomSummary>}
     */
    markRead(room: string, seq: number): Promise<RoomSummary>;
    /**
     * @param {string} room
     * @returns {Promise<RoomSummary>}
     */
    room(room: string): Promise<RoomSummary>;
    /**
     * @param {string} room
     * @param {import("./types.js").RoomSettings} settings
     * @returns {Promise<RoomSummary>}
     */
    setRoom(room: string, settings: import("./types.js").RoomSettings): Promise<RoomSummary>;
    /**
     * @param {string} room
     * @returns {Promise<null>}
     */
    deleteRoom(room: string): Promise<null>;
    /**
     * @param {number} limit
     * @param {string} [cursor]
     * @returns {Promise<{rooms: RoomSummary[], has_more: boolean, cursor?: string}>}
     */
    rooms(limit: number, cursor?: string | undefined): Promise<{
        rooms: RoomSummary[];
        has_more: boolean;
        cursor?: string;
    }>;
    /**
     * @param {string} room
     * @param {QueryFields} query
     * @returns {Promise<{members: import("./types.js").Member[], has_more: boolean}>}
     */
    members(room: string, query: QueryFields): Promise<{
        members: import("./types.js").Member[];
        has_more: boolean;
    }>;
    /**
     * @param {string} room
     * @param {string} user
     * @param {import("./types.js").Role} role
     * @returns {Promise<import("./types.js").Member>}
     */
    setMember(room: string, user: string, role: import("./types.js").Role): Promise<import("./types.js").Member>;
    /**
     * @param {string} room
     * @param {string} user
     * @returns {Promise<null>}
     */
    removeMember(room: string, user: string): Promise<null>;
    #private;
}
/** The sender of the requests: a name in open mode, or the user of the app's tokens. */
export class Identity {
    /**
     * @param {string | undefined} name
     * @param {(() => string | Promise<string>) | undefined} makeToken
     * @param {number} limit Maximum time for the app's function, in milliseconds.
     */
    constructor(name: string | undefined, makeToken: (() => string | Promise<string>) | undefined, limit: number);
    /** True if the user has tokens, so that a refused one may be replaced. */
    get hasTokens(): boolean;
    /**
     * The user, if it is known.
     *
     * @returns {string | null}
     */
    get knownUser(): string | null;
    /**
     * Returns the user: the name, or the `sub` of the first token.
     *
     * @returns {Promise<string>}
     */
    user(): Promise<string>;
    /** The time at which the present token expires, in milliseconds since 1970; null if it does not, or there is none. */
    get expiry(): number | null;
    /**
     * Returns a token that has not expired by this device's clock; null in open mode.
     *
     * @returns {Promise<string | null>}
     */
    token(): Promise<string | null>;
    /**
     * Makes the next request ask for another token, unless one has come.
     *
     * @param {string} text
     */
    forget(text: string): void;
    /**
     * Asks the app for a token. Calls at the same time share one.
     *
     * @returns {Promise<string>}
     * @throws {ClientError}
     */
    renew(): Promise<string>;
    #private;
}
export type Message = import("./types.js").Message;
export type RoomSummary = import("./types.js").RoomSummary;
/**
 * The parameters of a request; those that are undefined are left out.
 */
export type QueryFields = Record<string, string | number | undefined>;
export type RequestOptions = {
    query?: QueryFields | undefined;
    body?: object | undefined;
    headers?: Record<string, string> | undefined;
    /**
     * True for a request that outlives the page.
     */
    keepalive?: boolean | undefined;
    /**
     * Returns true if the answer's JSON has the form of the server's answers. Another one fails
     * as `invalid_answer`: a proxy or a captive portal may answer anything with success.
     */
    isValid?: ((answer: any) => boolean) | undefined;
};
import { ClientError } from "./errors.js";
