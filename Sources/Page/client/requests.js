/**
 * Requests to the server, for one user: with a name, or the app's tokens.
 *
 * @module requests
 */

import { after, elapsed, newAbort, sleep, stop } from "./defaults.js";
import { asClientError, ClientError, closedError } from "./errors.js";

/**
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./types.js").RoomSummary} RoomSummary
 *
 * @typedef {Record<string, string | number | undefined>} QueryFields The parameters of a request; those that are undefined are left out.
 *
 * @typedef {object} RequestOptions
 * @property {QueryFields} [query]
 * @property {object} [body]
 * @property {Record<string, string>} [headers]
 * @property {boolean} [keepalive] True for a request that outlives the page.
 * @property {(answer: any) => boolean} [isValid] Returns true if the answer's JSON has the form of the server's answers. Another one fails
 *   as `invalid_answer`: a proxy or a captive portal may answer anything with success.
 */

/** The number of connections that browsers keep to a server, and the time in which each must answer to be kept. */
const CONNECTIONS = 6;
const CONNECTION_MILLISECONDS = 4000;
/** Number of attempts of a change, if there is no answer or a temporary error. */
const CHANGE_ATTEMPTS = 3;
/** Maximum pause between two attempts that the server did not ask for, and the longest for which a change waits. */
export const LONGEST_PAUSE = 30000;

/**
 * The options of a request for a list.
 *
 * @param {string} name The member of the answer that has it.
 * @param {QueryFields} query
 * @returns {RequestOptions}
 */
export const listOf = (name, query) => ({ query, isValid: (answer) => Array.isArray(answer?.[name]) });

/**
 * Returns a function that is true for answers with a member, which is not empty.
 *
 * @param {string} name
 * @returns {(answer: any) => boolean}
 */
export const has = (name) => (answer) => Boolean(answer?.[name]);

export const isMessage = has("seq");

/** @param {any} answer */
const isNothing = (answer) => answer === null;

const isRoom = has("room");
const isMember = has("user");

/** @param {QueryFields} query */
function queryText(query) {
    return Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : `${name}=${encodeURIComponent(value)}`)).join("&");
}

/**
 * Returns the pause after failures in a row, in milliseconds: the one that the server asks for, or else exponential back-off, of
 * which one half is random.
 *
 * @param {number} failures
 * @param {{retryAfter?: number}} error The last of them.
 */
export function pauseAfter(failures, { retryAfter } = {}) {
    if (retryAfter !== undefined) return retryAfter * 1000;
    return Math.min(1000 * 2 ** Math.min(failures - 1, 20), LONGEST_PAUSE) * (0.5 + Math.random() / 2);
}

/**
 * Returns a part of a path, encoded. One that is missing would name something else: `undefined` is also the id of a room, and the
 * platform removes dots.
 *
 * @param {unknown} value
 * @param {string} [name]
 */
export function pathPart(value, name = "path") {
    if ((typeof value === "string" && !/^\.{0,2}$/.test(value)) || typeof value === "number") return encodeURIComponent(value);
    throw new ClientError("invalid_path", `\`${name}\` is no part of a path: ${value}`, { status: 400, field: name });
}

/**
 * Returns the error of an answer without success. Only Backscroll's own has a code in its JSON; others come from something in between.
 *
 * @param {{status: number, statusText?: string, headers: {get(name: string): string | null}}} response
 * @param {any} json The JSON of the answer.
 */
export function answerError({ status, statusText, headers }, json) {
    const { code, detail, ...rest } = typeof json?.code === "string" ? json : { code: `http_${status}`, detail: statusText };
    const seconds = parseFloat(headers.get("Retry-After") ?? "");
    return new ClientError(code, detail ?? "", { ...rest, status, retryAfter: seconds >= 0 ? seconds : undefined });
}

/**
 * The path of a resource of a room.
 *
 * @param {string} room
 * @param {(string | number)[]} rest
 */
const path = (room, ...rest) => ["/v1/rooms", ...[room, ...rest].map((part) => pathPart(part))].join("/");

