/**
 * Days: their names, their changes and those of the reader's time zone, and the first message of one.
 *
 * @module calendar
 */

import { listOf } from "./client/requests.js";
import { formats } from "./text.js";

/** Maximum number of messages of a page, which is the server's. */
const PAGE = 200;
/** Interval at which the clock is looked at, in milliseconds. */
const LOOK_MILLISECONDS = 1000;
/** One look among this many also reads the name of the zone. */
const THOROUGH_LOOKS = 60;

/**
 * Calls a function when another day begins, or the device's time zone changes.
 *
 * @param {(change: {isZone: boolean}) => void} onChange
 */
export function watchCalendar(onChange) {
    const zoneName = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
    const clock = () => `${new Date().toDateString()} ${new Date().getTimezoneOffset()}`;
    let [shown, shownZone, looks] = [clock(), zoneName(), 0];
    const look = (/** @type {boolean} */ isThorough) => {
        const now = clock();
        // Another zone may have the same time now. Its name takes a millisecond to read.
        const zone = isThorough || now !== shown ? zoneName() : shownZone;
        if (now === shown && zone === shownZone) return;
        const isZone = zone !== shownZone;
        [shown, shownZone] = [now, zone];
        onChange({ isZone });
    };
    setInterval(() => look(++looks % THOROUGH_LOOKS === 0), LOOK_MILLISECONDS);
    document.addEventListener("visibilitychange", () => look(true));
}

/**
 * The midnight in UTC of the reader's day of a time.
 *
 * @param {Date} time
 */
export const midnight = (time) => new Date(Date.UTC(time.getFullYear(), time.getMonth(), time.getDate()));

/**
 * The name of a day: today, yesterday, or its date.
 *
 * @param {Date} day Its midnight in UTC, whatever the reader's zone.
 */
export function dayText(day) {
    const days = Math.round((day.getTime() - midnight(new Date()).getTime()) / 86400000);
    const { relative, weekday } = formats();
    return days === 0 || days === -1 ? relative.format(days, "day") : weekday.format(day);
}

/**
 * Finds the first message of a room since a time, by some requests more the longer the room is. Returns null if there is none.
 *
 * @param {import("./client/index.js").Client} client
 * @param {string} room
 * @param {number} head The room's newest `seq`.
 * @param {Date} time
 */
export async function firstSince(client, room, head, time) {
    const isSince = (/** @type {import("./client/index.js").Message} */ { created_at }) => new Date(created_at) >= time;
    /** Messages that have expired are missing, so that the next one answers for a place. */
    const load = async (/** @type {number} */ place, /** @type {number} */ limit) => {
        const path = `/v1/rooms/${encodeURIComponent(room)}/messages`;
        return /** @type {import("./client/index.js").Message[]} */ ((await client.request("GET", path, listOf("messages", { after: place - 1, limit }))).messages);
    };
    let [low, high] = [1, head];
    while (high - low >= PAGE) {
        const middle = (low + high) >> 1;
        const [message] = await load(middle, 1);
        if (message && !isSince(message)) low = message.seq + 1;
        else high = middle;
    }
    return (await load(low, PAGE)).find(isSince)?.seq ?? null;
}
