/**
 * A list of rows of unknown heights, of which only those near the screen are in the document.
 *
 * The list keeps what is being read in place. It remembers an anchor: the first row in sight, and how far it stands from the
 * top. Whatever changes (rows above, a row's height, the size of the window), it puts that row back where it was, before the
 * screen is drawn. A reader at the bottom stays at the bottom.
 *
 * Rows outside the document are spacers of their measured or estimated heights.
 *
 * @module list
 */

/** How much is drawn beyond each edge of the screen, in screens. */
const OVERSCAN = 1;
/** How near to an edge of the window its next page is wanted, in screens. */
const NEAR = 2;
/** The height of a row that has not been measured, in CSS pixels. */
const ESTIMATE = 56;
/** How far from the end still counts as the bottom, in CSS pixels. Zoomed pages have fractions of one. */
const BOTTOM_SLACK = 4;

export class List {
    #scroller;
    #content;
    #top;
    #bottom;
    #draw;
    #onMove;
    #rows = [];
    /** @type {Map<string, number>} The places of the rows. */
    #places = new Map();
    /** @type {Map<string, number>} Measured heights. */
    #heights = new Map();
    /** @type {Map<string, {row: object, before: object | undefined, node: HTMLElement}>} The rows in the document. */
    #drawn = new Map();
    #range = [0, 0];
    /** The heights of the rows above and below those in the document; null where they have to be added up. */
    #spare = null;
    /** @type {{key: string, offset: number} | "bottom" | null} */
    #anchor = null;
    #observer;
    /** The position that the list itself has set last, whose event says nothing new. */
    #position = 0;

    /**
     * @param {HTMLElement} scroller The element that scrolls.
     * @param {HTMLElement} content The element within it that gets the rows.
     * @param {(row: object, before: object | undefined, old: HTMLElement | undefined) => HTMLElement} draw Makes the element of a
     *   row, or changes the old one. `before` is the row above.
     * @param {() => void} onMove Called when the reader has moved, or the list has changed.
     */
    constructor(scroller, content, draw, onMove) {
        this.#scroller = scroller;
        this.#content = content;
        this.#draw = draw;
        this.#onMove = onMove;
        this.#top = document.createElement("div");
        this.#bottom = document.createElement("div");
        content.replaceChildren(this.#top, this.#bottom);
        this.#observer = new ResizeObserver(() => {
            this.#noteMove();
            this.#settle();
        });
        this.#observer.observe(scroller);
        scroller.addEventListener("scroll", this.#scrolled, { passive: true });
    }

    close() {
        this.#observer.disconnect();
        this.#scroller.removeEventListener("scroll", this.#scrolled);
        this.#content.replaceChildren();
    }

