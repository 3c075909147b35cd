/**
 * The reader's time zone, and the changes of the day and of the zone.
 *
 * @module calendar
 */

/** The step in which changes of the offset are searched, in milliseconds. No two changes are nearer to each other. */
const STEP_MILLISECONDS = 7 * 86400000;
/** The time after now for which changes of the offset are told, in milliseconds. The page may stay open for long. */
const AHEAD_MILLISECONDS = 2 * 365 * 86400000;
/** Interval at which the clock is looked at, in milliseconds. */
const LOOK_MILLISECONDS = 1000;
/** One look among this many also reads the name of the zone. */
const THOROUGH_LOOKS = 60;

const offsetAt = (time) => 0 - Math.round(new Date(time).getTimezoneOffset());

/**
 * Returns the minutes east of UTC of the reader's zone, each from its time on, as the timeline takes them. Before 1970 the first
 * one holds.
 *
 * @returns {[number | null, number][]}
 */
export function utcOffsets(now = Date.now()) {
    /** @type {[number | null, number][]} */
    const offsets = [[null, offsetAt(0)]];
    for (let start = 0; start < now + AHEAD_MILLISECONDS; start += STEP_MILLISECONDS) {
        let [low, high] = [start, start + STEP_MILLISECONDS];
        const offset = offsetAt(high);
        if (offset === offsets.at(-1)[1]) continue;
        while (high - low > 1) {
            const middle = Math.floor((low + high) / 2);
            if (offsetAt(middle) === offset) high = middle;
            else low = middle;
        }
        offsets.push([high, offset]);
    }
    return offsets;
}

/**
 * Calls a function when another day begins, or the device's time zone changes.
 *
 * @param {(change: {isZone: boolean}) => void} onChange
 */
export function watchCalendar(onChange) {
    const zoneName = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
    const clock = () => `${new Date().toDateString()} ${new Date().getTimezoneOffset()}`;
    let [shown, shownZone, looks] = [clock(), zoneName(), 0];
    const look = (isThorough) => {
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
