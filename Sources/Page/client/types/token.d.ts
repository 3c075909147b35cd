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
/** Who sends the requests: a name in open mode, or the user of the app's tokens. */
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
