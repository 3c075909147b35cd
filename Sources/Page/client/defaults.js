/**
 * The globals of the platform that the package uses. No other module of it names one.
 *
 * - `fetch` and `WebSocket`, unless the client gets others
 * - `AbortController`, `setTimeout` and `clearTimeout`
 * - `performance`, if there is one
 *
 * The modules of single platforms, `store-indexeddb.js` and `server.js`, say themselves what they need.
 *
 * @module defaults
 */

/** @type {any} */
const platform = globalThis;

/** @type {import("./types.js").Fetch} */
export const fetch = (url, options) => platform.fetch(url, options);

/**
 * The platform's sockets; undefined if it has none.
 *
 * @returns {import("./types.js").WebSocketConstructor | undefined}
 */
export const webSocket = () => platform.WebSocket;

/**
 * A timer that has been started.
 *
 * @typedef {{readonly timer: unique symbol}} Timer
 */

/**
 * Calls a function after some milliseconds.
 *
 * @param {number} milliseconds
 * @param {() => void} work
 * @returns {Timer}
 */
export const after = (milliseconds, work) => platform.setTimeout(work, milliseconds);

/**
 * Stops a timer. Null is none.
 *
 * @param {Timer | null} timer
 */
export function stop(timer) {
    if (timer !== null) platform.clearTimeout(timer);
}

/**
 * Returns the milliseconds since any moment, also across changes of the clock.
 *
 * @returns {number}
 */
export const elapsed = () => platform.performance?.now() ?? Date.now();

/** @returns {{signal: any, abort(): void}} */
export const newAbort = () => new platform.AbortController();

/**
 * Returns a promise that is fulfilled after some milliseconds.
 *
 * @param {number} milliseconds
 * @returns {Promise<void>}
 */
export const sleep = (milliseconds) => new Promise((resolve) => after(milliseconds, resolve));

/**
 * Calls a function once the present work is done.
 *
 * @param {() => void} work
 */
export const soon = (work) => void Promise.resolve().then(work);
