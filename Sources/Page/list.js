/**
 * A list of rows of unknown heights, with only the rows near the screen in the document.
 *
 * `ListLayout` of the package knows where each row is, and the offset at which the row that is read stays in place. This module
 * draws the rows near that offset, measures them, and scrolls there before the screen is drawn. Two spacers stand for the rows
 * outside the document.
 *
 * @module list
 */

import { ListLayout } from "./client/list-layout.js";

/** The area to draw beyond each edge of the screen, in screens. */
const OVERSCAN = 1;
/** Maximum number of rows created in a frame, unless more are on the screen. Later frames create the rest. */
const ROWS_AT_ONCE = 6;
/** Time without fast scrolling after which the list is at rest, in milliseconds. */
const REST_MILLISECONDS = 100;
/** The estimated heights of a message and of a line between messages that have not been measured, in CSS pixels. */
const ESTIMATE = 40;
const LINE_ESTIMATE = 41;
/** Maximum distance from the end that counts as the bottom, in CSS pixels. Zoomed pages have fractions of pixels. */
const BOTTOM_SLACK = 4;
/** The keys that the layout has for the lines above the first row and below the last, which say whether more is loaded. */
const EDGES = ["edge/before", "edge/after"];
/**
 * Maximum height of a spacer, in CSS pixels. Browsers compute positions with limited precision: at ten million pixels a row
 * could be a whole pixel off. The rows beyond become reachable as the reader gets nearer.
 */
const MAXIMUM_SPACER = 1_000_000;

/**
 * @typedef {import("./client/index.js").Row} Row
 *
 * @typedef {readonly (readonly Row[])[]} Chunks
 */

/**
 * Rounds a length to what sums of lengths keep without an error.
 *
 * @param {number} pixels
 */
const exact = (pixels) => Math.round(pixels * 64) / 64;

export class List {
    #scroller;
    #content;
    #top;
    #bottom;
    #edges;
    #draw;
    #onMove;
    #onScroll;
    /** @type {Chunks} The rows as given. */
    #chunks = [];
    /** @type {Map<string, Row>} The same, by key. */
    #rows = new Map();
    /** @type {Map<string, Drawn>} The rows in the document, by key. */
    #drawn = new Map();
    /** @type {Drawn[]} The same, from top to bottom. */
    #order = [];
    /** Their indices in the layout, in which the line above the first row has index 0. */
    #range = [1, 1];
    /** The number of rows that may still be created in this frame. */
    #allowance = ROWS_AT_ONCE;
    /** @type {CSSNumberish | null} The time of the last frame in which rows were drawn. */
    #frame = null;
    /** The frame request for drawing; 0 if everything is drawn. */
    #pending = 0;
    /** @type {number | undefined} The timer that removes the mark of fast scrolling. */
    #resting = undefined;
    #isWhole = false;
    /** The heights of all rows above and below those in the document, and of their spacers. */
    #above = spacer(0);
    #below = spacer(0);
    #observer;
    /** The last position that the list itself has set. The scroll event for it is ignored. */
    #position = 0;
    #screenHeight;

