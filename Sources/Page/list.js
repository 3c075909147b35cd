/**
 * A list of rows of unknown heights, with only the rows near the screen in the document.
 *
 * The list keeps the row that is being read in place. It remembers an anchor: the first visible row, and its distance from the
 * top. When rows above change, a row's height changes or the window is resized, it moves that row back to its place before the
 * screen is drawn. A reader at the end of the room stays there when rows change, but not when newer messages come: it is for the
 * timeline to say if these are followed.
 *
 * Two spacers stand for the rows outside the document, with their measured or estimated heights. The rows are in blocks, and
 * each block knows its height. So neither scrolling nor a change of one row passes over a long list.
 *
 * @module list
 */

/** The area to draw beyond each edge of the screen, in screens. */
const OVERSCAN = 1;
/** Maximum number of rows created in a frame, unless more are on the screen. Later frames create the rest. */
const ROWS_AT_ONCE = 6;
/** Time without fast scrolling after which the list is at rest, in milliseconds. */
const REST_MILLISECONDS = 100;
/** The distance from an edge of the window at which its next page is loaded, in screens. */
const NEAR = 2;
/** The estimated heights of a message and of a line between messages that have not been measured, in CSS pixels. */
const ESTIMATE = 40;
const LINE_ESTIMATE = 41;
/** Maximum distance from the end that counts as the bottom, in CSS pixels. Zoomed pages have fractions of pixels. */
const BOTTOM_SLACK = 4;
/**
 * Maximum height of a spacer, in CSS pixels. Browsers compute positions with limited precision: at ten million pixels a row
 * could be a whole pixel off. The rows beyond become reachable as the reader gets nearer.
 */
const MAXIMUM_SPACER = 1_000_000;

/**
 * @typedef {import("./client/index.js").Row} Row
 *
 * @typedef {readonly (readonly Row[])[]} Chunks
 *
 * @typedef {{key: string, offset: number}} Anchor A row that stays at a distance from the top.
 */

/**
 * The estimated height of a row that has not been measured.
 *
 * @param {Row} row
 */
function estimateOf(row) {
    return row.state ? ESTIMATE : LINE_ESTIMATE;
}

/** Neighbouring rows. */
class Block {
    /** The place of the first row in the list. */
    start = 0;
    /** The sum of the rows' heights. */
    height = 0;

    /** @param {readonly Row[]} rows */
    constructor(rows) {
        this.rows = rows;
    }
}

/**
 * Returns the highest `seq` of the rows; 0 if there is none. Only unsent messages may follow the row that has it.
 *
 * @param {Chunks} chunks
 */
function newestSeq(chunks) {
    for (let index = chunks.length - 1; index >= 0; index--) {
        const seq = chunks[index].findLast(({ seq }) => seq !== undefined)?.seq;
        if (seq !== undefined) return seq;
    }
    return 0;
}

export class List {
    #scroller;
    #content;
    #top;
    #bottom;
    #draw;
    #onMove;
    #onScroll;
    /** @type {Chunks} The rows as given. */
    #chunks = [];
    /** True if the room ends with these rows, as far as is known. */
    #isEnd = false;
    /** @type {Block[]} */
    #blocks = [];
    #count = 0;
    /** The sum of the heights of all rows. */
    #height = 0;
    /** @type {Map<string, {block: Block, height: number | null}>} The block of each row, and its height once measured. */
    #slots = new Map();
    /** @type {Map<string, Drawn>} The rows in the document, by key. */
    #drawn = new Map();
    /** @type {Drawn[]} The same, from top to bottom. */
    #order = [];
    #range = [0, 0];
    /** The mean height of the rows in the document, in CSS pixels. */
    #meanHeight = ESTIMATE;
    /** The number of rows that may still be created in this frame. */
    #allowance = ROWS_AT_ONCE;
    /** @type {CSSNumberish | null} The time of the last frame in which rows were drawn. */
    #frame = null;
    /** The frame request that draws the rows at the scrolled position; 0 without one. */
    #pending = 0;
    /** @type {number | undefined} The timer that removes the mark of fast scrolling. */
    #resting = undefined;
    #isWhole = false;
    /** The frame in which drawing continues; 0 if everything is drawn. */
    #continuation = 0;
    /** The heights of all rows above and below those in the document, and of their spacers. */
    #above = { rows: 0, spacer: 0 };
    #below = { rows: 0, spacer: 0 };
    /** @type {Anchor | "bottom" | null} The row that stays where it is; null at first. */
    #anchor = null;
    #observer;
    /** The last position that the list itself has set. The scroll event for it is ignored. */
    #position = 0;

