/**
 * Returns the place of a message's row in its group: the messages one after the other of one sender and one minute. A list shows
 * the sender at the first of them, and the time at the last.
 *
 * @param {readonly Row[]} rows
 * @param {number} index
 * @returns {{isFirst: boolean, isLast: boolean}} Both true for a line between messages, and for a deleted or folded message.
 */
export function groupPlace(rows: readonly Row[], index: number): {
    isFirst: boolean;
    isLast: boolean;
};
export { ListLayout } from "./list-layout.js";
/** Tells the timeline, or a room, where the reader is. */
export class ListReporter {
    /**
     * Returns what to tell after the reader has scrolled, or the layout has changed: `viewport` if it has changed, or the list was
     * placed anew; and `near` an edge that has more. An edge that has failed is told again when the reader comes back to it.
     *
     * @param {Layout} layout
     * @param {Edges} edges
     * @returns {ReaderEvent[]}
     */
    events(layout: Layout, edges: Edges): ReaderEvent[];
    #private;
}
export function inverted(index: number, count: number): number;
/**
 * What a chat list needs, without a view: the layout, the reporter that tells where the reader is, and the groups of messages. The
 * rules are in docs/timeline.md.
 */
export type Row = import("./timeline.js").Row;
/**
 * What a chat list needs, without a view: the layout, the reporter that tells where the reader is, and the groups of messages. The
 * rules are in docs/timeline.md.
 */
export type Layout = import("./list-layout.js").ListLayout;
/**
 * What a chat list needs, without a view: the layout, the reporter that tells where the reader is, and the groups of messages. The
 * rules are in docs/timeline.md.
 */
export type LayoutOptions = import("./list-layout.js").LayoutOptions;
/**
 * What a chat list needs, without a view: the layout, the reporter that tells where the reader is, and the groups of messages. The
 * rules are in docs/timeline.md.
 */
export type Anchor = import("./list-layout.js").Anchor;
/**
 * The states of the
 * edges, as a view has them.
 */
export type Edges = {
    before: "idle" | "loading" | "failed" | "end";
    after: "idle" | "loading" | "failed" | "end";
};
/**
 * What a chat list needs, without a view: the layout, the reporter that tells where the reader is, and the groups of messages. The
 * rules are in docs/timeline.md.
 */
export type ReaderEvent = {
    event: "viewport";
    at_bottom: boolean;
    last_visible: number | null;
} | {
    event: "near";
    edge: "before" | "after";
};
