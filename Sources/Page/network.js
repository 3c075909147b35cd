/**
 * What is known of the network: the browser's word, and requests without an answer. A socket may take a minute to fall.
 *
 * @module network
 */

import { texts } from "./texts.js";

/** Time after which a request counts as one without an answer, in milliseconds. */
const ANSWER_MILLISECONDS = 4000;
/** Time in which a socket that is asked for a sign of life has given one or has ended, in milliseconds. */
const PROOF_MILLISECONDS = 5000;

/** Difference of two clocks below which they count as the same, in milliseconds: the server tells whole seconds, and late. */
const SAME_MILLISECONDS = 2000;

const TEXTS = { offline: texts.connecting, catching_up: texts.catchingUp, live: "" };

let isUnanswered = false;
/** By how much the server's clock is ahead of this device's, in milliseconds. */
let ahead = 0;
/** @type {number | undefined} */
let proving = undefined;
/** @type {() => void} */
let changed = () => {};
/** @type {() => void} */
let missed = () => {};

/**
 * Calls functions when the network goes, comes, or seems to have gone.
 *
 * @param {object} handlers
 * @param {() => void} handlers.lost The browser has no network.
 * @param {() => void} handlers.found The browser has a network again.
 * @param {() => void} handlers.missed A request has no answer, so that the socket should be looked at.
 * @param {() => void} handlers.changed What `networkText` returns may be another text.
 */
export function watchNetwork(handlers) {
    ({ changed, missed } = handlers);
    for (const [type, tell] of /** @type {const} */ ([["offline", handlers.lost], ["online", handlers.found]])) {
        window.addEventListener(type, () => {
            setUnanswered(false);
            tell();
            changed();
        });
    }
}

/**
 * What to tell of a connection; an empty text if all is well.
 *
 * @param {import("./client/index.js").RoomView["connection"]} connection
 */
export function networkText(connection) {
    if (connection !== "live" && !navigator.onLine) return texts.offline;
    return isUnanswered ? texts.noAnswer : TEXTS[connection];
}

/** @param {boolean} isMissing */
function setUnanswered(isMissing) {
    clearTimeout(proving);
    if (isUnanswered === isMissing) return;
    isUnanswered = isMissing;
    changed();
}

function miss() {
    if (isUnanswered) return;
    setUnanswered(true);
    // A socket that is still there after this time has proved that the server answers.
    proving = setTimeout(() => setUnanswered(false), PROOF_MILLISECONDS);
    missed();
}

/** The time by the server's clock, in milliseconds since 1970: this device's clock may be wrong. */
export const serverNow = () => Date.now() + ahead;

/** @param {Headers} headers */
function noteClock(headers) {
    // An answer that may come from the browser's cache tells an earlier time.
    if (/max-age/.test(headers.get("Cache-Control") ?? "")) return;
    const difference = Date.parse(headers.get("Date") ?? "") - Date.now();
    if (!Number.isNaN(difference)) ahead = Math.abs(difference) < SAME_MILLISECONDS ? 0 : difference;
}

/**
 * `fetch`, with a look at whether there is an answer.
 *
 * @type {import("./client/types.js").Fetch}
 */
export async function watchedFetch(url, options) {
    const timer = setTimeout(miss, ANSWER_MILLISECONDS);
    try {
        const answer = await fetch(url, /** @type {RequestInit} */ (options));
        setUnanswered(false);
        noteClock(answer.headers);
        return answer;
    } catch (error) {
        if (!(/** @type {AbortSignal | undefined} */ (options.signal)?.aborted)) miss();
        throw error;
    } finally {
        clearTimeout(timer);
    }
}