    /**
     * @typedef {{key: string, row: Row, before: Row | undefined, after: Row | undefined, node: HTMLElement, isStale: boolean}} Drawn A
     *   row as drawn, with the rows above and below it.
     *
     * @param {HTMLElement} scroller The element that scrolls.
     * @param {HTMLElement} content The element within it that gets the rows.
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
        this.#observer = new ResizeObserver((entries) => {
            // The observer also reports each row that was just measured while it was drawn.
            if (entries.every((entry) => this.#isKnown(entry))) return;
            this.#noteMove();
            this.#settle();
        });
        this.#observer.observe(scroller);
        scroller.addEventListener("scroll", this.#scrolled, { passive: true });
    }

    close() {
        this.#observer.disconnect();
        cancelAnimationFrame(this.#continuation);
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
        this.#isEnd = isEnd;
        if (chunks === this.#chunks) return;
        this.#noteMove();
        const leavesBottom = this.#anchor === "bottom" && (!isEnd || (scrollTo !== "bottom" && newestSeq(chunks) > newestSeq(this.#chunks)));
        if (leavesBottom) this.#anchor = this.#firstInSight(this.#scroller.getBoundingClientRect().top) ?? this.#anchor;
        this.#takeChunks(chunks);
        // If the anchor is gone, its nearest neighbour in the document replaces it.
        if (this.#anchor && this.#anchor !== "bottom" && !this.#slots.has(this.#anchor.key)) this.#anchor = this.#nextAnchor();
        this.#settle();
        if (!leavesBottom) return;
        if (scrollTo === null) this.#moveCutLine();
        // A list that is still in sight as a whole remains at its end.
        this.#remember();
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

    /** Scrolls to the end of the list, and stays there. */
    scrollToBottom() {
        this.#anchor = "bottom";
        this.#settle();
    }

