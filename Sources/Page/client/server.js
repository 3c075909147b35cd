/**
 * For the app's own backend, in Node 20 and later: tokens for its users, the verification of webhooks, and requests to the whole API.
 *
 * @module server
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { ClientError } from "./errors.js";
import { answerError, pathPart } from "./requests.js";

/** @typedef {import("./server-api.js").Operations} Operations */

/** Maximum difference between the time of a webhook's delivery and now, in seconds. */
const TOLERANCE_SECONDS = 300;
const REQUEST_MILLISECONDS = 30000;
const MINIMUM_SECRET = 32;
/** The secret of a webhook: base64, of which Node would also decode texts that are none. */
const WEBHOOK_SECRET = /^(?:whsec_)?([A-Za-z0-9+/]{2,}={0,2})$/;

/** @param {string | Uint8Array} data */
const base64URL = (data) => Buffer.from(data).toString("base64url");

/**
 * Returns a token (JWT, HS256) for a user, for a server with `--jwt-secret-file`.
 *
 * @param {string | Uint8Array} secret The secret that the server has, at least 32 bytes.
 * @param {{sub: string, admin?: boolean, rooms?: string[], aud?: string, [claim: string]: unknown}} claims
 * @param {{expiresIn?: number}} [options] The seconds until the token expires; by default an hour.
 * @returns {string}
 */
export function signToken(secret, claims, options = {}) {
    const { expiresIn = 3600 } = options;
    if (Buffer.byteLength(secret) < MINIMUM_SECRET) throw new TypeError(`The secret must have at least ${MINIMUM_SECRET} bytes.`);
    if (typeof claims.sub !== "string" || claims.sub === "") throw new TypeError("`sub` must be the user's id.");
    const exp = Math.floor(Date.now() / 1000) + expiresIn;
    const signed = [{ alg: "HS256", typ: "JWT" }, { exp, ...claims }].map((part) => base64URL(JSON.stringify(part))).join(".");
    return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

/**
 * Returns the bytes of a webhook's secret. Without any, anybody could sign.
 *
 * @param {string} secret
 */
function keyOf(secret) {
    const match = typeof secret === "string" ? WEBHOOK_SECRET.exec(secret) : null;
    if (match === null) throw new TypeError("The secret of a webhook is `whsec_` and base64.");
    return Buffer.from(match[1], "base64");
}

/**
 * Verifies a delivery that is signed as in Standard Webhooks 1.0, and returns its body as JSON.
 *
 * @param {string | string[]} secrets `whsec_…`; several while one is replaced.
 * @param {Record<string, string | string[] | undefined>} headers The names in lower case, as Node has them.
 * @param {string | Uint8Array} body As it was received.
 * @returns {any}
 * @throws {ClientError} `invalid_signature` if it was not signed with one of the secrets, or at a time more than five minutes from now.
 * @throws {TypeError} A secret is none.
 */
export function verifyWebhook(secrets, headers, body) {
    const fail = (/** @type {string} */ why) => new ClientError("invalid_signature", why, { status: 401 });
    const keys = [secrets].flat().map(keyOf);
    const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => String(headers[name] ?? ""));
    const age = Math.abs(Date.now() / 1000 - Number(timestamp));
    if (!id || !/^\d+$/.test(timestamp) || age > TOLERANCE_SECONDS) throw fail("The delivery has no id, or a time that is not now.");
    const expected = keys.map((key) => createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest());
    const given = signatures.split(" ").filter((signature) => signature.startsWith("v1,")).map((signature) => Buffer.from(signature.slice(3), "base64"));
    const isSigned = given.some((one) => expected.some((other) => one.length === other.length && timingSafeEqual(one, other)));
    if (!isSigned) throw fail("The delivery is not signed with this secret.");
    return JSON.parse(Buffer.from(body).toString("utf8"));
}

/**
 * Requests to the API, typed by its description (`/openapi.json`):
 *
 *     const api = new API({ url, token: () => signToken(secret, { sub: "bot", admin: true }) });
 *     const page = await api.request("GET /v1/rooms/{room}/messages", { path: { room: "lobby" }, query: { limit: 10 } });
 */
export class API {
    #url;
    #token;
    #user;
    #limit;

    /** @param {{url: string, token?: () => string | Promise<string>, user?: string, requestTimeout?: number}} options */
    constructor({ url, token, user, requestTimeout = REQUEST_MILLISECONDS }) {
        this.#url = url.replace(/\/+$/, "");
        this.#token = token;
        this.#user = user;
        this.#limit = requestTimeout;
    }

    /**
     * @template {keyof Operations} Name
     * @param {Name} name The method and the path, as the description has them.
     * @param {{} extends Operations[Name]["request"] ? [options?: Operations[Name]["request"]] : [options: Operations[Name]["request"]]} more
     * @returns {Promise<Operations[Name]["answer"]>} Null if the answer has no content.
     * @throws {ClientError}
     */
    async request(name, ...more) {
        const [options] = more;
        /** @type {{path?: Record<string, string | number>, query?: Record<string, any>, body?: unknown, headers?: Record<string, string>}} */
        const { path = {}, query = {}, body, headers = {} } = options ?? {};
        const [method, template] = name.split(" ");
        const target = template.replace(/\{(\w+)\}/g, (_, part) => pathPart(path[part], part));
        const parameters = new URLSearchParams(this.#user === undefined ? query : { ...query, user: this.#user });
        /** @type {Record<string, string>} */
        const fields = { ...headers };
        if (this.#token) fields.Authorization = `Bearer ${await this.#token()}`;
        if (body !== undefined) fields["Content-Type"] = "application/json";
        let response, text;
        try {
            response = await fetch(`${this.#url}${target}?${parameters}`, {
                method, headers: fields, body: body === undefined ? undefined : JSON.stringify(body), signal: /** @type {any} */ (AbortSignal).timeout(this.#limit),
            });
            text = await response.text();
        } catch (error) {
            throw new ClientError("unreachable", `The server cannot be reached: ${error}`);
        }
        const isJSON = /json/.test(response.headers.get("Content-Type") ?? "");
        /** @type {any} */
        let answer = text || null;
        try {
            if (isJSON && text) answer = JSON.parse(text);
        } catch {
            if (response.ok) throw new ClientError("invalid_answer", "The answer cannot be read.");
        }
        if (response.ok) return answer;
        throw answerError(response, answer);
    }
}
