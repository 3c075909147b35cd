/**
 * Requests to the server, for one user.
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
 */

/** The number of connections that browsers keep to a server, and the time in which each must answer to be kept. */
const CONNECTIONS = 6;
const CONNECTION_MILLISECONDS = 4000;
/** Number of attempts of a change, if there is no answer or a temporary error. */
const CHANGE_ATTEMPTS = 3;
/** Maximum pause between two attempts that the server did not ask for, and the longest for which a change waits. */
export const LONGEST_PAUSE = 30000;

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
 * The path of a resource of a room.
 *
 * @param {string} room
 * @param {(string | number)[]} rest
 */
const path = (room, ...rest) => ["/v1/rooms", ...[room, ...rest].map(encodeURIComponent)].join("/");

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
     * @param {import("./token.js").Identity} settings.identity
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
    async #send(method, target, token, { query = {}, body, headers = {}, keepalive = false }) {
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
            // The answer was cut off, or comes from a proxy in between.
            throw new ClientError("invalid_answer", "The answer cannot be read.", { status: response.ok ? 0 : response.status });
        }
        if (response.ok) return json;
        const wait = response.headers.get("Retry-After");
        const seconds = wait === null ? NaN : Number(wait);
        throw new ClientError(json?.code ?? `http_${response.status}`, json?.detail ?? response.statusText ?? "", {
            status: response.status, field: json?.field, limit: json?.limit, retryAfter: Number.isFinite(seconds) ? seconds : undefined,
        });
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
                    return await this.request(method, target, options);
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
        return this.request("GET", path(room, "messages"), { query: /** @type {QueryFields} */ (query) });
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @returns {Promise<Message>}
     */
    message(room, seq) {
        return this.request("GET", path(room, "messages", seq));
    }

    /**
     * @param {string} room
     * @param {import("./types.js").PostedDraft} draft
     * @returns {Promise<Message>}
     */
    send(room, draft) {
        return this.request("POST", path(room, "messages"), { body: draft });
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
        return this.request("GET", path(room, "messages", seq, "reactions", key), { query: { after } });
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @param {{reason: import("./types.js").ReportReason, note?: string}} report
     * @returns {Promise<null>}
     */
    report(room, seq, report) {
        return this.request("POST", path(room, "messages", seq, "reports"), { body: report });
    }

    /**
     * @param {string} [after]
     * @returns {Promise<{blocks: {user: string}[], has_more: boolean}>}
     */
    blocks(after) {
        return this.request("GET", "/v1/blocks", { query: { after } });
    }

    /**
     * @param {string} user
     * @param {boolean} isBlocked
     * @returns {Promise<null>}
     */
    setBlock(user, isBlocked) {
        return this.request(isBlocked ? "PUT" : "DELETE", `/v1/blocks/${encodeURIComponent(user)}`);
    }

    /**
     * @param {string} user
     * @returns {Promise<RoomSummary>}
     */
    direct(user) {
        return this.request("PUT", `/v1/direct/${encodeURIComponent(user)}`);
    }

    /**
     * @param {string} room
     * @param {QueryFields} query
     * @returns {Promise<{reads: import("./types.js").ReadMark[], has_more: boolean}>}
     */
    reads(room, query) {
        return this.request("GET", path(room, "reads"), { query });
    }

    /**
     * @param {string} room
     * @param {number} seq
     * @returns {Promise<RoomSummary>}
     */
    markRead(room, seq) {
        return this.request("PUT", path(room, "read"), { body: { seq }, keepalive: true });
    }

    /**
     * @param {string} room
     * @returns {Promise<RoomSummary>}
     */
    room(room) {
        return this.request("GET", path(room));
    }

    /**
     * @param {string} room
     * @param {import("./types.js").RoomSettings} settings
     * @returns {Promise<RoomSummary>}
     */
    setRoom(room, settings) {
        return this.request("PUT", path(room), { body: settings });
    }

    /**
     * @param {string} room
     * @returns {Promise<null>}
     */
    deleteRoom(room) {
        return this.request("DELETE", path(room));
    }

    /**
     * @param {number} limit
     * @param {string} [cursor]
     * @returns {Promise<{rooms: RoomSummary[], has_more: boolean, cursor?: string}>}
     */
    rooms(limit, cursor) {
        return this.request("GET", "/v1/rooms", { query: { limit, cursor } });
    }

    /**
     * @param {string} room
     * @param {QueryFields} query
     * @returns {Promise<{members: import("./types.js").Member[], has_more: boolean}>}
     */
    members(room, query) {
        return this.request("GET", path(room, "members"), { query });
    }

    /**
     * @param {string} room
     * @param {string} user
     * @param {import("./types.js").Role} role
     * @returns {Promise<import("./types.js").Member>}
     */
    setMember(room, user, role) {
        return this.request("PUT", path(room, "members", user), { body: { role } });
    }

    /**
     * @param {string} room
     * @param {string} user
     * @returns {Promise<null>}
     */
    removeMember(room, user) {
        return this.request("DELETE", path(room, "members", user));
    }
}
