/**
 * The error of all calls, with the server's own codes.
 *
 * @module errors
 */

/** The codes that end a user's access to a room. */
export const ENDS_OF_ACCESS = new Set(["not_a_member", "room_not_found", "room_not_allowed", "banned", "room_deleted"]);

/**
 * Returns true if the same request may succeed later. 401 is among these: a token has ended, and the app gets another.
 *
 * @param {number} status The status of the answer; 0 if no answer came.
 */
export function isTemporary(status) {
    return status === 0 || status === 401 || status === 408 || status === 429 || (status >= 500 && status <= 599);
}

/** Why a call failed: the server refused it, no answer came, or the client was closed. */
export class ClientError extends Error {
    /**
     * The stable word for the error: one of the server's (docs/api.md), or `unreachable`, `closed`, `invalid_answer`,
     * `invalid_path`, `invalid_room`, `token_unavailable`, `other_user`, `not_failed`, or `http_STATUS` for an answer of something in
     * between.
     *
     * @type {string}
     */
    code;
    /**
     * The HTTP status; 0 if no answer came.
     *
     * @type {number}
     */
    status;
    /**
     * The part of the request that is at fault.
     *
     * @type {string | undefined}
     */
    field;
    /**
     * The bound that was exceeded.
     *
     * @type {number | undefined}
     */
    limit;
    /**
     * The seconds after which the server asks to try again.
     *
     * @type {number | undefined}
     */
    retryAfter;

    /**
     * @param {string} code
     * @param {string} message The error as a sentence for people who develop or operate the app.
     * @param {{status?: number, field?: string, limit?: number, retryAfter?: number}} [details]
     */
    constructor(code, message, details = {}) {
        super(message);
        const { status = 0, field, limit, retryAfter } = details;
        this.name = "ClientError";
        this.code = code;
        this.status = status;
        this.field = field;
        this.limit = limit;
        this.retryAfter = retryAfter;
    }

    /** True if the same call may succeed later. */
    get isTemporary() {
        return this.code !== "closed" && isTemporary(this.status);
    }

    /** True if the user may no longer read the room. */
    get endsAccess() {
        return ENDS_OF_ACCESS.has(this.code);
    }
}

/** @param {string} what */
export const closedError = (what) => new ClientError("closed", `The ${what} was closed.`);

/**
 * Returns anything that was thrown as an error of this package; throws what is a mistake in a program.
 *
 * @param {unknown} error
 * @returns {ClientError}
 */
export function asClientError(error) {
    if (error instanceof ClientError) return error;
    throw error;
}