    /**
     * @typedef {{key: string, row: Row, before: Row | undefined, after: Row | undefined, node: HTMLElement, isStale: boolean}} Drawn A
     *   row as drawn, with the rows above and below it.
     *
     * @param {HTMLElement} scroller The element that scrolls.
     * @param {HTMLElement} content The element within it that gets the rows, between the lines that say whether more is loaded.
     * @param {(row: Row, before: Row | undefined, after: Row | undefined, old: HTMLElement | undefined) => HTMLElement} draw Creates the
     *   element of a row, or changes the old one. `before` is the row above, `after` the one below.
     * @param {() => void} onMove Called when the reader has moved, or the list has changed.
     * @param {() => void} onScroll Called when the reader scrolls.
     */
    constructor(scroller, content, draw, onMove, onScroll) {
        this.#scroller = scroller;
        this.#content = content;
        this.#draw = draw;
        this.#onMove = onMove;
        this.#onScroll = onScroll;
        this.#top = document.createElement("div");
        this.#bottom = document.createElement("div");
        content.replaceChildren(this.#top, this.#bottom);
        this.#edges = /** @type {Element[]} */ ([content.previousElementSibling, content.nextElementSibling]);
        this.#screenHeight = scroller.clientHeight;
        /** Where the rows are, and where the reader is. */
        this.layout = new ListLayout({ height: this.#screenHeight, estimate: ESTIMATE, lineEstimate: LINE_ESTIMATE, slack: BOTTOM_SLACK });
        const lines = EDGES.map((key, index) => ({ row: { key }, index }));
        this.layout.apply({ removed: [], moved: [], inserted: lines, updated: [] }, { isEnd: false });
        this.#observer = new ResizeObserver((entries) => {
            // The observer also reports each row that was just measured while it was drawn.
            if (entries.every((entry) => this.#isKnown(entry))) return;
            this.#settleMoved();
        });
        this.#observer.observe(scroller);
        scroller.addEventListener("scroll", this.#scrolled, { passive: true });
    }

    close() {
        this.#observer.disconnect();
        cancelAnimationFrame(this.#pending);
        clearTimeout(this.#resting);
        delete this.#scroller.dataset.scrolling;
        this.#scroller.removeEventListener("scroll", this.#scrolled);
        this.#content.replaceChildren();
    }

    /**
     * Shows other rows. Rows that are the same objects, between the same rows, are not redrawn.
     *
     * @param {Chunks} chunks The rows in arrays. An array that is the same object as before is not examined.
     * @param {boolean} isEnd True if only new messages can follow these rows. Only then does a reader at the bottom stay there.
     * @param {string | null} scrollTo The row that the list scrolls to next, or `"bottom"`; null if it does not scroll. Without
     *   `"bottom"`, newer messages leave a reader at the bottom where they are.
     */
    update(chunks, isEnd, scrollTo) {
        this.#noteMove();
        const wasAtBottom = this.layout.anchor === "bottom";
        const isSame = chunks === this.#chunks && scrollTo !== "bottom";
        this.layout.apply(this.#differenceTo(chunks), { isEnd, scroll: scrollTo === "bottom" ? scrollTo : null });
        if (isSame) return;
        this.#settle();
        if (wasAtBottom && scrollTo === null && this.layout.anchor !== "bottom") this.#moveCutLine();
    }

    /**
     * Moves a line between messages to below the lower edge of the screen if the edge would cut its text. A reader who is
     * elsewhere must not be scrolled, and would find half of "New messages".
     */
    #moveCutLine() {
        const edge = this.#scroller.getBoundingClientRect().bottom;
        for (const { row, node } of this.#order) {
            if (row.state) continue;
            const { top, bottom } = node.getBoundingClientRect();
            const { paddingTop, paddingBottom } = getComputedStyle(node);
            if (top + parseFloat(paddingTop) >= edge || bottom - parseFloat(paddingBottom) <= edge) continue;
            node.style.paddingTop = `${Math.ceil(edge - top)}px`;
            this.#settle();
            return;
        }
    }

    /**
     * Scrolls to a row.
     *
     * @param {string} key
     * @param {number} share The position on the screen: 0 at the top, 0.5 in the middle.
     */
    scrollTo(key, share) {
        // The row may be taller than was estimated.
        for (let times = 0; times < 2; times++) {
            this.layout.scrollTo(key, share);
            this.#settle();
        }
    }

    /**
     * Draws all rows, for a printer, or again only those near the screen.
     *
     * @param {boolean} isWhole
     */
    setWhole(isWhole) {
        this.#isWhole = isWhole;
        this.#settleMoved();
    }

    /** The first visible message with a `seq`, and its distance from the top; null if there is none. */
    get place() {
        const { top } = this.#scroller.getBoundingClientRect();
        for (const { row: { seq }, node } of this.#order) {
            const box = node.getBoundingClientRect();
            if (seq !== undefined && box.bottom > top) return { seq, offset: box.top - top };
        }
        return null;
    }

    /**
     * Redraws rows whose row objects are the same; all rows if no keys are given.
     *
     * @param {Iterable<string>} [keys]
     */
    redraw(keys = this.#drawn.keys()) {
        let isNeeded = false;
        for (const key of keys) {
            const drawn = this.#drawn.get(key);
            if (!drawn) continue;
            drawn.isStale = true;
            isNeeded = true;
        }
        if (isNeeded) this.#settleMoved();
    }

    /**
     * Returns the element of a row, if it is in the document.
     *
     * @param {string} key
     */
    node(key) {
        return this.#drawn.get(key)?.node;
    }

    /**
     * Returns a row that is in the document.
     *
     * @param {string} key
     */
    row(key) {
        return this.#drawn.get(key)?.row;
    }

    /** The rows that are in the document. */
    get rows() {
        return this.#order.map(({ row }) => row);
    }

    // The rows

    /**
     * Takes the rows, and returns what has changed. A line between messages, and an unsent message, counts as moved if its chunk
     * has changed.
     *
     * @param {Chunks} chunks
     */
    #differenceTo(chunks) {
        const [before, after] = [new Set(this.#chunks), new Set(chunks)];
        this.#chunks = chunks;
        const gone = new Map([...before].flatMap((rows) => (after.has(rows) ? [] : rows.map((row) => [row.key, row]))));
        /** @type {{row: Row, index: number}[]} */
        const inserted = [];
        const kept = [];
        let start = 1;
        for (const rows of chunks) {
            for (const [place, row] of before.has(rows) ? [] : rows.entries()) {
                const old = gone.get(row.key);
                gone.delete(row.key);
                this.#rows.set(row.key, row);
                const index = start + place;
                if (!old) inserted.push({ row, index });
                else if (old.seq === undefined) kept.push({ row, key: row.key, index });
            }
            start += rows.length;
        }
        for (const key of gone.keys()) this.#rows.delete(key);
        return { removed: [...gone.keys()], moved: kept, inserted, updated: kept.map(({ row }) => row) };
    }

    /**
     * Returns the row at an index of the layout; undefined beyond the ends.
     *
     * @param {number} index
     */
    #rowAt(index) {
        return this.#rows.get(this.layout.keyAt(index) ?? "");
    }

    // The place that is read

    #scrolled = () => {
        if (!this.#noteMove()) return;
        this.#onScroll();
        // In most cases the rows that come into view are in the document already. Fast scrolling passes over them in a frame.
        if (this.#scroller.dataset.scrolling === undefined && this.#isDrawn(this.#near(OVERSCAN / 2))) return this.#onMove();
        // Drawing joins the other work of this frame, so that a frame draws once.
        this.#goOn();
    };

    /**
     * Tells the layout how far the reader has scrolled since the list was placed. The scroll event comes a frame later, and a row that
     * changes its height meanwhile must not take the reader back. Returns false if the reader has not scrolled.
     */
    #noteMove() {
        const { scrollTop, scrollHeight, clientHeight } = this.#scroller;
        const moved = scrollTop - this.#position;
        if (Math.abs(moved) < 0.5) return false;
        this.#noteSpeed(moved);
        this.#position = scrollTop;
        const below = scrollHeight - clientHeight - scrollTop;
        // Within a spacer that is shorter than its rows, each pixel stands for several.
        const missed = missing(this.#below, below) - missing(this.#above, scrollTop);
        const isLast = below < 2 && this.#range[1] === this.layout.count - 1;
        this.layout.scroll(isLast ? Infinity : exact(this.layout.offset + moved + missed));
        return true;
    }

    /**
     * Returns true if the rows of a range are in the document.
     *
     * @param {[start: number, end: number]} range
     */
    #isDrawn([start, end]) {
        return start >= this.#range[0] && end <= this.#range[1];
    }

    /**
     * Returns the indices of the rows on the screen, and this many screens beyond its edges.
     *
     * @param {number} screens
     * @returns {[start: number, end: number]}
     */
    #near(screens) {
        const last = this.layout.count - 1;
        const [start, end] = this.#isWhole ? [1, last] : this.layout.range(screens * this.#screenHeight);
        return [Math.min(Math.max(start, 1), last), Math.max(Math.min(end, last), 1)];
    }

    // Drawing

    /** Draws the rows near the offset, and scrolls there. */
    #settle() {
        cancelAnimationFrame(this.#pending);
        this.#pending = 0;
        const frame = document.timeline.currentTime;
        if (frame !== this.#frame) this.#allowance = ROWS_AT_ONCE;
        this.#frame = frame;
        const { clientHeight } = this.#scroller;
        if (clientHeight !== this.#screenHeight) this.layout.resize({ height: clientHeight });
        this.#screenHeight = clientHeight;
        // Heights that differ from the estimates change the set of rows that are near.
        for (let round = 0; round < 9; round++) {
            const range = this.#wanted();
            if (round > 0 && this.#isDrawn(range)) break;
            this.#drawRange(range);
            if (!this.#measure()) break;
        }
        this.#place();
        this.#onMove();
    }

    /**
     * Returns the indices of the rows to have in the document: those that will be on the screen, and one screen on either side. If
     * that needs more new rows than one frame may create, the rows farthest from the screen wait for the next frame.
     *
     * @returns {[start: number, end: number]}
     */
    #wanted() {
        const [first, last] = this.#near(OVERSCAN);
        let [start, end] = this.#near(0);
        let allowance = this.#allowance;
        const take = (/** @type {number} */ index) => this.#drawn.has(this.layout.keyAt(index) ?? "") || allowance-- > 0;
        for (let index = start; index < end; index++) take(index);
        let [goesUp, goesDown] = [true, true];
        while (goesUp || goesDown) {
            goesUp = start > first && take(start - 1);
            if (goesUp) start--;
            goesDown = end < last && take(end);
            if (goesDown) end++;
        }
        if (start > first || end < last) this.#goOn();
        return [start, end];
    }

    /** Draws in the next frame, or in this one if nothing has been drawn in it. */
    #goOn() {
        this.#pending ||= requestAnimationFrame(() => {
            this.#pending = 0;
            if (this.#frame === document.timeline.currentTime) this.#goOn();
            else this.#settleMoved();
        });
    }

    /**
     * Marks the scrolling element while a frame brings more than half a screen into view. The style sheet makes its rows cheaper.
     *
     * @param {number} moved
     */
    #noteSpeed(moved) {
        if (Math.abs(moved) < this.#scroller.clientHeight / 2) return;
        clearTimeout(this.#resting);
        this.#scroller.dataset.scrolling = "";
        this.#resting = setTimeout(() => delete this.#scroller.dataset.scrolling, REST_MILLISECONDS);
    }

    #settleMoved() {
        this.#noteMove();
        this.#settle();
    }

    /** @param {[start: number, end: number]} range */
    #drawRange([start, end]) {
        const rows = Array.from({ length: end - start }, (_, index) => /** @type {Row} */ (this.#rowAt(start + index)));
        const wanted = new Set(rows.map(({ key }) => key));
        // Removed first, so that the remaining rows need not move past them.
        for (const [key, { node }] of this.#drawn) if (!wanted.has(key)) this.#erase(key, node);
        const order = [];
        let next = this.#top.nextSibling;
        let before = this.#rowAt(start - 1);
        const beyond = this.#rowAt(end);
        for (const [index, row] of rows.entries()) {
            const isNext = this.node(row.key) === next;
            const drawn = this.#drawnRow(row, before, rows[index + 1] ?? beyond);
            if (isNext) next = drawn.node.nextSibling;
            else this.#content.insertBefore(drawn.node, next);
            order.push(drawn);
            before = row;
        }
        this.#order = order;
        this.#range = [start, end];
        this.#setSpacers();
    }

    /**
     * Returns a row as drawn. Creates or changes its element if necessary.
     *
     * @param {Row} row
     * @param {Row | undefined} before
     * @param {Row | undefined} after
     */
    #drawnRow(row, before, after) {
        let drawn = this.#drawn.get(row.key);
        if (!drawn) {
            drawn = { key: row.key, row, before, after, node: this.#draw(row, before, after, undefined), isStale: false };
            this.#drawn.set(row.key, drawn);
            this.#observer.observe(drawn.node);
            this.#allowance--;
        } else if (drawn.row !== row || drawn.before !== before || drawn.after !== after || drawn.isStale) {
            const old = drawn.node;
            // Drawing may itself replace the old element by the new one.
            const node = this.#draw(row, before, after, old);
            if (node !== old) {
                this.#observer.unobserve(old);
                this.#observer.observe(node);
                if (old.isConnected) old.replaceWith(node);
            }
            Object.assign(drawn, { row, before, after, node, isStale: false });
        }
        return drawn;
    }

    /**
     * @param {string} key
     * @param {HTMLElement} node
     */
    #erase(key, node) {
        // If the row has the focus, the list gets it, so that keys continue to scroll.
        if (node.contains(document.activeElement)) this.#scroller.focus({ preventScroll: true });
        this.#observer.unobserve(node);
        node.remove();
        this.#drawn.delete(key);
    }

    /**
     * Measures the rows in the document.
     *
     * @returns {boolean} True if a row's height has changed.
     */
    #measure() {
        const nodes = [...this.#edges.map((node, index) => ({ key: EDGES[index], node })), ...this.#order];
        return this.layout.measure(nodes.map(({ key, node }) => [key, exact(node.getBoundingClientRect().height)]));
    }

    /**
     * Returns true if a change of size belongs to a row that was measured since then.
     *
     * @param {ResizeObserverEntry} entry
     */
    #isKnown({ target, borderBoxSize }) {
        const { key = "" } = /** @type {HTMLElement} */ (target).dataset;
        return this.layout.frame(key)?.height === exact(borderBoxSize[0].blockSize);
    }

    /** Sets the heights of the spacers to those of the rows that are not drawn, up to the maximum. */
    #setSpacers() {
        const [start, end] = this.#range;
        this.#above = spacer(this.#topAt(start) - this.#topAt(1));
        this.#below = spacer(this.#topAt(this.layout.count - 1) - this.#topAt(end));
        this.#top.style.height = `${this.#above.spacer}px`;
        this.#bottom.style.height = `${this.#below.spacer}px`;
    }

    /** @param {number} index */
    #topAt(index) {
        return this.layout.frame(this.layout.keyAt(index) ?? "")?.top ?? 0;
    }

    #place() {
        const scroller = this.#scroller;
        if (this.layout.anchor === "bottom") {
            scroller.scrollTop = scroller.scrollHeight;
        } else {
            const position = this.layout.offset - this.#above.rows + this.#above.spacer;
            // A distance below a device pixel is only rounding.
            if (Math.abs(position - scroller.scrollTop) > 0.25) scroller.scrollTop = position;
        }
        this.#position = scroller.scrollTop;
    }
}

/**
 * A spacer for rows of a height.
 *
 * @param {number} rows
 */
const spacer = (rows) => ({ rows, spacer: Math.min(rows, MAXIMUM_SPACER) });

/**
 * Returns the height of the rows that a spacer leaves out in the part of it that the screen has reached.
 *
 * @param {ReturnType<typeof spacer>} spacer
 * @param {number} left The distance from the screen to the end of the list.
 */
const missing = ({ rows, spacer }, left) => (left < spacer ? (1 - left / spacer) * (rows - spacer) : 0);