export class Requests {
    #url;
    #identity;
    #fetch;
    #headers;
    #limit;
    #onAnswer;
    #isClosed = false;
    /** @type {Map<{abort(): void}, number>} The requests under way, and when they began. */
    #pending = new Map();
    #isRenewing = false;
    /** @type {Map<string, Promise<unknown>>} The latest change of each message that is being changed. */
    #changing = new Map();

    /**
     * @param {object} settings
     * @param {string} settings.url The server, without a slash at the end.
     * @param {Identity} settings.identity
     * @param {import("./types.js").Fetch} settings.fetch
     * @param {Record<string, string>} settings.headers
     * @param {number} settings.limit Maximum time for an answer, in milliseconds.
     * @param {(error: ClientError | null) => void} settings.onAnswer Called with null after an answer, and with each 401.
     */
    constructor({ url, identity, fetch, headers, limit, onAnswer }) {
        this.#url = url;
        this.#identity = identity;
        this.#fetch = fetch;
        this.#headers = headers;
        this.#limit = limit;
        this.#onAnswer = onAnswer;
    }

    /** Ends the requests under way, except those that outlive the page. */
    close() {
        this.#isClosed = true;
        for (const abort of this.#pending.keys()) abort.abort();
    }

    /**
     * Sends a request. Without an answer in time it fails, as if the server could not be reached. A refused token is replaced once.
     *
     * @param {string} method
     * @param {string} target
     * @param {RequestOptions} [options]
     * @returns {Promise<any>} The answer's JSON; null if it has none.
     * @throws {ClientError}
     */
    async request(method, target, options = {}) {
        for (let hasRenewed = false; ; hasRenewed = true) {
            if (this.#isClosed) throw closedError("client");
            /** @type {string | null} */
            let token = null;
            try {
                token = await this.#identity.token();
                const answer = await this.#send(method, target, token, options);
                this.#onAnswer(null);
                return answer;
            } catch (error) {
                const failure = asClientError(error);
                if (failure.status !== 401) throw failure;
                if (token !== null) this.#identity.forget(token);
                if (token === null || hasRenewed) {
                    this.#onAnswer(failure);
                    throw failure;
                }
            }
        }
    }

    /**
     * @param {string} method
     * @param {string} target
     * @param {string | null} token
     * @param {RequestOptions} options
     */
    async #send(method, target, token, { query = {}, body, headers = {}, keepalive = false, isValid = () => true }) {
        const fields = { ...this.#headers, ...headers };
        if (token !== null) fields.Authorization = `Bearer ${token}`;
        if (body !== undefined) fields["Content-Type"] = "application/json";
        const user = this.#identity.hasTokens ? null : this.#identity.knownUser;
        const parameters = queryText(user === null || user === "" ? query : { ...query, user });
        const abort = newAbort();
        /** @type {import("./defaults.js").Timer | null} */
        let timer = null;
        this.#pending.set(abort, elapsed());
        let response, content;
        try {
            // Not every platform ends a request that is aborted.
            const ended = new Promise((_, reject) => {
                timer = after(this.#limit, () => {
                    reject(new Error("no answer in time"));
                    abort.abort();
                    this.renewConnections();
                });
            });
            const answered = this.#fetch(`${this.#url}${target}${parameters && `?${parameters}`}`, {
                method, headers: fields, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store", keepalive,
                signal: abort.signal,
            }).then(async (response) => ({ response, content: await response.text() }));
            answered.catch(() => {});
            ({ response, content } = /** @type {Awaited<typeof answered>} */ (await Promise.race([answered, ended])));
        } catch {
            throw this.#isClosed ? closedError("client") : new ClientError("unreachable", "The server cannot be reached.");
        } finally {
            stop(timer);
            this.#pending.delete(abort);
        }
        let json = null;
        try {
            if (content) json = JSON.parse(content);
        } catch {
            json = undefined;
        }
        if (!response.ok) throw answerError(response, json);
        // The answer was cut off, or comes from a proxy in between.
        if (json === undefined || !isValid(json)) throw new ClientError("invalid_answer", "The answer cannot be read.");
        return json;
    }

    /**
     * Ends the connections that no longer work, because one has been found dead. Otherwise the platform would use each of them for
     * one more request, which would get no answer. Requests that have waited for a while fail now.
     */
    async renewConnections() {
        if (this.#isRenewing || this.#isClosed) return;
        this.#isRenewing = true;
        for (const [abort, begun] of this.#pending) if (elapsed() - begun > CONNECTION_MILLISECONDS) abort.abort();
        const abort = newAbort();
        const timer = after(CONNECTION_MILLISECONDS, () => abort.abort());
        // Each takes another connection. Those without an answer are closed.
        const probe = () => this.#fetch(`${this.#url}/healthz`, { cache: "no-store", signal: abort.signal }).then((response) => response.text());
        await Promise.allSettled([...Array.from({ length: CONNECTIONS }, probe), sleep(0)]);
        stop(timer);
        this.#isRenewing = false;
    }

    /**
     * Changes a message. The change is repeated after a lost answer or a temporary error; those of one message are made one after
     * the other, in the order of the calls, so that a repeated one does not overwrite a later one.
     *
     * @param {string} method
     * @param {string} target
     * @param {string} message What it changes.
     * @param {RequestOptions} [options]
     * @returns {Promise<Message>}
     */
    async #change(method, target, message, options) {
        const earlier = this.#changing.get(message);
        const change = (async () => {
            await Promise.resolve(earlier).catch(() => {});
            for (let attempt = 1; ; attempt++) {
                try {
                    return await this.request(method, target, { ...options, isValid: isMessage });
                } catch (error) {
                    const failure = asClientError(error);
                    const pause = pauseAfter(attempt, failure);
                    const isWorthIt = failure.isTemporary && failure.status !== 401 && pause <= LONGEST_PAUSE;
                    if (!isWorthIt || attempt === CHANGE_ATTEMPTS) throw failure;
                    await sleep(pause);
                }
            }
        })();
        this.#changing.set(message, change);
        try {
            return await change;
        } finally {
            if (this.#changing.get(message) === change) this.#changing.delete(message);
        }
    }

    /**
     * @param {string} room
     * @param {import("./types.js").Query | {limit: number}} query
     * @returns {Promise<import("./types.js").Page>}
     */
    page(room, query) {
        return this.request("GET", path(room, "messages"), listOf("messages", /** @type {QueryFields} */ (query)));
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @returns {Promise<Message>}
     */
    message(room, seq) {
        return this.request("GET", path(room, "messages", seq), { isValid: isMessage });
    }

    /**
     * @param {string} room
     * @param {import("./types.js").PostedDraft} draft
     * @returns {Promise<Message>}
     */
    send(room, draft) {
        return this.request("POST", path(room, "messages"), { body: draft, isValid: isMessage });
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @param {import("./types.js").Changes} changes
     * @param {number} [rev]
     */
    edit(room, seq, changes, rev) {
        /** @type {Record<string, string>} */
        const headers = rev === undefined ? {} : { "If-Match": `"${rev}"` };
        return this.#change("PATCH", path(room, "messages", seq), `${room}/${seq}`, { body: changes, headers });
    }

    /**
     * @param {string} room
     * @param {number} seq
     */
    remove(room, seq) {
        return this.#change("DELETE", path(room, "messages", seq), `${room}/${seq}`);
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @param {string} key
     * @param {boolean} isOn
     */
    react(room, seq, key, isOn) {
        return this.#change(isOn ? "PUT" : "DELETE", path(room, "messages", seq, "reactions", key), `${room}/${seq}`);
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @param {string} key
     * @param {string} [after]
     * @returns {Promise<{users: string[], has_more: boolean}>}
     */
    reactors(room, seq, key, after) {
        return this.request("GET", path(room, "messages", seq, "reactions", key), listOf("users", { after }));
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @param {{reason: import("./types.js").ReportReason, note?: string}} report
     * @returns {Promise<null>}
     */
    report(room, seq, report) {
        return this.request("POST", path(room, "messages", seq, "reports"), { body: report, isValid: isMember });
    }

    /**
     * @param {string} [after]
     * @returns {Promise<{blocks: {user: string}[], has_more: boolean}>}
     */
    blocks(after) {
        return this.request("GET", "/v1/blocks", listOf("blocks", { after }));
    }

    /**
     * @param {string} user
     * @param {boolean} isBlocked
     * @returns {Promise<null>}
     */
    setBlock(user, isBlocked) {
        return this.request(isBlocked ? "PUT" : "DELETE", `/v1/blocks/${pathPart(user)}`, { isValid: isBlocked ? isMember : isNothing });
    }

    /**
     * @param {string} user
     * @returns {Promise<RoomSummary>}
     */
    direct(user) {
        return this.request("PUT", `/v1/direct/${pathPart(user)}`, { isValid: isRoom });
    }

    /**
     * @param {string} room
     * @param {QueryFields} query
     * @returns {Promise<{reads: import("./types.js").ReadMark[], has_more: boolean}>}
     */
    reads(room, query) {
        return this.request("GET", path(room, "reads"), listOf("reads", query));
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @returns {Promise<RoomSummary>}
     */
    markRead(room, seq) {
        return this.request("PUT", path(room, "read"), { body: { seq }, keepalive: true, isValid: isRoom });
    }

    /**
     * @param {string} room
     * @returns {Promise<RoomSummary>}
     */
    room(room) {
        return this.request("GET", path(room), { isValid: isRoom });
    }

    /**
     * @param {string} room
     * @param {import("./types.js").RoomSettings} settings
     * @returns {Promise<RoomSummary>}
     */
    setRoom(room, settings) {
        return this.request("PUT", path(room), { body: settings, isValid: isRoom });
    }

    /**
     * @param {string} room
     * @returns {Promise<null>}
     */
    deleteRoom(room) {
        return this.request("DELETE", path(room), { isValid: isNothing });
    }

    /**
     * @param {number} limit
     * @param {string} [cursor]
     * @returns {Promise<{rooms: RoomSummary[], has_more: boolean, cursor?: string}>}
     */
    rooms(limit, cursor) {
        return this.request("GET", "/v1/rooms", listOf("rooms", { limit, cursor }));
    }

    /**
     * @param {string} room
     * @param {QueryFields} query
     * @returns {Promise<{members: import("./types.js").Member[], has_more: boolean}>}
     */
    members(room, query) {
        return this.request("GET", path(room, "members"), listOf("members", query));
    }

    /**
     * @param {string} room
     * @param {string} user
     * @param {import("./types.js").Role} role
     * @returns {Promise<import("./types.js").Member>}
     */
    setMember(room, user, role) {
        return this.request("PUT", path(room, "members", user), { body: { role }, isValid: isMember });
    }

    /**
     * @param {string} room
     * @param {string} user
     * @returns {Promise<null>}
     */
    removeMember(room, user) {
        return this.request("DELETE", path(room, "members", user), { isValid: isNothing });
    }
}

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/**
 * Decodes base64url of UTF-8. Not every platform has a function for it.
 *
 * @param {string} text
 */
function decode(text) {
    let [bits, count, bytes] = [0, 0, ""];
    for (const character of text) {
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

/** The sender of the requests: a name in open mode, or the user of the app's tokens. */
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
            throw new ClientError("other_user", `The token is for ${claims.user}, but this client is for ${this.#user}. Create another client.`, { status: 401 });
        }
        this.#user = claims.user;
        // If a new token has expired, this device's clock is wrong. The server then decides when it expires.
        const expiry = claims.expiry !== null && claims.expiry > Date.now() ? claims.expiry : null;
        this.#token = { text, expiry };
        return text;
    }
}
