/**
 * The difference of two views, for lists that insert, remove and update single rows.
 *
 * @typedef {import("./timeline.js").Row} Row
 *
 * @typedef {{row: Row, index: number, from: number, mayMove: boolean}} Kept A row of both views: its later and its earlier index.
 *
 * @typedef {object} Difference To apply it to the earlier rows: take out `removed` and `moved`, put in `moved` and
 *   `inserted` in ascending `index`, then replace `updated`.
 * @property {string[]} removed The keys of rows that were removed. A day line or the unread line that has moved is in `removed` and in
 *   `inserted`.
 * @property {{key: string, index: number}[]} moved Rows that have moved among the others, with their later index. Only
 *   a row of the outbox moves: to its place when it is stored, or to the end when the user sends it again.
 * @property {{row: Row, index: number}[]} inserted New rows, with their later index, ascending.
 * @property {Row[]} updated Rows with changed content.
 */
/**
 * Returns the difference of two views. Rows are compared by identity first, then by key: unchanged rows are the same objects in
 * both views.
 *
 * @param {{rows: readonly Row[]}} before
 * @param {{rows: readonly Row[]}} after
 * @returns {Difference}
 */
export function difference(before: {
    rows: readonly Row[];
}, after: {
    rows: readonly Row[];
}): Difference;
/**
 * Returns the later rows, given the earlier ones. List views do the same with their own items.
 *
 * @param {readonly Row[]} rows
 * @param {Difference} difference
 * @returns {Row[]}
 */
export function apply(rows: readonly Row[], { removed, moved, inserted, updated }: Difference): Row[];
/**
 * The difference of two views, for lists that insert, remove and update single rows.
 */
export type Row = import("./timeline.js").Row;
/**
 * A row of both views: its later and its earlier index.
 */
export type Kept = {
    row: Row;
    index: number;
    from: number;
    mayMove: boolean;
};
/**
 * To apply it to the earlier rows: take out `removed` and `moved`, put in `moved` and
 *  `inserted` in ascending `index`, then replace `updated`.
 */
export type Difference = {
    /**
     * The keys of rows that were removed. A day line or the unread line that has moved is in `removed` and in
     * `inserted`.
     */
    removed: string[];
    /**
     * Rows that have moved among the others, with their later index. Only
     * a row of the outbox moves: to its place when it is stored, or to the end when the user sends it again.
     */
    moved: {
        key: string;
        index: number;
    }[];
    /**
     * New rows, with their later index, ascending.
     */
    inserted: {
        row: Row;
        index: number;
    }[];
    /**
     * Rows with changed content.
     */
    updated: Row[];
};
