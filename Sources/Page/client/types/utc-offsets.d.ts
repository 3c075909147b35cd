/**
 * Returns the minutes east of UTC of the device's zone, each from its time on, as the timeline takes them. Before 1970 the first
 * one holds.
 *
 * @returns {[number | null, number][]}
 */
export function utcOffsets(now?: number): [number | null, number][];
