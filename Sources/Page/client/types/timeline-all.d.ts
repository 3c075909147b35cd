export * from "./timeline.js";
export { apply, difference } from "./timeline-difference.js";
