/** Throws an error that shows these values, unless the condition holds. */
export function must(condition, ...what) {
    if (condition) return;
    throw new Error(what.map((part) => (typeof part === "string" ? part : JSON.stringify(part))).join(" "));
}
