/**
 * Returns a token (JWT, HS256) for a user, for a server with `--jwt-secret-file`.
 *
 * @param {string | Uint8Array} secret The secret that the server has, at least 32 bytes.
 * @param {{sub: string, admin?: boolean, rooms?: string[], aud?: string, [claim: string]: unknown}} claims
 * @param {{expiresIn?: number}} [options] The seconds until the token expires; by default an hour.
 * @returns {string}
 */
export function signToken(secret: string | Uint8Array, claims: {
    [claim: string]: unknown;
    sub: string;
    admin?: boolean | undefined;
    rooms?: string[] | undefined;
    aud?: string | undefined;
}, options?: {
    expiresIn?: number | undefined;
} | undefined): string;
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
export function verifyWebhook(secrets: string | string[], headers: Record<string, string | string[] | undefined>, body: string | Uint8Array): any;
/**
 * Requests to the API, typed by its description (`/openapi.json`):
 *
 *     const api = new API({ url, token: () => signToken(secret, { sub: "bot", admin: true }) });
 *     const page = await api.request("GET /v1/rooms/{room}/messages", { path: { room: "lobby" }, query: { limit: 10 } });
 */
export class API {
    /** @param {{url: string, token?: () => string | Promise<string>, user?: string, requestTimeout?: number}} options */
    constructor({ url, token, user, requestTimeout }: {
        url: string;
        token?: () => string | Promise<string>;
        user?: string;
        requestTimeout?: number;
    });
    /**
     * @template {keyof Operations} Name
     * @param {Name} name The method and the path, as the description has them.
     * @param {{} extends Operations[Name]["request"] ? [options?: Operations[Name]["request"]] : [options: Operations[Name]["request"]]} more
     * @returns {Promise<Operations[Name]["answer"]>} Null if the answer has no content.
     * @throws {ClientError}
     */
    request<Name extends keyof import("./server-api.js").Operations>(name: Name, ...more: {} extends import("./server-api.js").Operations[Name]["request"] ? [options?: import("./server-api.js").Operations[Name]["request"] | undefined] : [options: import("./server-api.js").Operations[Name]["request"]]): Promise<import("./server-api.js").Operations[Name]["answer"]>;
    #private;
}
export type Operations = import("./server-api.js").Operations;
