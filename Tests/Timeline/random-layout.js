/**
 * Changes the layout of a list of 10,000 rows at random, and compares it with a model that keeps the rows in an array.
 *
 *     node random-layout.js                                  list.js in this process, a random seed
 *     node random-layout.js 'scripts/timeline swift'         another driver
 *     node random-layout.js COMMAND --seed 7 --runs 100      the runs of seeds 7 to 106
 *
 * Rows are inserted, removed and updated anywhere, and turn out to have other heights than the estimated ones once they are drawn.
 * The anchor, which is the first message in sight or the row that was scrolled to, must not move by a unit, unless an end of the
 * list forces it to.
 *
 * Prints a line beginning with ok or not ok.
 */

import { argv, exit, stdout } from "node:process";
import { isDeepStrictEqual, parseArgs } from "node:util";

import { generator } from "./generator.js";
import { startMachine } from "./machine.js";

const { values: options, positionals } = parseArgs({
    args: argv.slice(2),
    allowPositionals: true,
    options: { seed: { type: "string" }, runs: { type: "string", default: "20" }, steps: { type: "string", default: "150" } },
});
const firstSeed = Number(options.seed ?? Math.floor(Math.random() * 1_000_000));
const [ESTIMATE, LINE_ESTIMATE] = [56, 41];

/** The same rules, with an array of all rows and sums over it. */
class Model {
    rows = [];
    offset = 0;
    anchor = null;
    isEnd = false;

    constructor({ height, slack }) {
        Object.assign(this, { height, slack, inset: 0 });
    }

    top(key) {
        let top = 0;
        for (const row of this.rows) {
            if (row.key === key) return top;
            top += row.height;
        }
        return undefined;
    }

    get content() {
        return this.rows.reduce((sum, { height }) => sum + height, 0);
    }

    get maximum() {
        return Math.max(0, this.content + this.inset - this.height);
    }

    get isAtBottom() {
        return this.offset >= this.maximum - this.slack;
    }

    get newest() {
        return this.rows.findLast(({ seq }) => seq !== undefined)?.seq ?? 0;
    }

    /** The first message that ends below the top of the screen, or the last one. */
    inSight() {
        let top = 0;
        let found = null;
        for (const row of this.rows) {
            if (!row.isLine) found = { key: row.key, distance: top - this.offset };
            top += row.height;
            if (top > this.offset && !row.isLine) break;
        }
        return found;
    }

    remember() {
        this.anchor = this.isEnd && this.isAtBottom && this.rows.length > 0 ? "bottom" : this.inSight();
    }

    settle() {
        const wanted = this.anchor === "bottom" ? Infinity : this.anchor ? this.top(this.anchor.key) - this.anchor.distance : this.offset;
        this.offset = Math.min(Math.max(wanted, 0), this.maximum);
        if (this.anchor?.key) this.anchor.distance = this.top(this.anchor.key) - this.offset;
    }

    apply({ removed, inserted, updated }, isEnd, follow, share) {
        const { newest } = this;
        const wasAtBottom = this.anchor === "bottom";
        if (wasAtBottom) this.anchor = this.inSight();
        const gone = new Set(removed);
        if (this.anchor && gone.has(this.anchor.key)) {
            const at = this.rows.findIndex(({ key }) => key === this.anchor.key);
            const stays = ({ key, isLine }) => !isLine && !gone.has(key);
            const next = this.rows.slice(at).find(stays) ?? this.rows.slice(0, at).findLast(stays);
            const distance = this.anchor.distance - this.top(this.anchor.key);
            this.anchor = next ? { key: next.key, distance: distance + this.top(next.key) } : null;
        }
        this.rows = this.rows.filter(({ key }) => !gone.has(key));
        for (const { row, index } of inserted) {
            const isLine = row.state === undefined;
            this.rows.splice(index, 0, { key: row.key, seq: row.seq, isLine, height: isLine ? LINE_ESTIMATE : ESTIMATE, isMeasured: false });
        }
        for (const { key, seq } of updated) this.rows.find((row) => row.key === key).seq = seq;
        this.isEnd = isEnd;
        if (wasAtBottom && isEnd && this.newest <= newest) this.anchor = "bottom";
        this.settle();
        if (this.anchor === null || wasAtBottom) this.remember();
        if (follow !== undefined) this.scrollTo(follow, share);
    }

    measure(heights) {
        const known = new Map(heights);
        for (const row of this.rows) if (known.has(row.key)) Object.assign(row, { height: known.get(row.key), isMeasured: true });
        this.settle();
    }

