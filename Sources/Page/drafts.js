/**
 * The unsent texts of rooms, which the browser keeps.
 *
 * @module drafts
 */

/** Maximum number of texts, and of their units of UTF-16 together. The oldest ones are forgotten first. */
const MAXIMUM_DRAFTS = 50;
const MAXIMUM_LENGTH = 200_000;
const KEY = "backscroll.drafts";

/** @type {Map<string, string>} The texts by user and room, the latest last. They stay here if the browser blocks site data. */
let drafts = new Map();

/** Reads what this window or another one has stored. */
function read() {
    try {
        const stored = localStorage.getItem(KEY);
        drafts = new Map(stored === null ? [] : JSON.parse(stored));
    } catch {
        // The present texts last until the page is closed.
    }
}

/**
 * Calls a function when another window has changed a text.
 *
 * @param {() => void} onChange
 */
export function watchDrafts(onChange) {
    read();
    window.addEventListener("storage", ({ key }) => {
        if (key !== KEY && key !== null) return;
        read();
        onChange();
    });
}

/**
 * The unsent text of a room; empty if there is none.
 *
 * @param {string} user
 * @param {string} room
 */
export const draftOf = (user, room) => drafts.get(`${user}/${room}`) ?? "";

/**
 * Keeps the unsent text of a room. An empty one is forgotten.
 *
 * @param {string} user
 * @param {string} room
 * @param {string} text
 */
export function keepDraft(user, room, text) {
    read();
    const place = `${user}/${room}`;
    if (!text && !drafts.has(place)) return;
    drafts.delete(place);
    if (text) drafts.set(place, text);
    let length = [...drafts.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest, { length: less }] of drafts) {
        if (drafts.size <= MAXIMUM_DRAFTS && length <= MAXIMUM_LENGTH) break;
        drafts.delete(oldest);
        length -= less;
    }
    try {
        localStorage.setItem(KEY, JSON.stringify([...drafts]));
    } catch {
        // The text lasts until the page is closed.
    }
}
