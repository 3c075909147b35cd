/**
 * The layout of a chat's list without a view: where each row is, and where the reader is. The rules are in docs/timeline.md.
 * Sources/Timeline/ListLayout.swift is the same in Swift.
 *
 * The rows are the nodes of a balanced tree. Each knows the number and the height of the rows below it, so finding, inserting,
 * removing or measuring one of n rows takes O(log n) steps.
 *
 * All lengths are integers in a unit of the host's choice, such as a 64th of a pixel, so that sums are exact.
 *
 * @module list-layout
 *
 * @typedef {import("./timeline.js").Row} Row
 * @typedef {import("./timeline-difference.js").Difference} Difference
 *
 * @typedef {"bottom" | {readonly key: string, readonly distance: number} | null} Anchor What stays in place: the end of the list, or
 *   the top of a row at a distance from the top of the screen. Null in an empty list.
 *
 * @typedef {object} LayoutOptions
 * @property {number} height The height of the screen's list, with what the keyboard covers.
 * @property {number} [inset] The height that the keyboard covers at the lower edge; by default 0.
 * @property {number} estimate The height of a message that has not been measured.
 * @property {number} [lineEstimate] That of a line between messages; by default the same.
 * @property {number} [slack] Maximum distance from the end that counts as the bottom; by default 0.
 */

/** The distance from an edge of the window at which its next page is loaded, in screens. */
const NEAR_SCREENS = 2;

/** A row in the tree. */
class Node {
    /** @type {Node | null} */
    left = null;
    /** @type {Node | null} */
    right = null;
    /** @type {Node | null} */
    parent = null;
    isMeasured = false;
    /** The number of rows of this subtree, and the sum of their heights. */
    count = 1;
    total = 0;

    /**
     * @param {Pick<Row, "key" | "seq" | "state">} row
     * @param {number} height
     * @param {number} priority A random number. No child has a higher one, which keeps the tree balanced.
     */
    constructor(row, height, priority) {
        this.key = row.key;
        this.seq = row.seq;
        this.isLine = row.state === undefined;
        this.height = height;
        this.priority = priority;
    }

    /** Sums up the children, and is their parent. */
    refresh() {
        const { left, right } = this;
        this.count = 1 + (left?.count ?? 0) + (right?.count ?? 0);
        this.total = this.height + (left?.total ?? 0) + (right?.total ?? 0);
        if (left) left.parent = this;
        if (right) right.parent = this;
        return this;
    }

    /** The number of rows before this one, and the sum of their heights. */
    get above() {
        let index = this.left?.count ?? 0;
        let top = this.left?.total ?? 0;
        for (let { parent } = this, /** @type {Node} */ child = this; parent; child = parent, { parent } = parent) {
            if (parent.right !== child) continue;
            index += parent.count - child.count;
            top += parent.total - child.total;
        }
        return { index, top };
    }
}

/**
 * @param {Node | null} left
 * @param {Node | null} right The rows that follow.
 * @returns {Node | null}
 */
function join(left, right) {
    if (!left || !right) return left ?? right;
    if (left.priority > right.priority) {
        left.right = join(left.right, right);
        return left.refresh();
    }
    right.left = join(left, right.left);
    return right.refresh();
}

/**
 * Returns the first rows of a tree, and the others.
 *
 * @param {Node | null} node
 * @param {number} count
 * @returns {[Node | null, Node | null]}
 */
function split(node, count) {
    if (!node) return [null, null];
    const before = (node.left?.count ?? 0) + 1;
    if (count < before) {
        const [first, rest] = split(node.left, count);
        node.left = rest;
        return [first, node.refresh()];
    }
    const [first, rest] = split(node.right, count - before);
    node.right = first;
    return [node.refresh(), rest];
}