    scrollTo(key, share) {
        const row = this.rows.find((row) => row.key === key);
        if (key !== "bottom" && !row) return;
        const visible = this.height - this.inset;
        this.anchor = row ? { key, distance: Math.min(Math.floor(visible * share), Math.max(0, visible - row.height)) } : "bottom";
        this.settle();
        if (this.isEnd && this.isAtBottom) this.anchor = "bottom";
    }

    resize({ height = this.height, inset = this.inset }) {
        if (this.anchor?.key) this.anchor.distance -= inset - this.inset;
        Object.assign(this, { height, inset });
        this.settle();
        this.remember();
    }

    range(margin) {
        if (this.rows.length === 0) return [0, 0];
        const at = (place) => {
            let bottom = 0;
            const index = this.rows.findIndex(({ height }) => (bottom += height) > place);
            return index < 0 ? this.rows.length - 1 : index;
        };
        return [at(this.offset - margin), at(this.offset + this.height + margin - 1) + 1];
    }

    get lastVisible() {
        const [start, end] = [this.offset, this.offset + this.height - this.inset];
        let bottom = 0;
        let last = null;
        for (const { seq, height } of this.rows) {
            const top = bottom;
            bottom += height;
            if (bottom > start && seq !== undefined && (bottom <= end || (top <= start && top < end))) last = seq;
            if (bottom > end) break;
        }
        return last;
    }
}

class Run {
    #random;
    #machine;
    #model;
    #steps = 0;
    /** The heights that rows turn out to have, by key. */
    #heights = new Map();
    #made = 0;

    constructor(seed) {
        this.#random = generator(seed);
        this.#machine = startMachine(positionals[0] || undefined);
    }

    async play() {
        await this.#machine.take({ event: "start", me: "alice", room: "lobby", limit: 30, utc_offset: 0 });
        const height = 400 + this.#below(800);
        const slack = this.#pick([0, 4]);
        this.#model = new Model({ height, slack });
        await this.#take({ start: { height, estimate: ESTIMATE, lineEstimate: LINE_ESTIMATE, slack } });
        await this.#apply({ removed: [], inserted: this.#newRows(10_000, 0), updated: [] }, {});
        for (let step = 0; step < Number(options.steps); step++) await this.#step();
        this.#machine.end();
    }

