/**
 * The user's name or token.
 *
 * @module token
 */

import { after, stop } from "./defaults.js";
import { ClientError } from "./errors.js";

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/**
 * Decodes base64url of UTF-8. Not every platform has a function for it.
 *
 * @param {string} text
 */
function decode(text) {
    let [bits, count, bytes] = [0, 0, ""];
    for (const character of text.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_")) {
        const value = BASE64.indexOf(character);
        if (value < 0) throw new Error("no base64");
        [bits, count] = [((bits << 6) | value) & 0xffff, count + 6];
        if (count < 8) continue;
        count -= 8;
        bytes += `%${((bits >> count) & 0xff).toString(16).padStart(2, "0")}`;
    }
    return decodeURIComponent(bytes);
}

/**
 * Returns the user and the expiry of a JSON Web Token, without verifying the token, which is the server's task. Null if the text is
 * no token.
 *
 * @param {unknown} token
 * @returns {{user: string, expiry: number | null} | null} The expiry in milliseconds since 1970.
 */
export function claimsOf(token) {
    try {
        const { sub, exp } = JSON.parse(decode(String(token).split(".")[1]));
        if (typeof sub !== "string" || sub === "") return null;
        return { user: sub, expiry: typeof exp === "number" ? exp * 1000 : null };
    } catch {
        return null;
    }
}

/** Who sends the requests: a name in open mode, or the user of the app's tokens. */
export class Identity {
    #name;
    #makeToken;
    #limit;
    /** @type {string | null} The user of the first token. */
    #user = null;
    /** @type {{text: string, expiry: number | null} | null} */
    #token = null;
    /** @type {Promise<string> | null} */
    #renewal = null;

    /**
     * @param {string | undefined} name
     * @param {(() => string | Promise<string>) | undefined} makeToken
     * @param {number} limit Maximum time for the app's function, in milliseconds.
     */
    constructor(name, makeToken, limit) {
        this.#name = name;
        this.#makeToken = makeToken;
        this.#limit = limit;
    }

    /** True if the user has tokens, so that a refused one may be replaced. */
    get hasTokens() {
        return this.#makeToken !== undefined;
    }

    /**
     * The user, if it is known.
     *
     * @returns {string | null}
     */
    get knownUser() {
        return this.#name ?? this.#user;
    }

    /**
     * Returns the user: the name, or the `sub` of the first token.
     *
     * @returns {Promise<string>}
     */
    async user() {
        if (this.knownUser === null) await this.token();
        return /** @type {string} */ (this.knownUser);
    }

    /** The time at which the present token expires, in milliseconds since 1970; null if it does not, or there is none. */
    get expiry() {
        return this.#token?.expiry ?? null;
    }

    /**
     * Returns a token that has not expired by this device's clock; null in open mode.
     *
     * @returns {Promise<string | null>}
     */
    async token() {
        if (!this.#makeToken) return null;
        const token = this.#token;
        if (token && (token.expiry === null || token.expiry > Date.now())) return token.text;
        return this.renew();
    }

    /**
     * Makes the next request ask for another token, unless one has come.
     *
     * @param {string} text
     */
    forget(text) {
        if (this.#token?.text === text) this.#token = null;
    }

    /**
     * Asks the app for a token. Calls at the same time share one.
     *
     * @returns {Promise<string>}
     * @throws {ClientError}
     */
    renew() {
        this.#renewal ??= this.#ask().finally(() => (this.#renewal = null));
        return this.#renewal;
    }

    async #ask() {
        const text = await new Promise((resolve, reject) => {
            const fail = (/** @type {string} */ why) => reject(new ClientError("token_unavailable", why, { status: 401 }));
            const timer = after(this.#limit, () => fail("The app's function returned no token in time."));
            Promise.resolve()
                .then(() => /** @type {() => string | Promise<string>} */ (this.#makeToken)())
                .then(resolve, (error) => fail(`The app has no token: ${error?.message ?? error}`))
                .finally(() => stop(timer));
        });
        const claims = claimsOf(text);
        if (!claims) throw new ClientError("token_unavailable", "The app's token is no JSON Web Token with a `sub`.", { status: 401 });
        if (this.#user !== null && this.#user !== claims.user) {
            // Drafts and the store belong to one user, so nothing of them may go out as another.
            throw new ClientError("other_user", `The token is for ${claims.user}, but this client is for ${this.#user}. Close it, `
                + "and create another client for the other user.", { status: 401 });
        }
        this.#user = claims.user;
        // If a new token has expired, this device's clock is wrong. The server then decides when it expires.
        const expiry = claims.expiry !== null && claims.expiry > Date.now() ? claims.expiry : null;
        this.#token = { text, expiry };
        return text;
    }
}
