/**
 * Requests to the server, for one user.
 *
 * @module api
 */

/** Maximum time for an answer, in milliseconds. A connection may be dead without anybody having said so. */
const REQUEST_MILLISECONDS = 30000;
/** The number of connections that browsers keep to a server, and the time in which each must answer to be kept. */
const CONNECTIONS = 6;
const CONNECTION_MILLISECONDS = 4000;

/** An error of a request: the server refused it, or no answer came (`status` 0). */
export class RequestError extends Error {
    constructor(status, code, detail, retryAfter) {
        super(detail);
        this.status = status;
        this.code = code;
        this.retryAfter = retryAfter;
    }
}

/** The user of a JSON Web Token, without verifying the token, which is the server's task. Null if the text is no token. */
export function userOfToken(token) {
    try {
        const payload = token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/");
        const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
        return JSON.parse(new TextDecoder().decode(bytes)).sub ?? null;
    } catch {
        return null;
    }
}

export class API {
    /** @type {Map<AbortController, number>} The requests under way, and when they began. */
    #pending = new Map();
    #isRenewing = false;

    /**
     * @param {string | null} user The name to use in open mode.
     * @param {string | null} token The token for a server with keys. It is sent as a header and as a subprotocol, never in a URL.
     */
    constructor(user, token) {
        this.token = token;
        this.user = token ? userOfToken(token) : user;
    }

    /**
     * Sends a request. Without an answer in time it fails, as if the server could not be reached.
     *
     * @param {string} method
     * @param {string} path
     * @param {{query?: Record<string, any>, body?: object, signal?: AbortSignal, keepalive?: boolean}} options `signal` ends the
     *   request; with `keepalive` it outlives the page.
     * @returns The answer's JSON; null if it has none.
     * @throws {RequestError}
     */
    async request(method, path, { query = {}, body, signal, keepalive } = {}) {
        /** @type {Record<string, string>} */
        const headers = {};
        if (this.token) headers.Authorization = `Bearer ${this.token}`;
        if (body !== undefined) headers["Content-Type"] = "application/json";
        const parameters = new URLSearchParams(query);
        if (!this.token && this.user) parameters.set("user", this.user);
        const abort = new AbortController();
        const timer = setTimeout(() => {
            abort.abort();
            this.renewConnections();
        }, REQUEST_MILLISECONDS);
        signal?.addEventListener("abort", () => abort.abort());
        this.#pending.set(abort, performance.now());
        let response, content;
        try {
            response = await fetch(`${path}?${parameters}`, {
                method, headers, body: body === undefined ? undefined : JSON.stringify(body), cache: "no-store", keepalive,
                signal: abort.signal,
            });
            content = await response.text();
        } catch {
            throw new RequestError(0, null, "The server cannot be reached.");
        } finally {
            clearTimeout(timer);
            this.#pending.delete(abort);
        }
        let json = null;
        try {
            if (content) json = JSON.parse(content);
        } catch {
            // The answer was cut off, or comes from a proxy in between.
            throw new RequestError(response.ok ? 0 : response.status, null, "The answer cannot be read.");
        }
        if (response.ok) return json;
        const seconds = Number(response.headers.get("Retry-After"));
        throw new RequestError(
            response.status, json?.code ?? null, json?.detail ?? response.statusText,
            Number.isFinite(seconds) && response.headers.has("Retry-After") ? seconds : undefined);
    }

    /**
     * Ends the connections that no longer work, because one has been found dead. Otherwise the browser would use each of them for
     * one more request, which would get no answer. Requests that have waited for a while fail now.
     */
    async renewConnections() {
        if (this.#isRenewing) return;
        this.#isRenewing = true;
        for (const [abort, begun] of this.#pending) if (performance.now() - begun > CONNECTION_MILLISECONDS) abort.abort();
        const abort = new AbortController();
        const timer = setTimeout(() => abort.abort(), CONNECTION_MILLISECONDS);
        // Each takes another connection. Those without an answer are closed.
        const probe = () => fetch("/healthz", { cache: "no-store", signal: abort.signal }).then((response) => response.text());
        await Promise.allSettled(Array.from({ length: CONNECTIONS }, probe));
        clearTimeout(timer);
        this.#isRenewing = false;
    }

    /** The path of a resource of a room. */
    static path(room, ...rest) {
        return ["/v1/rooms", room, ...rest].map((part, index) => (index ? encodeURIComponent(part) : part)).join("/");
    }

    page(room, query, signal) {
        return this.request("GET", API.path(room, "messages"), { query, signal });
    }

    message(room, seq) {
        return this.request("GET", API.path(room, "messages", seq));
    }

    send(room, draft) {
        return this.request("POST", API.path(room, "messages"), { body: draft });
    }

    edit(room, seq, changes) {
        return this.request("PATCH", API.path(room, "messages", seq), { body: changes });
    }

    remove(room, seq) {
        return this.request("DELETE", API.path(room, "messages", seq));
    }

    react(room, seq, key, isOn) {
        return this.request(isOn ? "PUT" : "DELETE", API.path(room, "messages", seq, "reactions", key));
    }

    /** Asks if the user has reacted. A message lists the first users only. */
    async hasReacted(room, seq, key) {
        // The users are ordered by id, so those whose ids begin as this one's come after that beginning.
        const beginning = [...this.user].slice(0, -1).join("");
        const path = API.path(room, "messages", seq, "reactions", key);
        let after = /^\.{0,2}$/.test(beginning) ? null : beginning;
        for (;;) {
            const { users, has_more: hasMore } = await this.request("GET", path, { query: after === null ? {} : { after } });
            if (users.includes(this.user)) return true;
            if (!hasMore || !users.at(-1).startsWith(beginning)) return false;
            after = users.at(-1);
        }
    }

    markRead(room, seq) {
        return this.request("PUT", API.path(room, "read"), { body: { seq }, keepalive: true });
    }

    room(room) {
        return this.request("GET", API.path(room));
    }

    setRoom(room, settings) {
        return this.request("PUT", API.path(room), { body: settings });
    }

    rooms(cursor) {
        return this.request("GET", "/v1/rooms", { query: cursor ? { limit: 50, cursor } : { limit: 50 } });
    }

    members(room, after) {
        return this.request("GET", API.path(room, "members"), { query: after ? { after } : {} });
    }

    setMember(room, user, role) {
        return this.request("PUT", API.path(room, "members", user), { body: { role } });
    }

    removeMember(room, user) {
        return this.request("DELETE", API.path(room, "members", user));
    }

    present(room) {
        return this.request("GET", API.path(room, "presence"));
    }

    /**
     * Opens a WebSocket. With this subprotocol the server gives the reason if it refuses the socket.
     *
     * @returns {WebSocket}
     */
    socket(path, query = {}) {
        const url = new URL(path, location.href);
        url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
        for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
        const protocols = ["backscroll.v1"];
        if (this.token) {
            protocols.push(`bearer.${this.token}`);
        } else if (this.user) {
            url.searchParams.set("user", this.user);
        }
        return new WebSocket(url, protocols);
    }
}
