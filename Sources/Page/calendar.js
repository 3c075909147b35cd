/**
 * The changes of the day and of the reader's time zone.
 *
 * @module calendar
 */

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