    /** Shows other rows. Rows that are the same objects, below the same row, are left as they are. */
    update(rows) {
        this.#noteMove();
        if (rows !== this.#rows) this.#spare = null;
        this.#rows = rows;
        this.#places.clear();
        for (let place = 0; place < rows.length; place++) this.#places.set(rows[place].key, place);
        // The anchor may be gone: then its nearest neighbour in the document stands for it.
        if (this.#anchor?.key !== undefined && !this.#places.has(this.#anchor.key)) this.#anchor = this.#nextAnchor();
        this.#settle();
    }

    /** Brings the end of the list into sight, and keeps it there. */
    scrollToBottom() {
        this.#anchor = "bottom";
        this.#settle();
    }

    /**
     * Brings a row into sight.
     *
     * @param {number} share Where on the screen: 0 at the top, 0.5 in the middle.
     */
    scrollTo(key, share) {
        if (!this.#places.has(key)) return;
        this.#anchor = { key, offset: Math.round(this.#scroller.clientHeight * share) };
        this.#settle();
        // A list that ends sooner stands elsewhere.
        this.#remember();
    }

    /** Draws a row anew whose row object is the same. */
    redraw(key) {
        const drawn = this.#drawn.get(key);
        if (!drawn) return;
        drawn.row = null;
        this.#noteMove();
        this.#settle();
    }

    /** The element of a row, if it is in the document. */
    node(key) {
        return this.#drawn.get(key)?.node;
    }

    /** True where the end of the list is in sight. */
    get isAtBottom() {
        const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
        return scrollHeight - scrollTop - clientHeight <= BOTTOM_SLACK;
    }

    /** True where less than two screens are left above, or below. */
    isNear(edge) {
        const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
        const left = edge === "before" ? scrollTop : scrollHeight - scrollTop - clientHeight;
        return left < NEAR * clientHeight;
    }

    /** The last row with a `seq` that is wholly in sight, or fills the screen; null if there is none. */
    get lastVisible() {
        const screen = this.#scroller.getBoundingClientRect();
        for (let place = this.#range[1] - 1; place >= this.#range[0]; place--) {
            const row = this.#rows[place];
            if (row.seq === undefined) continue;
            const box = this.#drawn.get(row.key).node.getBoundingClientRect();
            if (box.bottom <= screen.bottom + 1 && box.bottom > screen.top) return row.seq;
            if (box.top <= screen.top && box.bottom >= screen.bottom) return row.seq;
        }
        return null;
    }

    #scrolled = () => {
        if (Math.abs(this.#scroller.scrollTop - this.#position) < 0.5) return;
        this.#remember();
        // Most often what comes into sight is in the document already.
        if (this.#isCovered()) this.#onMove();
        else this.#settle();
    };

    /**
     * Moves the anchor by what the reader has scrolled since the list was placed. The event that tells of it comes a frame
     * later, and a row that changes its height meanwhile must not take the reader back.
     */
    #noteMove() {
        const moved = this.#scroller.scrollTop - this.#position;
        if (Math.abs(moved) < 0.5) return;
        this.#position += moved;
        if (this.#anchor === "bottom") this.#remember();
        else if (this.#anchor) this.#anchor = { key: this.#anchor.key, offset: this.#anchor.offset - moved };
    }

    /** True where half a screen beyond each edge of the screen is in the document. */
    #isCovered() {
        const { scrollTop, clientHeight, scrollHeight } = this.#scroller;
        if (!this.#spare) return false;
        const above = scrollTop - this.#spare.above;
        const below = scrollHeight - this.#spare.below - scrollTop - clientHeight;
        const margin = (OVERSCAN / 2) * clientHeight;
        return (this.#range[0] === 0 || above > margin) && (this.#range[1] === this.#rows.length || below > margin);
    }

    /** Takes where the reader is now as the anchor. */
    #remember() {
        this.#position = this.#scroller.scrollTop;
        if (this.isAtBottom) {
            this.#anchor = "bottom";
            return;
        }
        const top = this.#scroller.getBoundingClientRect().top;
        for (let place = this.#range[0]; place < this.#range[1]; place++) {
            const { key } = this.#rows[place];
            const box = this.#drawn.get(key)?.node.getBoundingClientRect();
            // Only messages: lines between them come and go.
            if (box && box.bottom > top && this.#rows[place].state) {
                this.#anchor = { key, offset: box.top - top };
                return;
            }
        }
        // The reader has jumped, with the scroll bar say, to where nothing is drawn.
        let offset = -this.#scroller.scrollTop;
        for (const { key } of this.#rows) {
            const height = this.#heights.get(key) ?? ESTIMATE;
            if (offset + height > 0) {
                this.#anchor = { key, offset };
                return;
            }
            offset += height;
        }
    }

    /** A row in the document that is still in the list, and where it stands. */
    #nextAnchor() {
        const top = this.#scroller.getBoundingClientRect().top;
        let nearest = null;
        for (const [key, { node }] of this.#drawn) {
            if (!this.#places.has(key)) continue;
            const offset = node.getBoundingClientRect().top - top;
            if (!nearest || Math.abs(offset) < Math.abs(nearest.offset)) nearest = { key, offset };
        }
        return nearest;
    }

    /** Draws what is near the anchor, and puts the anchor where it was. */
    #settle() {
        for (let attempt = 0; attempt < 3; attempt++) {
            // Heights that turn out other than estimated change what is near.
            for (let round = 0; round < 3; round++) {
                this.#drawRange(this.#wanted());
                if (!this.#measure()) break;
            }
            this.#place();
            if (!this.#anchor || this.#isCovered()) break;
            // Where the list ends, the anchor cannot stand where it did: what is in sight there takes its place.
            this.#remember();
        }
        this.#onMove();
    }

    /** The rows to have in the document: those on the screen, as it will be, and a screen on either side. */
    #wanted() {
        const screen = this.#scroller.clientHeight || 800;
        const height = (place) => this.#heights.get(this.#rows[place].key) ?? ESTIMATE;
        const count = this.#rows.length;
        let [first, above, below] = [count, (1 + OVERSCAN) * screen, OVERSCAN * screen];
        if (this.#anchor && this.#anchor !== "bottom") {
            first = this.#places.get(this.#anchor.key);
            above = this.#anchor.offset + OVERSCAN * screen;
            below = (1 + OVERSCAN) * screen - this.#anchor.offset;
        }
        let [start, end] = [first, first];
        while (start > 0 && above > 0) above -= height(--start);
        while (end < count && below > 0) below -= height(end++);
        return [start, end];
    }

    #drawRange([start, end]) {
        this.#countSpare(start, end);
        const wanted = new Set();
        let next = this.#top.nextSibling;
        for (let place = start; place < end; place++) {
            const [row, before] = [this.#rows[place], this.#rows[place - 1]];
            wanted.add(row.key);
            let drawn = this.#drawn.get(row.key);
            if (!drawn) {
                drawn = { row, before, node: this.#draw(row, before, undefined) };
                this.#drawn.set(row.key, drawn);
                this.#observer.observe(drawn.node);
            } else if (drawn.row !== row || drawn.before !== before) {
                const old = drawn.node;
                // What is drawn may take the place of the old element by itself.
                const node = this.#draw(row, before, old);
                if (node !== old) {
                    this.#observer.unobserve(old);
                    this.#observer.observe(node);
                    if (next === old) next = node;
                    if (old.isConnected) old.replaceWith(node);
                }
                Object.assign(drawn, { row, before, node });
            }
            if (drawn.node === next) {
                next = next.nextSibling;
            } else {
                this.#content.insertBefore(drawn.node, next);
            }
        }
        for (const [key, { node }] of this.#drawn) {
            if (wanted.has(key)) continue;
            // The keys go on scrolling where a row with the focus has left the screen.
            if (node.contains(document.activeElement)) this.#scroller.focus({ preventScroll: true });
            this.#observer.unobserve(node);
            node.remove();
            this.#drawn.delete(key);
        }
        this.#range = [start, end];
    }

    /**
     * Measures what is drawn.
     *
     * @returns {boolean} True if a row has another height than was known.
     */
    #measure() {
        let hasChanged = false;
        for (const [key, { node }] of this.#drawn) {
            const { height } = node.getBoundingClientRect();
            if (this.#heights.get(key) === height) continue;
            this.#heights.set(key, height);
            hasChanged = true;
        }
        return hasChanged;
    }

    /** Makes the spacers as high as the rows that are not drawn, from what they were for the range before. */
    #countSpare(start, end) {
        const sum = (from, to) => {
            let total = 0;
            for (let place = from; place < to; place++) total += this.#heights.get(this.#rows[place].key) ?? ESTIMATE;
            return total;
        };
        if (this.#spare) {
            const [oldStart, oldEnd] = this.#range;
            this.#spare.above += start > oldStart ? sum(oldStart, start) : -sum(start, oldStart);
            this.#spare.below += end < oldEnd ? sum(end, oldEnd) : -sum(oldEnd, end);
        } else {
            this.#spare = { above: sum(0, start), below: sum(end, this.#rows.length) };
        }
        this.#top.style.height = `${this.#spare.above}px`;
        this.#bottom.style.height = `${this.#spare.below}px`;
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
            // A distance below a device's pixel is the rounding of the last one.
            if (Math.abs(distance) > 0.25) scroller.scrollTop += distance;
        }
        this.#position = scroller.scrollTop;
    }
}
