/**
 * What a chat list needs, without a view: the layout, the reporter that tells where the reader is, and the groups of messages. The
 * rules are in docs/timeline.md.
 *
 * @module list
 *
 * @typedef {import("./timeline.js").Row} Row
 * @typedef {import("./list-layout.js").ListLayout} Layout
 * @typedef {import("./list-layout.js").LayoutOptions} LayoutOptions
 * @typedef {import("./list-layout.js").Anchor} Anchor
 *
 * @typedef {{before: "idle" | "loading" | "failed" | "end", after: "idle" | "loading" | "failed" | "end"}} Edges The states of the
 *   edges, as a view has them.
 * @typedef {{event: "viewport", at_bottom: boolean, last_visible: number | null} | {event: "near", edge: "before" | "after"}} ReaderEvent
 */

export { ListLayout } from "./list-layout.js";

/** Tells the timeline, or a room, where the reader is. */
export class ListReporter {
    /** The last `viewport`, as text. */
    #told = "";
    #near = { before: false, after: false };

    /**
     * Returns what to tell after the reader has scrolled, or the layout has changed: `viewport` if it has changed, or the list was
     * placed anew; and `near` an edge that has more. An edge that has failed is told again when the reader comes back to it.
     *
     * @param {Layout} layout
     * @param {Edges} edges
     * @returns {ReaderEvent[]}
     */
    events(layout, edges) {
        /** @type {ReaderEvent[]} */
        const events = [];
        const { isAtBottom, lastVisible, placements } = layout;
        const told = [isAtBottom, lastVisible, placements].join();
        if (told !== this.#told) events.push({ event: "viewport", at_bottom: isAtBottom, last_visible: lastVisible });
        this.#told = told;
        for (const edge of /** @type {const} */ (["before", "after"])) {
            const isNear = layout.count > 0 && layout.isNear(edge);
            if (isNear && (edges[edge] === "idle" || (edges[edge] === "failed" && !this.#near[edge]))) events.push({ event: "near", edge });
            this.#near[edge] = isNear;
        }
        return events;
    }
}

/**
 * Returns the index of a row in an inverted list, whose first row is the newest; and back.
 *
 * @param {number} index
 * @param {number} count The number of rows.
 */
export const inverted = (index, count) => count - 1 - index;

/**
 * Returns the place of a message's row in its group: the messages one after the other of one sender and one minute. A list shows
 * the sender at the first of them, and the time at the last.
 *
 * @param {readonly Row[]} rows
 * @param {number} index
 * @returns {{isFirst: boolean, isLast: boolean}} Both true for a line between messages, and for a deleted or folded message.
 */
export function groupPlace(rows, index) {
    return { isFirst: !isTogether(rows[index - 1], rows[index]), isLast: !isTogether(rows[index], rows[index + 1]) };
}

/**
 * @param {Row | undefined} one
 * @param {Row | undefined} other
 */
function isTogether(one, other) {
    const [first, second] = [one, other].map((row) => (row?.state === "stored" && !row.folded ? row.message : undefined));
    return first !== undefined && second !== undefined && first.sender === second.sender && minuteOf(first) === minuteOf(second);
}

/** @param {import("./timeline-events.js").Message} message */
const minuteOf = ({ created_at }) => Math.floor(Date.parse(created_at) / 60_000);
