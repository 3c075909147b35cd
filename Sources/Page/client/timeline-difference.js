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
export function difference(before, after) {
    const old = before.rows;
    const now = after.rows;
    /** @type {Difference} */
    const result = { removed: [], moved: [], inserted: [], updated: [] };

    // Most changes are in one place, so the equal rows before and after it are skipped.
    let start = 0;
    while (start < old.length && start < now.length && old[start].key === now[start].key) start++;
    let oldEnd = old.length;
    let nowEnd = now.length;
    while (oldEnd > start && nowEnd > start && old[oldEnd - 1].key === now[nowEnd - 1].key) {
        oldEnd--;
        nowEnd--;
    }

    /** @type {Map<string, number>} */
    const places = new Map();
    for (let index = start; index < oldEnd; index++) places.set(old[index].key, index);

    /** @type {Kept[]} */
    const kept = [];
    for (let index = start; index < nowEnd; index++) {
        const from = places.get(now[index].key);
        if (from === undefined) {
            result.inserted.push({ row: now[index], index });
        } else {
            kept.push({ row: now[index], index, from, mayMove: old[from].seq === undefined });
            places.delete(now[index].key);
            if (!sameContent(old[from], now[index])) result.updated.push(now[index]);
        }
    }
    result.removed = [...places.keys()];
    for (const { row, index, from } of outOfOrder(kept)) {
        const { key } = row;
        if (isLine(old[from])) {
            result.removed.push(key);
            result.inserted.push({ row, index });
        } else {
            result.moved.push({ key, index });
        }
    }
    result.inserted.sort((one, other) => one.index - other.index);

    for (let index = 0; index < start; index++) {
        if (!sameContent(old[index], now[index])) result.updated.push(now[index]);
    }
    for (let index = nowEnd; index < now.length; index++) {
        if (!sameContent(old[index - nowEnd + oldEnd], now[index])) result.updated.push(now[index]);
    }
    return result;
}

/**
 * Returns the later rows, given the earlier ones. List views do the same with their own items.
 *
 * @param {readonly Row[]} rows
 * @param {Difference} difference
 * @returns {Row[]}
 */
export function apply(rows, { removed, moved, inserted, updated }) {
    const byKey = new Map(rows.map((row) => [row.key, row]));
    const gone = new Set([...removed, ...moved.map(({ key }) => key)]);
    const result = rows.filter(({ key }) => !gone.has(key));
    const added = [...inserted, ...moved.map(({ key, index }) => ({ row: /** @type {Row} */ (byKey.get(key)), index }))];
    for (const { row, index } of added.sort((one, other) => one.index - other.index)) result.splice(index, 0, row);
    const anew = new Map(updated.map((row) => [row.key, row]));
    return result.map((row) => anew.get(row.key) ?? row);
}

/**
 * @param {Row} one
 * @param {Row} other
 */
function sameContent(one, other) {
    return one === other
        || (one.seq === other.seq && one.rev === other.rev && one.state === other.state && one.code === other.code && one.folded === other.folded);
}

/**
 * True for a day line and the unread line. They have no `seq`, like a row of the outbox, but no state either.
 *
 * @param {Row} row
 */
function isLine({ state }) {
    return state === undefined;
}

/**
 * Returns the smallest set of rows that must move. Stored messages keep their relative order.
 *
 * @param {Kept[]} kept
 */
function outOfOrder(kept) {
    if (kept.every(({ from }, index) => index === 0 || kept[index - 1].from < from)) return [];
    const inOrder = new Set(longestAscent(kept.filter(standsRight(kept))));
    return kept.filter((row) => !inOrder.has(row));
}

/**
 * Returns a filter of rows: the stored messages, and the other rows that are between the same two messages as before.
 *
 * @param {Kept[]} kept
 */
function standsRight(kept) {
    const lowest = new Map();
    const highest = new Map();
    let above = -1;
    for (const row of kept) {
        lowest.set(row, above);
        if (!row.mayMove) above = row.from;
    }
    let below = Infinity;
    for (const row of [...kept].reverse()) {
        highest.set(row, below);
        if (!row.mayMove) below = row.from;
    }
    return (/** @type {Kept} */ row) => !row.mayMove || (lowest.get(row) < row.from && row.from < highest.get(row));
}

/**
 * Returns a longest subsequence of these rows whose `from` ascends.
 *
 * @param {Kept[]} rows
 */
function longestAscent(rows) {
    // ends[n] is the row with the lowest `from` that ends an ascending sequence of n + 1 rows.
    /** @type {Kept[]} */
    const ends = [];
    const previous = new Map();
    for (const row of rows) {
        let low = 0;
        let high = ends.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (ends[middle].from < row.from) low = middle + 1;
            else high = middle;
        }
        previous.set(row, ends[low - 1]);
        ends[low] = row;
    }
    /** @type {Kept[]} */
    const ascent = [];
    for (let row = ends.at(-1); row !== undefined; row = previous.get(row)) ascent.push(row);
    return ascent;
}
