/**
 * The offsets from UTC of the device's time zone, which day lines need.
 *
 * @module utc-offsets
 */

/** The step in which changes of the offset are searched, in milliseconds. No two changes are nearer to each other. */
const STEP_MILLISECONDS = 7 * 86400000;
/** The time after now for which changes of the offset are told, in milliseconds. The app may stay open for long. */
const AHEAD_MILLISECONDS = 2 * 365 * 86400000;

/** @param {number} time */
const offsetAt = (time) => 0 - Math.round(new Date(time).getTimezoneOffset());

/**
 * Returns the minutes east of UTC of the device's zone, each from its time on, as the timeline takes them. Before 1970 the first
 * one holds.
 *
 * @returns {[number | null, number][]}
 */
export function utcOffsets(now = Date.now()) {
    /** @type {[number | null, number][]} */
    const offsets = [[null, offsetAt(0)]];
    let last = offsetAt(0);
    for (let start = 0; start < now + AHEAD_MILLISECONDS; start += STEP_MILLISECONDS) {
        let [low, high] = [start, start + STEP_MILLISECONDS];
        const offset = offsetAt(high);
        if (offset === last) continue;
        while (high - low > 1) {
            const middle = Math.floor((low + high) / 2);
            if (offsetAt(middle) === offset) high = middle;
            else low = middle;
        }
        offsets.push([high, offset]);
        last = offset;
    }
    return offsets;
}