    /**
     * Scrolls to a row.
     *
     * @param {string} key
     * @param {number} share The position on the screen: 0 at the top, 0.5 in the middle.
     */
    scrollTo(key, share) {
        if (!this.#slots.has(key)) return;
        const screen = this.#scroller.clientHeight;
        this.#anchor = { key, offset: Math.round(screen * share) };
        this.#settle();
        // A tall row is placed higher, so that as much of it as possible is visible.
        const highest = Math.max(0, screen - (this.#slots.get(key)?.height ?? 0));
        if (this.#offset > highest) {
            this.#anchor = { key, offset: highest };
            this.#settle();
        }
        // Near the end of the list, the row may be at another position.
        this.#remember();
    }

    /**
     * Draws all rows, for a printer, or again only those near the screen.
     *
     * @param {boolean} isWhole
     */
    setWhole(isWhole) {
        this.#noteMove();
        this.#isWhole = isWhole;
        this.#settle();
    }

    /** The first visible message with a `seq`, and its distance from the top; null if there is none. */
    get place() {
        const top = this.#scroller.getBoundingClientRect().top;
        for (const { row, node } of this.#order) {
            if (row.seq === undefined) continue;
            const box = node.getBoundingClientRect();
            if (box.bottom > top) return { seq: row.seq, offset: box.top - top };
        }
        return null;
    }

    /** The distance of the anchor from the top; 0 if it is no row. */
    get #offset() {
        return this.#anchor && this.#anchor !== "bottom" ? this.#anchor.offset : 0;
    }

    /**
     * Scrolls a row to a distance from the top.
     *
     * @param {string} key
     * @param {number} offset
     */
    scrollToOffset(key, offset) {
        if (!this.#slots.has(key)) return;
        this.#anchor = { key, offset };
        this.#settle();
        this.#remember();
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
        if (!isNeeded) return;
        this.#noteMove();
        this.#settle();
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

    /** True if the end of the list is visible. */
    get isAtBottom() {
        const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
        return scrollHeight - scrollTop - clientHeight <= BOTTOM_SLACK;
    }

    /**
     * Returns true if less than two screens are left above or below.
     *
     * @param {"before" | "after"} edge
     */
    isNear(edge) {
        const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
        const left = edge === "before" ? scrollTop : scrollHeight - scrollTop - clientHeight;
        return left < NEAR * clientHeight;
    }

    /** The last row with a `seq` that is completely visible, or fills the screen; null if there is none. */
    get lastVisible() {
        const screen = this.#scroller.getBoundingClientRect();
        for (let index = this.#order.length - 1; index >= 0; index--) {
            const { row, node } = this.#order[index];
            if (row.seq === undefined) continue;
            const box = node.getBoundingClientRect();
            if (box.bottom <= screen.bottom + 1 && box.bottom > screen.top) return row.seq;
            if (box.top <= screen.top && box.bottom >= screen.bottom) return row.seq;
            if (box.bottom <= screen.top) return null;
        }
        return null;
    }

    // The rows

    /** @param {Chunks} chunks */
    #takeChunks(chunks) {
        this.#chunks = chunks;
        const gone = new Map(this.#blocks.map((block) => [block.rows, block]));
        this.#blocks = chunks.map((rows) => {
            const known = gone.get(rows);
            gone.delete(rows);
            return known ?? this.#blockOf(rows);
        });
        for (const block of gone.values()) {
            for (const { key } of block.rows) if (this.#slots.get(key)?.block === block) this.#slots.delete(key);
        }
        this.#count = 0;
        this.#height = 0;
        for (const block of this.#blocks) {
            block.start = this.#count;
            this.#count += block.rows.length;
            this.#height += block.height;
        }
    }

    /** @param {readonly Row[]} rows */
    #blockOf(rows) {
        const block = new Block(rows);
        for (const row of rows) {
            const slot = this.#slots.get(row.key);
            if (slot) slot.block = block;
            else this.#slots.set(row.key, { block, height: null });
            block.height += slot?.height ?? estimateOf(row);
        }
        return block;
    }

    /**
     * Returns the index of the block that has the row at a place.
     *
     * @param {number} place
     */
    #blockIndex(place) {
        let low = 0;
        let high = this.#blocks.length;
        while (high - low > 1) {
            const middle = (low + high) >> 1;
            if (this.#blocks[middle].start <= place) low = middle;
            else high = middle;
        }
        return low;
    }

    /** @param {number} place */
    #hasRow(place) {
        return place >= 0 && place < this.#count;
    }

    /** @param {number} place One that the list has. */
    #rowAt(place) {
        const block = this.#blocks[this.#blockIndex(place)];
        return block.rows[place - block.start];
    }

    /** @param {string} key One of a row that the list has. */
    #slotOf(key) {
        return /** @type {{block: Block, height: number | null}} */ (this.#slots.get(key));
    }