    async #step() {
        const { rows, maximum, offset, height } = this.#model;
        const choice = this.#random();
        if (choice < 0.3) {
            const at = this.#pick([0, rows.length, this.#near, this.#near, this.#below(rows.length + 1)]);
            await this.#apply({ removed: [], inserted: this.#newRows(this.#pick([1, 1, 3, 30]), at), updated: [] }, this.#followed(at));
        } else if (choice < 0.42) {
            const start = this.#pick([0, this.#near, this.#below(rows.length)]);
            const removed = rows.slice(start, start + this.#pick([1, 2, 30])).map(({ key }) => key);
            await this.#apply({ removed, inserted: this.#chance(0.3) ? this.#newRows(3, start) : [], updated: [] }, {});
        } else if (choice < 0.47) {
            const row = rows[this.#below(rows.length)];
            if (row.seq) await this.#apply({ removed: [], inserted: [], updated: [{ key: row.key, seq: row.seq, state: "stored" }] }, {});
        } else if (choice < 0.75) {
            const far = this.#chance(0.1) ? this.#below(maximum + 1) : offset + this.#below(4 * height) - 2 * height;
            const scroll = this.#chance(0.05) ? maximum : far;
            this.#model.offset = Math.min(Math.max(scroll, 0), maximum);
            this.#model.remember();
            await this.#take({ scroll });
        } else if (choice < 0.83) {
            const [to, share] = [this.#pick(["bottom", "nobody", rows[this.#below(rows.length)].key]), this.#pick([0, 0.25, 0.5, 1])];
            this.#model.scrollTo(to, share);
            await this.#take({ to, share });
        } else if (choice < 0.9) {
            const resize = this.#pick([{ inset: this.#pick([0, 120, 300]) }, { height: 400 + this.#below(800) }]);
            this.#model.resize(resize);
            await this.#take({ resize });
        } else {
            await this.#measure(Array.from({ length: 20 }, () => rows[this.#below(rows.length)].key), this.#chance(0.3));
        }
        // The list draws what is near the screen, until the heights are known.
        for (;;) {
            const [start, end] = this.#model.range(this.#model.height);
            const unknown = this.#model.rows.slice(start, end).filter(({ isMeasured }) => !isMeasured).map(({ key }) => key);
            if (unknown.length === 0) break;
            await this.#measure(unknown, false);
        }
    }

    /** An index near the reader. */
    get #near() {
        const [start] = this.#model.range(0);
        return Math.min(Math.max(0, start + this.#below(20) - 5), Math.max(0, this.#model.rows.length - 1));
    }

    #followed(at) {
        const isNewest = at === this.#model.rows.length;
        return { isEnd: this.#chance(0.8), ...(isNewest && this.#chance(0.5) ? { follow: "bottom" } : {}) };
    }

    #newRows(count, at) {
        return Array.from({ length: count }, (_, index) => {
            const number = ++this.#made;
            const kind = this.#random();
            const row = kind < 0.05 ? { key: `day/${number}` } : kind < 0.07 ? { key: `me/${number}`, state: "sending" } : { key: String(number), seq: number, state: "stored" };
            return { row, index: at + index };
        });
    }

    async #apply(difference, change) {
        const { isEnd = true, follow, share = 0 } = change;
        const before = this.#reading();
        this.#model.apply(difference, isEnd, follow, share);
        if (follow === undefined) this.#checkReading(before, new Set(difference.removed));
        await this.#take({ difference: { moved: [], ...difference }, isEnd, ...(follow === undefined ? {} : { follow, share }) });
    }

    async #measure(keys, isAnew) {
        const heights = [...new Set(keys)].map((key) => {
            if (isAnew || !this.#heights.has(key)) this.#heights.set(key, this.#pick([0, 1, 20, 56, 61, 300, 2000]) + this.#below(50));
            return [key, this.#heights.get(key)];
        });
        const before = this.#reading();
        this.#model.measure(heights);
        this.#checkReading(before, new Set());
        await this.#take({ measure: heights });
    }

    /** What is read: the anchor, or at the bottom all that is in sight. */
    #reading() {
        return { anchor: this.#model.anchor === "bottom" ? "bottom" : structuredClone(this.#model.anchor) };
    }

    /** Throws if the anchor has moved, and neither end of the list forced it to. */
    #checkReading({ anchor }, gone) {
        const { offset, maximum } = this.#model;
        if (anchor === null || anchor === "bottom" || gone.has(anchor.key) || offset === 0 || offset === maximum) return;
        const distance = this.#model.top(anchor.key) - offset;
        if (distance !== anchor.distance) throw new Error(`the anchor ${anchor.key} moved from ${anchor.distance} to ${distance}`);
    }

    /** Passes a change to the layout under test, and compares its state with the model's. */
    async #take(change) {
        this.#steps++;
        const model = this.#model;
        const margin = this.#pick([0, model.height]);
        const keys = Array.from({ length: Math.min(3, model.rows.length) }, () => model.rows[this.#below(model.rows.length)].key);
        const { layout } = await this.#machine.take({ layout: { ...change, margin, frames: keys } });
        const { anchor } = model;
        const should = {
            count: model.rows.length, height: model.content, offset: model.offset, anchor: anchor?.key ? `${anchor.key} ${anchor.distance}` : anchor,
            at_bottom: model.isAtBottom, last_visible: model.lastVisible, range: model.range(margin),
            frames: keys.map((key) => {
                const index = model.rows.findIndex((row) => row.key === key);
                const { height, isMeasured } = model.rows[index];
                return [index, model.top(key), height, isMeasured, key];
            }),
        };
        for (const [field, value] of Object.entries(should)) {
            if (isDeepStrictEqual(layout[field], value)) continue;
            throw new Error(`step ${this.#steps}, ${JSON.stringify(change).slice(0, 300)}: ${field} should be ${JSON.stringify(value)} and is ${JSON.stringify(layout[field])}`);
        }
    }

    #below(limit) {
        return Math.floor(this.#random() * limit);
    }

    #chance(probability) {
        return this.#random() < probability;
    }

    #pick(list) {
        return list[Math.floor(this.#random() * list.length)];
    }
}

const runs = Number(options.runs);
for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    try {
        await new Run(seed).play();
    } catch (error) {
        stdout.write(`not ok - the layout of a list with --seed ${seed} --runs 1\n${error.message.replace(/^/gm, "    ")}\n`);
        exit(1);
    }
}
stdout.write(`ok - ${runs} lists of 10,000 rows keep what is read in place, from --seed ${firstSeed}\n`);
exit(0);
