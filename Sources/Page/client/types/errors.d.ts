/**
 * Returns true if the same request may succeed later. 401 is among these: a token has ended, and the app gets another.
 *
 * @param {number} status The status of the answer; 0 if no answer came.
 */
export function isTemporary(status: number): boolean;
/**
 * Returns anything that was thrown as an error of this package; throws what is a mistake in a program.
 *
 * @param {unknown} error
 * @returns {ClientError}
 */
export function asClientError(error: unknown): ClientError;
/**
 * The error of all calls, with the server's own codes.
 *
 * @module errors
 */
/** The codes that end a user's access to a room. */
export const ENDS_OF_ACCESS: Set<string>;
/** Why a call failed: the server refused it, no answer came, or the client was closed. */
export class ClientError extends Error {
    /**
     * @param {string} code
     * @param {string} message The error as a sentence for people who develop or operate the app.
     * @param {{status?: number, field?: string, limit?: number, retryAfter?: number}} [details]
     */
    constructor(code: string, message: string, details?: {
        status?: number | undefined;
        field?: string | undefined;
        limit?: number | undefined;
        retryAfter?: number | undefined;
    } | undefined);
    /**
     * The stable word for the error: one of the server's (docs/api.md), or `unreachable`, `closed`, `invalid_answer`,
     * `invalid_path`, `invalid_room`, `token_unavailable`, `other_user`, `not_failed`, or `http_STATUS` for an answer of something in
     * between.
     *
     * @type {string}
     */
    code: string;
    /**
     * The HTTP status; 0 if no answer came.
     *
     * @type {number}
     */
    status: number;
    /**
     * The part of the request that is at fault.
     *
     * @type {string | undefined}
     */
    field: string | undefined;
    /**
     * The bound that was exceeded.
     *
     * @type {number | undefined}
     */
    limit: number | undefined;
    /**
     * The seconds after which the server asks to try again.
     *
     * @type {number | undefined}
     */
    retryAfter: number | undefined;
    /** True if the same call may succeed later. */
    get isTemporary(): boolean;
    /** True if the user may no longer read the room. */
    get endsAccess(): boolean;
}
export function closedError(what: string): ClientError;
