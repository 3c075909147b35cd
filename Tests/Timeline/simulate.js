/**
 * Drives the timeline against a simulated server, network and user, and checks the invariants.
 *
 *     node simulate.js                                       timeline.js in this process, a random seed
 *     node simulate.js --seed 7 --runs 100                   the runs of seeds 7 to 106
 *     node simulate.js --driver 'scripts/timeline swift'     another driver
 *     node simulate.js --seed 7 --runs 1 --verbose           and print each event and its effects
 *     node simulate.js --record events                       and write the events of each run to events/SEED.jsonl
 *
 * A run has two parts. In the first, everything fails: requests and answers are lost, late, repeated or refused,
 * sockets end at any point, frames are dropped or doubled, the server is restored from a backup, the clock jumps, and
 * the screen goes to the background. Then the network heals, and the timeline must finally show the server's state.
 *
 * Prints a line beginning with ok or not ok.
 */

import { closeSync, openSync, writeSync } from "node:fs";
import { argv, exit, stdout } from "node:process";
import { parseArgs } from "node:util";

import { generator } from "./generator.js";
import { Invariants } from "./invariants.js";
import { startMachine } from "./machine.js";
import { SimulatedServer } from "./simulated-server.js";

const { values: options } = parseArgs({
    args: argv.slice(2),
    options: {
        seed: { type: "string" },
        runs: { type: "string", default: "200" },
        driver: { type: "string" },
        record: { type: "string" },
        verbose: { type: "boolean", default: false },
    },
});
const firstSeed = Number(options.seed ?? Math.floor(Math.random() * 1_000_000));
const runs = Number(options.runs);
const START = Date.parse("2026-11-22T20:00:00Z");

class Run {
    #random;
    #machine;
    #now = 0;
    #queue = [];
    #order = 0;
    /** The error of the device's clock, in milliseconds. */
    #clockError = 0;
    #isHealed = false;
    #isActive = true;
    #socket = null;
    #sends = 0;
    #limit;
    /** The maximum of the window; undefined if it is never cut. */
    #window;
    /** The file that the events are written to, if any. */
    #record = null;
    view = null;

