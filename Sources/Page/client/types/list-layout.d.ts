export class ListLayout {
    /** @param {LayoutOptions} options */
    constructor({ height, inset, estimate, lineEstimate, slack }: LayoutOptions);
    /** Number of times that the list was scrolled to a target, or filled. */
    placements: number;
    /** The number of rows. */
    get count(): number;
    /** The sum of the heights of all rows. */
    get contentHeight(): number;
    /** The distance from the top of the first row to the top of the screen: what a view scrolls to. */
    get offset(): number;
    /** The highest offset, at which the last row ends above the keyboard. */
    get maximumOffset(): number;
    /** @returns {Anchor} */
    get anchor(): Anchor;
    /** True if the end of the list is in sight. */
    get isAtBottom(): boolean;
    /**
     * Returns true if less than two screens are left above or below.
     *
     * @param {"before" | "after"} edge
     */
    isNear(edge: "before" | "after", screens?: number): boolean;
    /** The `seq` of the last message that is completely in sight, or fills the screen; null if there is none. */
    get lastVisible(): number | null;
    /**
     * Returns the key of the row at an index.
     *
     * @param {number} index
     * @returns {string | undefined}
     */
    keyAt(index: number): string | undefined;
    /**
     * Returns where a row is; undefined if the list has none with this key.
     *
     * @param {string} key
     */
    frame(key: string): {
        height: number;
        isMeasured: boolean;
        index: number;
        top: number;
    } | undefined;
    /**
     * Returns the indices of the rows that a view must draw: those in sight, and beyond each edge of the screen.
     *
     * @param {number} [margin] The height beyond each edge.
     * @returns {[start: number, end: number]} `end` is the index after the last row.
     */
    range(margin?: number | undefined): [start: number, end: number];
    /**
     * Takes the difference of two views. The anchor stays in place. A reader at the bottom stays there when rows change, but not
     * when newer messages come: `scroll` says if these are followed.
     *
     * @param {Pick<Difference, "removed"> & {moved: readonly {key: string, index: number}[],
     *   inserted: readonly {row: Pick<Row, "key" | "seq" | "state">, index: number}[], updated: readonly Pick<Row, "key" | "seq" | "state">[]}} difference
     * @param {{isEnd: boolean, scroll?: string | null, share?: number}} options `isEnd` is true if the room ends with these rows: `after` is
     *   `end`. `scroll` is the target of the view's `scroll`, and `share` as for `scrollTo`.
     */
    apply({ removed, moved, inserted, updated }: Pick<Difference, "removed"> & {
        moved: readonly {
            key: string;
            index: number;
        }[];
        inserted: readonly {
            row: Pick<Row, "key" | "seq" | "state">;
            index: number;
        }[];
        updated: readonly Pick<Row, "key" | "seq" | "state">[];
    }, { isEnd, scroll, share }: {
        isEnd: boolean;
        scroll?: string | null;
        share?: number;
    }): void;
    /**
     * Takes the heights of rows that were drawn. The anchor stays in place.
     *
     * @param {Iterable<readonly [key: string, height: number]>} heights
     * @returns {boolean} True if a height was another one.
     */
    measure(heights: Iterable<readonly [key: string, height: number]>): boolean;
    /**
     * Takes the offset to which the reader has scrolled. The first message in sight becomes the anchor, or the bottom.
     *
     * @param {number} offset
     */
    scroll(offset: number): void;
    /**
     * Scrolls to the bottom, and stays there; or to a row. Does nothing if there is no such row.
     *
     * @param {string} to `"bottom"`, or a row's key.
     * @param {number} [share] The position of the row's top on the screen: 0 at the top, 0.5 in the middle. A tall row is placed
     *   higher, so that as much of it as possible is in sight.
     */
    scrollTo(to: string, share?: number | undefined): void;
    /**
     * Changes the size of the screen's list. What is in sight at the top stays, but the keyboard moves what is in sight at the bottom
     * with it. A reader at the bottom stays there.
     *
     * @param {{height?: number, inset?: number}} size
     */
    resize({ height, inset }: {
        height?: number;
        inset?: number;
    }): void;
    #private;
}
/**
 * The layout of a chat's list without a view: where each row is, and where the reader is. The rules are in docs/timeline.md.
 * Sources/Timeline/ListLayout.swift is the same in Swift.
 *
 * The rows are the nodes of a balanced tree. Each knows the number and the height of the rows below it, so finding, inserting,
 * removing or measuring one of n rows takes O(log n) steps.
 *
 * All lengths are integers in a unit of the host's choice, such as a 64th of a pixel, so that sums are exact.
 */
export type Row = import("./timeline.js").Row;
/**
 * The layout of a chat's list without a view: where each row is, and where the reader is. The rules are in docs/timeline.md.
 * Sources/Timeline/ListLayout.swift is the same in Swift.
 *
 * The rows are the nodes of a balanced tree. Each knows the number and the height of the rows below it, so finding, inserting,
 * removing or measuring one of n rows takes O(log n) steps.
 *
 * All lengths are integers in a unit of the host's choice, such as a 64th of a pixel, so that sums are exact.
 */
export type Difference = import("./timeline-difference.js").Difference;
/**
 * What stays in place: the end of the list, or
 * the top of a row at a distance from the top of the screen. Null in an empty list.
 */
export type Anchor = "bottom" | {
    readonly key: string;
    readonly distance: number;
} | null;
/**
 * The layout of a chat's list without a view: where each row is, and where the reader is. The rules are in docs/timeline.md.
 * Sources/Timeline/ListLayout.swift is the same in Swift.
 *
 * The rows are the nodes of a balanced tree. Each knows the number and the height of the rows below it, so finding, inserting,
 * removing or measuring one of n rows takes O(log n) steps.
 *
 * All lengths are integers in a unit of the host's choice, such as a 64th of a pixel, so that sums are exact.
 */
export type LayoutOptions = {
    /**
     * The height of the screen's list, with what the keyboard covers.
     */
    height: number;
    /**
     * The height that the keyboard covers at the lower edge; by default 0.
     */
    inset?: number | undefined;
    /**
     * The height of a message that has not been measured.
     */
    estimate: number;
    /**
     * That of a line between messages; by default the same.
     */
    lineEstimate?: number | undefined;
    /**
     * Maximum distance from the end that counts as the bottom; by default 0.
     */
    slack?: number | undefined;
};
