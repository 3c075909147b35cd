/**
 * The machine of a chat screen, and the difference between two of its views: `backscroll/timeline`.
 *
 * @module timeline-all
 */

export * from "./timeline.js";
export { apply, difference } from "./timeline-difference.js";