export class ListLayout {
    #height;
    #inset;
    #estimate;
    #lineEstimate;
    #slack;
    /** @type {Node | null} */
    #root = null;
    /** @type {Map<string, Node>} */
    #nodes = new Map();
    #random = 0x2545f491;
    #offset = 0;
    /** @type {"bottom" | {node: Node, distance: number} | null} */
    #anchor = null;
    /** True if only new messages can follow these rows. */
    #isEnd = false;
    /** Number of times that the list was scrolled to a target, or filled. */
    placements = 0;

    /** @param {LayoutOptions} options */
    constructor({ height, inset = 0, estimate, lineEstimate = estimate, slack = 0 }) {
        this.#height = height;
        this.#inset = inset;
        this.#estimate = estimate;
        this.#lineEstimate = lineEstimate;
        this.#slack = slack;
    }

    /** The number of rows. */
    get count() {
        return this.#nodes.size;
    }

    /** The sum of the heights of all rows. */
    get contentHeight() {
        return this.#root?.total ?? 0;
    }

    /** The distance from the top of the first row to the top of the screen: what a view scrolls to. */
    get offset() {
        return this.#offset;
    }

    /** The highest offset, at which the last row ends above the keyboard. */
    get maximumOffset() {
        return Math.max(0, this.contentHeight + this.#inset - this.#height);
    }

    /** @returns {Anchor} */
    get anchor() {
        if (this.#anchor === null || this.#anchor === "bottom") return this.#anchor;
        return { key: this.#anchor.node.key, distance: this.#anchor.distance };
    }

    /** True if the end of the list is in sight. */
    get isAtBottom() {
        return this.#offset >= this.maximumOffset - this.#slack;
    }

    /**
     * Returns true if less than two screens are left above or below.
     *
     * @param {"before" | "after"} edge
     */
    isNear(edge, screens = NEAR_SCREENS) {
        return (edge === "before" ? this.#offset : this.contentHeight - this.#edge) < screens * this.#height;
    }

    /** The `seq` of the last message that is completely in sight, or fills the screen; null if there is none. */
    get lastVisible() {
        for (let node = this.#nodeAt(this.#edge); node; ) {
            const { index, top } = node.above;
            const bottom = top + node.height;
            if (bottom <= this.#offset) return null;
            if (node.seq !== undefined && (bottom <= this.#edge || top <= this.#offset)) return node.seq;
            node = this.#at(index - 1);
        }
        return null;
    }

    /** The lower edge of what is in sight. */
    get #edge() {
        return this.#offset + this.#height - this.#inset;
    }

    // Rows

    /**
     * Returns the key of the row at an index.
     *
     * @param {number} index
     * @returns {string | undefined}
     */
    keyAt(index) {
        return this.#at(index)?.key;
    }

    /** @param {number} index */
    #at(index) {
        let node = this.#root;
        for (let rest = index; node; ) {
            const before = node.left?.count ?? 0;
            if (rest === before) break;
            if (rest < before) node = node.left;
            else [rest, node] = [rest - before - 1, node.right];
        }
        return node;
    }

    /**
     * Returns where a row is; undefined if the list has none with this key.
     *
     * @param {string} key
     */
    frame(key) {
        const node = this.#nodes.get(key);
        return node && { ...node.above, height: node.height, isMeasured: node.isMeasured };
    }

    /**
     * Returns the indices of the rows that a view must draw: those in sight, and beyond each edge of the screen.
     *
     * @param {number} [margin] The height beyond each edge.
     * @returns {[start: number, end: number]} `end` is the index after the last row.
     */
    range(margin = 0) {
        if (!this.#root) return [0, 0];
        const first = /** @type {Node} */ (this.#nodeAt(this.#offset - margin));
        const last = /** @type {Node} */ (this.#nodeAt(this.#offset + this.#height + margin - 1));
        return [first.above.index, last.above.index + 1];
    }

    /**
     * Returns the row at a distance from the top of the first one, or the nearest.
     *
     * @param {number} height
     * @returns {Node | null}
     */
    #nodeAt(height) {
        let node = this.#root;
        for (let rest = height; node; ) {
            const above = node.left?.total ?? 0;
            if (node.left && rest < above) {
                node = node.left;
            } else if (!node.right || rest < above + node.height) {
                return node;
            } else {
                rest -= above + node.height;
                node = node.right;
            }
        }
        return null;
    }

    // Changes

    /**
     * Takes the difference of two views. The anchor stays in place. A reader at the bottom stays there when rows change, but not
     * when newer messages come: `scroll` says if these are followed.
     *
     * @param {Pick<Difference, "removed"> & {moved: readonly {key: string, index: number}[],
     *   inserted: readonly {row: Pick<Row, "key" | "seq" | "state">, index: number}[], updated: readonly Pick<Row, "key" | "seq" | "state">[]}} difference
     * @param {{isEnd: boolean, scroll?: string | null, share?: number}} options `isEnd` is true if the room ends with these rows: `after` is
     *   `end`. `scroll` is the target of the view's `scroll`, and `share` as for `scrollTo`.
     */
    apply({ removed, moved, inserted, updated }, { isEnd, scroll = null, share = 0 }) {
        const newest = this.#newest;
        const wasAtBottom = this.#anchor === "bottom";
        if (wasAtBottom) this.#anchor = this.#inSight;
        const wasEmpty = this.#root === null;
        this.#leave(new Set([...removed, ...moved.map(({ key }) => key)]));
        for (const key of removed) this.#remove(key);
        const movedNodes = moved.map(({ key, index }) => ({ node: this.#remove(key), index }));
        const added = inserted.map(({ row, index }) => ({ node: this.#make(row), index }));
        for (const { node, index } of [...added, ...movedNodes].sort((one, other) => one.index - other.index)) {
            this.#nodes.set(node.key, node);
            const [before, after] = split(this.#root, index);
            this.#setRoot(join(join(before, node), after));
        }
        for (const row of updated) {
            const node = this.#nodes.get(row.key);
            if (node) node.seq = row.seq;
        }
        this.#isEnd = isEnd;
        if (wasAtBottom && isEnd && this.#newest <= newest) this.#anchor = "bottom";
        this.#settle();
        if (this.#anchor === null || wasAtBottom) this.#remember();
        if (wasEmpty) this.placements++;
        if (scroll !== null) this.scrollTo(scroll, share);
    }

    /**
     * Takes the heights of rows that were drawn. The anchor stays in place.
     *
     * @param {Iterable<readonly [key: string, height: number]>} heights
     * @returns {boolean} True if a height was another one.
     */
    measure(heights) {
        let hasChanged = false;
        for (const [key, height] of heights) {
            const node = this.#nodes.get(key);
            if (!node) continue;
            node.isMeasured = true;
            const growth = height - node.height;
            if (growth === 0) continue;
            hasChanged = true;
            node.height = height;
            for (let place = /** @type {Node | null} */ (node); place; place = place.parent) place.total += growth;
        }
        if (hasChanged) this.#settle();
        return hasChanged;
    }

    /**
     * Takes the offset to which the reader has scrolled. The first message in sight becomes the anchor, or the bottom.
     *
     * @param {number} offset
     */
    scroll(offset) {
        this.#offset = this.#clamped(offset);
        this.#remember();
    }

    /**
     * Scrolls to the bottom, and stays there; or to a row. Does nothing if there is no such row.
     *
     * @param {string} to `"bottom"`, or a row's key.
     * @param {number} [share] The position of the row's top on the screen: 0 at the top, 0.5 in the middle. A tall row is placed
     *   higher, so that as much of it as possible is in sight.
     */
    scrollTo(to, share = 0) {
        const node = this.#nodes.get(to);
        if (to !== "bottom" && !node) return;
        const visible = Math.max(0, this.#height - this.#inset);
        const highest = Math.max(0, visible - (node?.height ?? 0));
        this.#anchor = node ? { node, distance: Math.min(Math.floor(visible * share), highest) } : "bottom";
        this.placements++;
        this.#settle();
        if (this.#isEnd && this.isAtBottom) this.#anchor = "bottom";
    }

    /**
     * Changes the size of the screen's list. What is in sight at the top stays, but the keyboard moves what is in sight at the bottom
     * with it. A reader at the bottom stays there.
     *
     * @param {{height?: number, inset?: number}} size
     */
    resize({ height = this.#height, inset = this.#inset }) {
        const growth = inset - this.#inset;
        this.#height = height;
        this.#inset = inset;
        if (this.#anchor !== null && this.#anchor !== "bottom") this.#anchor.distance -= growth;
        this.#settle();
        this.#remember();
    }

    /** The highest `seq`. Only unsent messages follow the row that has it. */
    get #newest() {
        for (let index = this.count - 1; index >= 0; index--) {
            const seq = this.#at(index)?.seq;
            if (seq !== undefined) return seq;
        }
        return 0;
    }

    /** @param {Pick<Row, "key" | "seq" | "state">} row */
    #make(row) {
        // xorshift
        this.#random ^= this.#random << 13;
        this.#random ^= this.#random >>> 17;
        this.#random ^= this.#random << 5;
        return new Node(row, row.state === undefined ? this.#lineEstimate : this.#estimate, this.#random).refresh();
    }

    /** @param {Node | null} root */
    #setRoot(root) {
        this.#root = root;
        if (root) root.parent = null;
    }

    /**
     * Takes another anchor if its row is about to be removed: the next message that stays, or the one before.
     *
     * @param {Set<string>} gone
     */
    #leave(gone) {
        if (this.#anchor === null || this.#anchor === "bottom" || !gone.has(this.#anchor.node.key)) return;
        const { node, distance } = this.#anchor;
        const next = this.#message(node, 1, gone) ?? this.#message(node, -1, gone);
        this.#anchor = next && { node: next, distance: distance + next.above.top - node.above.top };
    }

    /** @param {string} key */
    #remove(key) {
        const node = /** @type {Node} */ (this.#nodes.get(key));
        const { index } = node.above;
        this.#nodes.delete(key);
        const [before, rest] = split(this.#root, index);
        this.#setRoot(join(before, split(rest, 1)[1]));
        node.left = node.right = node.parent = null;
        return node.refresh();
    }

    /**
     * Returns the next message above or below a row. Lines between messages are no anchors, because they may disappear.
     *
     * @param {Node} node
     * @param {1 | -1} step
     * @param {Set<string>} [gone] Keys of messages to pass over.
     */
    #message(node, step, gone) {
        let { index } = node.above;
        let next;
        do next = this.#at((index += step));
        while (next && (next.isLine || gone?.has(next.key)));
        return next;
    }

    /** The first message that is not completely above the screen, as an anchor. */
    get #inSight() {
        const first = this.#nodeAt(this.#offset);
        const node = first && (first.isLine ? this.#message(first, 1) ?? this.#message(first, -1) : first);
        return node && { node, distance: node.above.top - this.#offset };
    }

    #remember() {
        this.#anchor = this.#isEnd && this.isAtBottom && this.#root ? "bottom" : this.#inSight;
    }

    /** @param {number} offset */
    #clamped(offset) {
        return Math.min(Math.max(offset, 0), this.maximumOffset);
    }

    /** Moves the anchor to its place, or as near as the ends of the list let it. */
    #settle() {
        if (this.#anchor === "bottom") {
            this.#offset = this.maximumOffset;
        } else if (this.#anchor) {
            const { top } = this.#anchor.node.above;
            this.#offset = this.#clamped(top - this.#anchor.distance);
            this.#anchor.distance = top - this.#offset;
        } else {
            this.#offset = this.#clamped(this.#offset);
        }
    }
}