    constructor(seed) {
        this.#random = generator(seed);
        this.#machine = startMachine(options.driver);
        if (options.record !== undefined) this.#record = openSync(`${options.record}/${seed}.jsonl`, "w");
        this.server = new SimulatedServer("alice", () => START + this.#now);
        this.#limit = this.#pick([3, 5, 10, 30]);
        const windows = [undefined, 4 * this.#limit, 4 * this.#limit + 3, 10 * this.#limit];
        this.#window = windows[Math.floor(generator(~seed)() * windows.length)];
        this.invariants = new Invariants(this.server, { limit: this.#limit, window: this.#window });
        this.faultRate = this.#pick([0, 0.05, 0.2, 0.4]);
        this.dropRate = this.#pick([0, 0, 0.05]);
        this.restoresBackup = this.#chance(0.15);
    }

    async play() {
        // The server counts up to 1,000 unread messages.
        const past = this.#chance(0.03) ? 1300 : this.#pick([0, 1, 5, 40, 300]);
        for (let count = 0; count < past; count++) this.#someoneActs();
        this.server.read = this.#pick([0, Math.floor(this.#random() * (this.server.head + 1)), this.server.head]);

        const offsets = this.#chance(0.5) ? { utc_offset: this.#pick([0, 60, -480]) } : { utc_offsets: this.#offsets() };
        await this.#take({ event: "start", me: "alice", room: "lobby", limit: this.#limit, ...offsets, window: this.#window });
        if (this.#chance(0.3)) await this.#restore();
        if (this.#chance(0.95)) await this.#take({ event: "open", at: this.#place() });
        this.#later(0, () => this.#tick());
        this.#later(0, () => this.#live());
        this.#later(0, () => this.#use());
        await this.#until(this.#pick([20_000, 60_000, 200_000]));
        await this.#heal();
        this.#machine.end();
        if (this.#record !== null) closeSync(this.#record);
    }

    /** Part two: the network is good. The reader goes to the newest message, back to the first, and to the newest again. */
    async #heal() {
        this.#isHealed = true;
        this.#clockError = 0;
        await this.#active(true);
        await this.#until(this.#now + 120_000);
        // Further messages reveal frames that were dropped at the end of the room.
        for (let count = 0; count < 2; count++) this.server.send("bob");
        await this.#until(this.#now + 120_000);
        if (this.view.phase === "initial") await this.#take({ event: "open", at: "last" });
        await this.#until(this.#now + 60_000);
        await this.#take({ event: "jump", to: "last" });
        await this.#until(this.#now + 60_000);
        for (const { key } of this.view.rows.filter(({ state }) => state === "failed")) {
            await this.#take({ event: "retry", client_message_id: key.slice(3) });
        }
        await this.#until(this.#now + 60_000);
        this.invariants.checkHead(this.view);
        await this.#readOn("before");
        // With a maximum, the window has lost its end on the way.
        await this.#readOn("after");
        await this.#viewport(this.view.rows.at(-1)?.seq ?? null, true);
        await this.#until(this.#now + 60_000);
        this.invariants.checkAll(this.view);
    }

    /** Loads page after page, up to the end of the room on that side. */
    async #readOn(edge) {
        for (let pages = 0; this.view[edge] !== "end"; pages++) {
            if (pages > this.server.head + 10) throw new Error(`${edge} stays ${this.view[edge]}`);
            this.invariants.checkPart(this.view);
            await this.#take({ event: "near", edge });
            await this.#until(this.#now + 10_000);
        }
    }

    // Time

    #later(delay, action) {
        this.#queue.push({ at: this.#now + delay, order: this.#order++, action });
    }

    async #until(end) {
        for (;;) {
            let next = -1;
            for (const [index, { at, order }] of this.#queue.entries()) {
                const best = this.#queue[next];
                if (at <= end && (!best || at < best.at || (at === best.at && order < best.order))) next = index;
            }
            if (next < 0) break;
            const [{ at, action }] = this.#queue.splice(next, 1);
            this.#now = at;
            await action();
        }
        this.#now = end;
    }

    async #tick() {
        if (!this.#isHealed && this.#chance(0.01)) this.#clockError += this.#pick([-3_600_000, 3_600_000]);
        await this.#take({ event: "time", now: START + this.#now + this.#clockError });
        this.#later(this.#pick([100, 500, 1000]), () => this.#tick());
    }

    // The machine and its host

    async #take(event) {
        if (this.#record !== null) writeSync(this.#record, `${JSON.stringify(event)}\n`);
        const { effects, view, error } = await this.#machine.take(event);
        if (options.verbose) {
            const short = ({ key, state }) => (state === "stored" ? key : `${key}:${state ?? ""}`);
            const rows = view?.rows.map(short).join(" ");
            stdout.write(`${this.#now} ${JSON.stringify(event).slice(0, 300)}\n`);
            stdout.write(`    ${JSON.stringify(effects ?? error)}\n`);
            stdout.write(`    ${JSON.stringify({ ...view, rows })}\n`);
        }
        if (error) throw new Error(`${JSON.stringify(event)}: ${error}`);
        this.invariants.check(event, effects, view);
        this.view = view;
        for (const effect of effects) this.#host(effect);
    }

    #host(effect) {
        switch (effect.effect) {
            case "mark_read": return this.#markRead(effect);
            case "fetch": return this.#fetch(effect);
            case "post": return this.#post(effect.draft);
            case "subscribe": return this.#subscribe(effect);
            case "scroll":
                // The list reports its position once it has scrolled, or the user moves on at once.
                if (this.#chance(0.7)) this.#later(20, () => this.#arrive(effect.to));
        }
    }

    #fetch({ request, query }) {
        this.#later(this.#delay(), () => {
            const failure = this.#failure();
            const page = this.server.page(query);
            this.#later(this.#delay(), async () => {
                if (failure) return this.#take({ event: "fetch_failed", request, ...failure });
                await this.#take({ event: "page", request, page });
                if (this.#goesWrong()) this.#later(this.#delay(), () => this.#take({ event: "page", request, page }));
            });
        });
    }

    #post(draft) {
        const id = draft.client_message_id;
        this.#later(this.#delay(), () => {
            // A failure may come before the message is stored, or hide that it was stored.
            const failure = this.#failure();
            if (failure && this.#chance(0.6)) {
                const refusal = this.#chance(0.2) ? { status: 403, code: "forbidden" } : failure;
                const event = { event: "send_failed", client_message_id: id, ...refusal };
                this.#later(this.#delay(), () => this.#take(event));
                return;
            }
            const { message } = this.server.send("alice", id);
            this.#later(this.#delay(), () => {
                if (failure) return this.#take({ event: "send_failed", client_message_id: id, status: 0 });
                return this.#take({ event: "sent", client_message_id: id, message });
            });
        });
    }

    /** Moves the mark on the server. The request or the answer may be lost, or overtaken by others. */
    #markRead({ seq }) {
        const { epoch } = this.server;
        this.#later(this.#delay(), () => {
            if (this.#goesWrong() || epoch !== this.server.epoch) return;
            this.server.markRead(seq);
            this.#answerMark();
        });
    }

    /** Asks for the mark after each `live` until it is answered, because a replay brings no marks. */
    #askForMark(socket) {
        this.#later(this.#delay(), () => {
            if (socket !== this.#socket) return;
            if (this.#goesWrong()) this.#later(1000, () => this.#askForMark(socket));
            else this.#answerMark();
        });
    }

    /** Answers with the room's state, as a host passes it on. A host may also leave out the head. */
    #answerMark() {
        const { epoch, head, read } = this.server;
        const answer = { event: "marked", read, unread: this.server.countUnread(), ...(this.#chance(0.9) ? { head } : {}) };
        this.#later(this.#delay(), () => epoch === this.view.epoch && this.#take(answer));
    }

    #subscribe({ since, epoch }) {
        this.#endSocket();
        const socket = { isOpen: true, subscription: null, clearAt: 0 };
        this.#socket = socket;
        // The events of one socket come in order, and stop once it has been replaced.
        const tell = (event) => {
            socket.clearAt = Math.max(socket.clearAt, this.#now + this.#delay() / 4);
            this.#later(socket.clearAt - this.#now, async () => {
                if (socket !== this.#socket) return;
                await this.#take(event);
                if (event.frame?.type === "live") this.#askForMark(socket);
            });
        };
        const end = () => {
            socket.subscription?.close();
            if (socket.isOpen) tell({ event: "disconnected" });
            socket.isOpen = false;
        };
        const send = (frame) => {
            if (!socket.isOpen) return;
            const isLost = !this.#isHealed && this.#chance(this.dropRate) && frame.type === "message";
            if (isLost) return this.invariants.lose(frame.message);
            tell({ event: "frame", frame });
            if (!this.#isHealed && this.#chance(this.dropRate)) tell({ event: "frame", frame });
        };
        socket.end = end;
        this.#later(this.#delay(), () => {
            if (socket !== this.#socket) return;
            if (this.#goesWrong()) return end();
            if (epoch === this.server.epoch && since <= this.server.rev) tell({ event: "connected" });
            const subscription = this.server.subscribe(since, epoch, send);
            if (!subscription) {
                tell({ event: "frame", frame: { type: "error", code: "cursor_unknown", message: "", room: "lobby" } });
                return end();
            }
            socket.subscription = subscription;
            const replay = () => {
                if (!socket.isOpen) return;
                if (this.#chance(0.02) && this.#goesWrong()) return end();
                if (subscription.step()) this.#later(this.#chance(0.1) ? this.#delay() : 1, replay);
            };
            replay();
        });
    }

    #endSocket() {
        this.#socket?.subscription?.close();
        if (this.#socket) this.#socket.isOpen = false;
        this.#socket = null;
    }

    async #restore() {
        const upTo = Math.floor(this.#random() * (this.server.head + 1));
        const { rev, epoch } = this.server;
        const messages = this.server.messages.slice(0, upTo).filter(() => this.#chance(0.97));
        const event = { event: "restore", messages, has_before: true, has_after: upTo < this.server.head, rev, epoch };
        const known = this.#chance(0.3) ? { unread: this.server.countUnread() } : {};
        await this.#take({ ...event, read: this.#pick([null, this.server.read]), ...known });
        for (let count = 0; count < 5; count++) this.#someoneActs();
    }

    // Other activity

    /** The actions of other users and the user's other devices, and failures of the server and the connection. */
    #live() {
        if (this.#isHealed) return;
        const burst = this.#chance(0.01) ? 250 : this.#pick([1, 1, 1, 5]);
        for (let count = 0; count < burst; count++) this.#someoneActs();
        const notice = this.#pick([
            { type: "typing", room: "lobby", user: this.#pick(["bob", "carol", "alice"]) },
            { type: "presence", room: "lobby", online: this.#pick([1, 2, 3]) },
        ]);
        if (this.#chance(0.2)) this.server.notify(notice);
        if (this.#chance(0.05)) this.server.markRead(Math.floor(this.#random() * (this.server.head + 1)));
        if (this.#chance(this.faultRate / 10)) this.#socket?.end?.();
        // Before its first page the timeline knows no epoch, and the answers to its sends do not name theirs.
        if (this.restoresBackup && this.view.epoch !== null && this.#chance(0.02)) {
            this.restoresBackup = this.#chance(0.3);
            this.#socket?.end?.();
            this.server.restoreBackup(Math.floor(this.#random() * 20));
        }
        this.#later(this.#pick([50, 300, 1000, 5000]), () => this.#live());
    }

    #someoneActs() {
        const { server } = this;
        const any = () => 1 + Math.floor(this.#random() * server.head);
        const choice = this.#random();
        if (server.head === 0 || choice < 0.7) {
            const other = this.#pick(["bob", "bob", "carol", "alice"]);
            const id = this.#pick([undefined, "s1"]);
            server.send(other, other === "alice" ? `other-device-${server.rev}-${server.epoch}` : id);
        } else if (choice < 0.8) server.edit(any());
        else if (choice < 0.9) server.react(any(), ["bob"]);
        else server.delete(any());
    }

    /** The actions of the user. */
    async #use() {
        if (this.#isHealed) return;
        if (this.#chance(0.1)) await this.#fold();
        const { rows } = this.view;
        const choice = this.#random();
        if (choice < 0.2) await this.#take({ event: "near", edge: this.#pick(["before", "after"]) });
        else if (choice < 0.5) {
            const visible = this.#chance(0.5) ? rows.at(-1) : rows[Math.floor(this.#random() * rows.length)];
            await this.#viewport(visible?.seq ?? null, visible !== undefined && visible === rows.at(-1));
        } else if (choice < 0.7) {
            const burst = this.#pick([1, 1, 2, 4]);
            for (let count = 0; count < burst; count++) {
                const id = this.#chance(0.05) && this.#sends > 0 ? `s${this.#sends}` : `s${++this.#sends}`;
                const draft = { client_message_id: id, text: id };
                await this.#take({ event: "send", draft, at: START + this.#now + this.#clockError });
            }
        } else if (choice < 0.8) await this.#take({ event: "jump", to: this.#place() });
        else if (choice < 0.9) await this.#active(this.#chance(0.5));
        else if (choice < 0.93) await this.#take({ event: "open", at: this.#place() });
        else if (choice < 0.94) await this.#take({ event: "utc_offsets", utc_offsets: this.#offsets() });
        else {
            const failed = rows.filter(({ state }) => state === "failed");
            if (failed.length > 0) {
                const event = this.#chance(0.7) ? "retry" : "discard";
                await this.#take({ event, client_message_id: this.#pick(failed).key.slice(3) });
            }
        }
        this.#later(this.#pick([20, 300, 2000, 8000]), () => this.#use());
    }

    /** The user blocks others, ends that, or asks to see one of their messages. */
    async #fold() {
        if (this.#chance(0.5)) {
            await this.#take({ event: "blocked", users: ["bob", "carol", "alice"].filter(() => this.#chance(0.4)) });
        } else {
            const seqs = this.view.rows.flatMap(({ seq }) => seq ?? []);
            await this.#take({ event: "show", seq: this.#pick([...seqs, this.server.head + 1]) });
        }
    }

    /** The list has scrolled to a place, with the next five rows in sight. */
    async #arrive(to) {
        const { rows } = this.view;
        const place = to === "bottom" ? rows.length : rows.findIndex(({ key }) => key === to) + 5;
        const visible = rows.slice(0, place).findLast(({ seq }) => seq);
        await this.#viewport(visible?.seq ?? null, place >= rows.length);
    }

    async #viewport(last_visible, at_bottom) {
        await this.#take({ event: "viewport", at_bottom, last_visible });
    }

    async #active(active) {
        this.#isActive = active;
        await this.#take({ event: "active", active });
    }

    #place() {
        return this.#pick(["read", "mention", "last", "last", 1 + Math.floor(this.#random() * (this.server.head + 3))]);
    }

    /** A time zone whose offset changes while the simulation runs, or has changed. */
    #offsets() {
        const changes = [-3_600_000, 5_000, 30_000, 4 * 3_600_000].filter(() => this.#chance(0.5));
        const minutes = () => this.#pick([0, 60, 120, -480, 840]);
        return [[null, minutes()], ...changes.map((change) => [START + change, minutes()])];
    }

    // Chance

    #chance(probability) {
        return this.#random() < probability;
    }

    #pick(list) {
        return list[Math.floor(this.#random() * list.length)];
    }

    #goesWrong() {
        return !this.#isHealed && this.#chance(this.faultRate);
    }

    #failure() {
        if (!this.#goesWrong()) return null;
        const status = this.#pick([0, 0, 401, 408, 429, 500, 503]);
        return status !== 0 && this.#chance(0.3) ? { status, retry_after: this.#pick([0, 1, 5]) } : { status };
    }

    #delay() {
        return this.#isHealed ? 30 : this.#pick([5, 20, 20, 80, 300, this.faultRate * 20_000]);
    }
}

for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    const run = new Run(seed);
    try {
        await run.play();
    } catch (error) {
        stdout.write(`not ok - the simulation with --seed ${seed} --runs 1\n${error.stack.replace(/^/gm, "    ")}\n`);
        exit(1);
    }
}
stdout.write(`ok - ${runs} simulated runs, from --seed ${firstSeed}\n`);
exit(0);