    /** @param {string} key */
    #placeOf(key) {
        const { block } = this.#slotOf(key);
        return block.start + block.rows.findIndex((row) => row.key === key);
    }

    /** @param {Row} row */
    #heightOf(row) {
        return this.#slotOf(row.key).height ?? estimateOf(row);
    }

    /**
     * Returns the sum of the heights of all rows above a place.
     *
     * @param {number} place
     */
    #heightAbove(place) {
        if (!this.#blocks.length) return 0;
        const index = this.#blockIndex(place);
        let height = 0;
        for (let other = 0; other < index; other++) height += this.#blocks[other].height;
        const { rows, start } = this.#blocks[index];
        for (const row of rows.slice(0, place - start)) height += this.#heightOf(row);
        return height;
    }

    /**
     * Returns the row at a distance from the top of the first one, and the distance of its own top.
     *
     * @param {number} height
     */
    #rowAtHeight(height) {
        let top = 0;
        const last = this.#blocks[this.#blocks.length - 1];
        for (const block of this.#blocks) {
            if (top + block.height <= height && block !== last) {
                top += block.height;
                continue;
            }
            for (const row of block.rows) {
                if (top + this.#heightOf(row) > height || row === last.rows.at(-1)) return { row, top };
                top += this.#heightOf(row);
            }
        }
        return null;
    }

    // The place that is read

    #scrolled = () => {
        const moved = this.#scroller.scrollTop - this.#position;
        if (Math.abs(moved) < 0.5) return;
        this.#noteSpeed(moved);
        this.#remember();
        this.#onScroll();
        // In most cases the rows that come into view are in the document already.
        if (this.#isCovered(OVERSCAN / 2)) return this.#onMove();
        // Drawing joins the other work of this frame, so that a frame draws once.
        this.#pending ||= requestAnimationFrame(() => this.#settleMoved());
    };

    /**
     * Moves the anchor by the distance that the reader has scrolled since the list was placed. The scroll event comes a frame
     * later, and a row that changes its height meanwhile must not take the reader back.
     */
    #noteMove() {
        const moved = this.#scroller.scrollTop - this.#position;
        if (Math.abs(moved) < 0.5) return;
        this.#noteSpeed(moved);
        this.#position += moved;
        if (this.#anchor === "bottom") return this.#remember();
        if (!this.#anchor) return;
        const { key } = this.#anchor;
        const offset = this.#anchor.offset - moved;
        this.#anchor = { key, offset };
        // A row that is out of sight may not be drawn, and then cannot keep the place.
        const height = this.#slots.get(key)?.height ?? 0;
        if (offset >= this.#scroller.clientHeight || offset + height <= 0) this.#remember();
    }

    /**
     * Returns true if the screen, and this many screens beyond its edges, are in the document.
     *
     * @param {number} screens
     */
    #isCovered(screens) {
        const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
        const above = scrollTop - this.#above.spacer;
        const below = scrollHeight - this.#below.spacer - scrollTop - clientHeight;
        const margin = screens * clientHeight;
        return (this.#range[0] === 0 || above >= margin) && (this.#range[1] === this.#count || below >= margin);
    }

    /** Makes the reader's present position the anchor. */
    #remember() {
        this.#position = this.#scroller.scrollTop;
        if (this.#isEnd && this.isAtBottom && this.#range[1] === this.#count) {
            this.#anchor = "bottom";
            return;
        }
        const screenTop = this.#scroller.getBoundingClientRect().top;
        const [top, bottom] = [this.#top.getBoundingClientRect(), this.#bottom.getBoundingClientRect()];
        if (top.bottom > screenTop && top.height > 0) {
            this.#anchor = this.#estimatedAnchor(((screenTop - top.top) / top.height) * this.#above.rows);
        } else if (bottom.top <= screenTop && bottom.height > 0) {
            const height = ((screenTop - bottom.top) / bottom.height) * this.#below.rows;
            this.#anchor = this.#estimatedAnchor(this.#heightAbove(this.#range[1]) + height);
        } else {
            this.#anchor = this.#firstInSight(screenTop) ?? this.#anchor;
        }
    }

    /**
     * Returns the first message that is not completely above the screen. Lines between messages are not used, because they may
     * disappear.
     *
     * @param {number} screenTop
     * @returns {Anchor | null}
     */
    #firstInSight(screenTop) {
        for (const { key, row, node } of this.#order) {
            if (!row.state || !this.#slots.has(key)) continue;
            const box = node.getBoundingClientRect();
            if (box.bottom > screenTop) return { key, offset: box.top - screenTop };
        }
        return null;
    }

    /**
     * Returns the message to show after a jump to a place where nothing is drawn, for example with the scroll bar. A line
     * between messages is not used: a day line moves when older messages of its day are loaded.
     *
     * @param {number} height
     * @returns {Anchor | null}
     */
    #estimatedAnchor(height) {
        const found = this.#rowAtHeight(height);
        if (!found) return null;
        let { row, top } = found;
        for (let place = this.#placeOf(row.key) + 1; !row.state && place < this.#count; place++) {
            top += this.#heightOf(row);
            row = this.#rowAt(place);
        }
        return { key: row.key, offset: top - height };
    }

    /**
     * Returns a message in the document that is still in the list, with its position.
     *
     * @returns {Anchor | null}
     */
    #nextAnchor() {
        const top = this.#scroller.getBoundingClientRect().top;
        /** @type {Anchor | null} */
        let nearest = null;
        for (const { key, row, node } of this.#order) {
            if (!row.state || !this.#slots.has(key)) continue;
            const offset = node.getBoundingClientRect().top - top;
            if (!nearest || Math.abs(offset) < Math.abs(nearest.offset)) nearest = { key, offset };
        }
        return nearest;
    }

    // Drawing

    /** Draws the rows near the anchor, and moves the anchor to its place. */
    #settle() {
        cancelAnimationFrame(this.#pending);
        this.#pending = 0;
        const frame = document.timeline.currentTime;
        if (frame !== this.#frame) this.#allowance = ROWS_AT_ONCE;
        this.#frame = frame;
        for (let attempt = 0; attempt < 3; attempt++) {
            // Heights that differ from the estimates change the set of rows that are near.
            for (let round = 0; round < 3; round++) {
                const [start, end] = this.#wanted();
                if (round > 0 && start >= this.#range[0] && end <= this.#range[1]) break;
                this.#drawRange([start, end]);
                if (!this.#measure()) break;
            }
            this.#place();
            if (!this.#anchor || this.#isCovered(0)) break;
            // At the end of the list the anchor cannot keep its place. A row that is visible there becomes the anchor.
            this.#remember();
        }
        this.#noteReached();
        this.#onMove();
    }

    /**
     * Takes the place that the anchor has reached as its place. At an end of the list it may be another one than was asked for,
     * because heights were estimated. The reader sees the row there, so there it stays when a page comes.
     */
    #noteReached() {
        if (!this.#anchor || this.#anchor === "bottom") return;
        const node = this.node(this.#anchor.key);
        if (!node) return;
        const offset = node.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top;
        if (Math.abs(offset - this.#anchor.offset) > 0.5) this.#anchor = { key: this.#anchor.key, offset };
    }

    /**
     * Returns the rows to have in the document: those that will be on the screen, and one screen on either side. If that needs
     * more new rows than one frame may create, the rows farthest from the screen wait for the next frame.
     *
     * @returns {[start: number, end: number]}
     */
    #wanted() {
        if (this.#isWhole) return [0, this.#count];
        const screen = this.#scroller.clientHeight || 800;
        const anchor = this.#anchor === "bottom" ? null : this.#anchor;
        const first = anchor ? this.#placeOf(anchor.key) : this.#count;
        let [start, end] = [first, first];
        // The pixels above and below the anchor that are still to be filled, on the screen and then beyond it.
        let above = anchor ? anchor.offset : screen;
        let below = screen - above;
        let allowance = this.#allowance;
        const take = (/** @type {number} */ place) => {
            const { key } = this.#rowAt(place);
            if (!this.#drawn.has(key)) allowance--;
            return this.#slotOf(key).height ?? this.#meanHeight;
        };
        while (start > 0 && above > 0) above -= take(--start);
        while (end < this.#count && below > 0) below -= take(end++);
        above += OVERSCAN * screen;
        below += OVERSCAN * screen;
        const mayTake = (/** @type {number} */ place) => allowance > 0 || this.#drawn.has(this.#rowAt(place).key);
        let [goesUp, goesDown] = [true, true];
        while (goesUp || goesDown) {
            goesUp = start > 0 && above > 0 && mayTake(start - 1);
            if (goesUp) above -= take(--start);
            goesDown = end < this.#count && below > 0 && mayTake(end);
            if (goesDown) below -= take(end++);
        }
        const isComplete = (start === 0 || above <= 0) && (end === this.#count || below <= 0);
        if (!isComplete) this.#goOn();
        return [start, end];
    }

    /** Draws the remaining rows in the next frame. */
    #goOn() {
        this.#continuation ||= requestAnimationFrame(() => {
            this.#continuation = 0;
            // Other work may have drawn in this frame already.
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
        const rows = Array.from({ length: end - start }, (_, index) => this.#rowAt(start + index));
        const wanted = new Set(rows.map(({ key }) => key));
        // Removed first, so that the remaining rows need not move past them.
        for (const key of this.#drawn.keys()) if (!wanted.has(key)) this.#erase(key);
        const order = [];
        let next = this.#top.nextSibling;
        /** @type {Row | undefined} */
        let before = this.#hasRow(start - 1) ? this.#rowAt(start - 1) : undefined;
        const beyond = this.#hasRow(end) ? this.#rowAt(end) : undefined;
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

    /** @param {string} key */
    #erase(key) {
        const node = this.node(key);
        if (!node) return;
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
        let [hasChanged, total] = [false, 0];
        for (const { key, row, node } of this.#order) {
            const slot = this.#slotOf(key);
            const { height } = node.getBoundingClientRect();
            total += height;
            if (slot.height === height) continue;
            const growth = height - (slot.height ?? estimateOf(row));
            slot.block.height += growth;
            this.#height += growth;
            slot.height = height;
            hasChanged = true;
        }
        if (total > 0) this.#meanHeight = total / this.#order.length;
        return hasChanged;
    }

    /**
     * Returns true if a change of size belongs to a row that was measured since then.
     *
     * @param {ResizeObserverEntry} entry
     */
    #isKnown({ target, borderBoxSize }) {
        const { key } = /** @type {HTMLElement} */ (target).dataset;
        return key !== undefined && this.#slots.get(key)?.height === borderBoxSize[0].blockSize;
    }

    /** Sets the heights of the spacers to those of the rows that are not drawn, up to the maximum. */
    #setSpacers() {
        const [start, end] = this.#range;
        const spacer = (/** @type {number} */ rows) => ({ rows, spacer: Math.min(Math.max(rows, 0), MAXIMUM_SPACER) });
        // Repeated changes leave tiny rounding errors in the sums of heights.
        this.#above = spacer(start === 0 ? 0 : this.#heightAbove(start));
        this.#below = spacer(end === this.#count ? 0 : this.#height - this.#heightAbove(end));
        this.#top.style.height = `${this.#above.spacer}px`;
        this.#bottom.style.height = `${this.#below.spacer}px`;
    }

    #place() {
        const scroller = this.#scroller;
        if (this.#anchor === "bottom") {
            scroller.scrollTop = scroller.scrollHeight;
        } else if (this.#anchor) {
            const node = this.#drawn.get(this.#anchor.key)?.node;
            if (!node) return;
            const offset = node.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
            const distance = offset - this.#anchor.offset;
            // A distance below a device pixel is only rounding.
            if (Math.abs(distance) > 0.25) scroller.scrollTop += distance;
        }
        this.#position = scroller.scrollTop;
    }
}
