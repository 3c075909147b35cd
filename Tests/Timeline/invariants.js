import { must } from "./must.js";
import { ReadingInvariants } from "./reading-invariants.js";

/** Checks the conditions that must hold after every event and at the end of a run, whatever the network did. */
export class Invariants {
    #server;
    #before = null;
    /** Per epoch and `seq`: the key and the highest `rev` shown. */
    #shown = new Map();
    /** The highest `rev` of each message that a frame or an answer has reported in this epoch, and the highest `seq`. */
    #told = new Map();
    #newestTold = 0;
    /** The sends that are not known to be stored, in the order of sending. */
    #outbox = [];
    /** The ids whose rows were stored in an epoch that is over: the server may have lost them. */
    #ofEarlierEpochs = new Set();
    #storedInEpoch = new Set();
    /** Every id that was sent and not discarded. */
    #sent = new Set();
    /** The id of the POST without an answer. */
    #posting = null;
    /** The messages that had a lost frame: the view may show older snapshots of them. */
    #lost = new Set();
    #atBottom = false;
    /** True from `disconnected` or `restore` until the view shows that nothing of what was missed is held (rule 13). */
    #isAbsent = false;
    #isActive = true;
    #requests = 0;
    /** The size of pages, and the maximum of the window; infinite if it is never cut. */
    #limit;
    #maximum;
    /** The reader's place, as the cut defines it; null while it is unknown. */
    #readerAt = null;
    /** The requests without an answer. */
    #awaited = new Set();
    /** True if a fetch has failed, so that an opening or a jump may wait. */
    #isUnsettled = false;
    /** The blocked users, and the messages of theirs that the user has asked to see, with their senders. */
    #blocked = new Set();
    #unfolded = new Map();
    /** The messages that `checkAll` has seen, by the keys of their rows. */
    #seen = new Map();
    #reading;

    constructor(server, { limit, window = Infinity }) {
        this.#server = server;
        this.#reading = new ReadingInvariants(server);
        this.#limit = limit;
        this.#maximum = window;
    }

    /** Records that a frame will not arrive. */
    lose({ seq }) {
        this.#lost.add(`${this.#server.epoch}/${seq}`);
    }

    check(event, effects, view) {
        const before = this.#before ?? view;
        this.#noteEvent(event, before);
        this.#checkEffects(event, effects, before, view);
        this.#checkRows(view, before);
        this.#checkFolding(event, before, view);
        this.#checkEdges(view);
        this.#checkFollowing(event, effects, before, view);
        this.#checkCut(event, effects, before, view);
        if (view.epoch !== null && view.epoch === before.epoch) {
            must(before.read === null || view.read >= before.read, "the read mark went back", before.read, view.read);
            must(event.event === "page" || view.rev >= before.rev, "the position went back", before.rev, view.rev);
        }
        must(view.unread >= 0, "unread is negative");
        must(view.toast === null || view.toast.count > 0, "an empty toast");
        this.#before = view;
    }

    #noteEvent(event, before) {
        switch (event.event) {
            case "active":
                this.#isActive = event.active;
                break;
            case "send": {
                const id = event.draft.client_message_id;
                if (before.rows.some(({ key }) => key === `me/${id}`)) break;
                this.#sent.add(id);
                if (!this.#outbox.includes(id)) this.#outbox.push(id);
                break;
            }
            case "retry":
                this.#outbox = this.#outbox.filter((id) => id !== event.client_message_id);
                this.#outbox.push(event.client_message_id);
                break;
            case "discard":
                this.#outbox = this.#outbox.filter((id) => id !== event.client_message_id);
                this.#sent.delete(event.client_message_id);
                break;
            case "page":
                for (const message of event.page.messages) this.#noteStored(message);
                break;
            case "frame":
                if (event.frame.type === "message") {
                    this.#noteStored(event.frame.message);
                    if (before.connection !== "offline") this.#noteTold(event.frame.message);
                }
                break;
            case "sent":
                this.#noteStored(event.message);
            // falls through
            case "send_failed":
                if (this.#posting === event.client_message_id) this.#posting = null;
                break;
        }
    }

    #noteStored({ sender, client_message_id }) {
        if (sender === "alice") this.#storedInEpoch.add(client_message_id);
    }

    #noteTold({ seq, rev }) {
        this.#told.set(seq, Math.max(rev, this.#told.get(seq) ?? 0));
        this.#newestTold = Math.max(this.#newestTold, seq);
    }

    #checkEffects(event, effects, before, view) {
        const order = ["fetch", "subscribe", "post", "mark_read", "scroll"];
        const places = effects.map(({ effect }) => order.indexOf(effect));
        const isOrdered = places.every((place, index) => index === 0 || places[index - 1] <= place);
        must(isOrdered, "effects are out of order", effects);
        must(effects.filter(({ effect }) => effect === "scroll").length <= 1, "more than one scroll", effects);
        for (const effect of effects) {
            switch (effect.effect) {
                case "fetch":
                    this.#requests++;
                    must(effect.request === this.#requests, "requests are not counted", effect);
                    if (event.event === "near") must(before[event.edge] !== "loading", "a second fetch", effect);
                    break;
                case "subscribe":
                    must(effect.since === view.rev, "subscribed elsewhere", effect, view.rev);
                    must(effect.epoch === view.epoch, "subscribed elsewhere", effect, view.epoch);
                    must(view.connection === "offline", "subscribed while connected");
                    break;
                case "post":
                    must(this.#posting === null, "a second POST under way", this.#posting, effect);
                    must(view.epoch !== null, "posted to an unknown epoch", effect);
                    this.#posting = effect.draft.client_message_id;
                    break;
                case "mark_read":
                    must(this.#isActive, "marked as read in the background", effect);
                    must(["viewport", "active"].includes(event.event), "marked as read by", event);
                    must(effect.seq > (before.read ?? 0), "marked as read", effect, before.read);
                    must(effect.seq === view.read, "the mark did not move", effect, view.read);
                    break;
                case "scroll": {
                    const isThere = effect.to === "bottom" || view.rows.some(({ key }) => key === effect.to);
                    must(isThere, "scrolls to what is not there", effect);
                }
            }
        }
    }

    #checkRows(view, before) {
        // While the server has another history than the timeline knows, the view cannot be compared with it.
        const isComparable = view.epoch === this.#server.epoch;
        const stored = view.rows.filter(({ seq }) => seq !== undefined);
        // Own sends beyond a gap are drawn below the window (rule 19).
        const lastOfOthers = stored.findLastIndex(({ mine }) => !mine);
        for (let index = 1; index < stored.length; index++) {
            const [previous, { seq }] = [stored[index - 1].seq, stored[index]];
            must(seq === previous + 1 || (seq > previous && index > lastOfOthers), "a gap", previous, seq);
        }
        if (view.epoch !== before.epoch) {
            for (const id of this.#storedInEpoch) this.#ofEarlierEpochs.add(id);
            this.#storedInEpoch.clear();
            this.#told.clear();
            this.#newestTold = 0;
        }
        // No reported change is lost, either in a race with a page or at the end of the room.
        for (const { seq, rev } of stored) must(rev >= (this.#told.get(seq) ?? 0), "an edit was lost", seq, rev);
        if (view.connection === "live" && view.after === "end") {
            must((stored.at(-1)?.seq ?? 0) >= this.#newestTold, "the newest message is missing", this.#newestTold);
        }
        for (const { key, seq, rev, state, mine } of stored) {
            if (mine && key.startsWith("me/")) {
                this.#storedInEpoch.add(key.slice(3));
            }
            if (!isComparable) continue;
            const known = this.#shown.get(`${view.epoch}/${seq}`);
            if (known?.key === key && known.rev === rev) continue;
            must(!known || known.key === key, "the key changed", known, key);
            must(!known || known.rev <= rev, "an older snapshot came back", known, rev);
            this.#shown.set(`${view.epoch}/${seq}`, { key, rev });
            const message = this.#server.messages[seq - 1];
            must(message && rev <= message.rev, "a snapshot from the future", key, rev);
            must(Boolean(mine) === (message.sender === "alice"), "not mine", key);
            const isDeleted = Boolean(message.deleted);
            if (rev === message.rev) must((state === "deleted") === isDeleted, "another state", key, state);
        }

        const unsent = view.rows.filter(({ seq, state }) => seq === undefined && state).map(({ key }) => key.slice(3));
        const firstUnsent = view.rows.findIndex(({ seq, state }) => seq === undefined && state);
        if (firstUnsent >= 0) {
            must(view.rows.slice(firstUnsent).every(({ seq }) => seq === undefined), "a message below an unsent one");
        }
        if (view.after !== "idle") {
            const order = this.#outbox.filter((id) => unsent.includes(id));
            must(order.join() === unsent.join(), "the outbox changed its order", this.#outbox, unsent);
        }
        must(view.rows.filter(({ state }) => state === "sending").length <= 1, "two sends at once");
        const days = view.rows.filter(({ key }) => key.startsWith("day/")).map(({ key }) => key);
        must(days.every((day, index) => index === 0 || days[index - 1] < day), "days are out of order", days);
        const line = view.rows.findIndex(({ key }) => key === "unread");
        if (line >= 0) must(view.rows[line + 1]?.seq !== undefined, "the unread line stands before nothing");
    }

    /** Checks that the messages of blocked users are folded, except those that the user has asked to see. */
    #checkFolding(event, before, view) {
        if (view.phase === "initial") this.#unfolded.clear();
        if (event.event === "show") {
            const row = before.rows.find(({ seq }) => seq === event.seq);
            if (row?.folded) this.#unfolded.set(event.seq, this.#server.messages[event.seq - 1]?.sender);
        }
        if (event.event === "blocked") {
            this.#blocked = new Set(event.users);
            for (const [seq, sender] of this.#unfolded) if (!this.#blocked.has(sender)) this.#unfolded.delete(seq);
        }
        const isComparable = view.epoch === this.#server.epoch;
        for (const { seq, key, state, mine, folded } of view.rows) {
            must(folded === undefined || (state === "stored" && !mine), "folded", key);
            if (state !== "stored" || mine || !isComparable) continue;
            const isFolded = this.#blocked.has(this.#server.messages[seq - 1].sender) && !this.#unfolded.has(seq);
            must(Boolean(folded) === isFolded, "another folding", key, folded);
        }
    }

    #checkEdges(view) {
        const phase = view.phase;
        if (phase === "prepending") must(view.before === "loading", "prepending, and nothing loads");
        if (phase === "appending") must(view.after === "loading", "appending, and nothing loads");
        if (phase === "initial") must(view.before === view.after, "the edges of an opening differ");
    }

    /**
     * Checks that a reader who follows is scrolled to each appended message, that a reader who was away is scrolled to the first of
     * those that came in the absence, and that no other reader is scrolled.
     */
    #checkFollowing(event, effects, before, view) {
        const wasAbsent = this.#isAbsent;
        if (event.event === "disconnected" || event.event === "restore") this.#isAbsent = true;
        const isAtBottom = this.#atBottom && this.#isActive && before.after === "end" && before.phase !== "initial";
        const scroll = effects.find(({ effect }) => effect === "scroll");
        const isArrival = event.event === "frame" && event.frame.type !== "error" && view.epoch === before.epoch;
        const [end, newEnd] = [last(before.rows), last(view.rows)];
        const hasGrown = newEnd > end && view.phase !== "initial";
        const ownBeyond = view.rows.concat(before.rows).some(({ seq, mine }) => seq !== undefined && mine);
        // While the page of a gap is under way, only the machine knows whether its window is at the head.
        if (isArrival && hasGrown && before.after === "end" && !ownBeyond) {
            const other = view.rows.find(({ seq, mine }) => seq > end && !mine);
            const isShown = this.#isAbsent && other ? scroll?.to !== "bottom" : scroll?.to === "bottom";
            must(isAtBottom ? scroll !== undefined && isShown : scroll === undefined, "following", { isAtBottom, scroll, end });
            if (isAtBottom && this.#isAbsent && other) {
                const line = view.rows.findIndex(({ key }) => key === "unread");
                const first = line < 0 ? other.key : "unread";
                must(scroll.to === first && !(view.rows[line + 1]?.seq > other.seq), "after an absence", scroll, other);
            }
        }
        if (event.event === "viewport" && view.phase !== "initial") this.#atBottom = event.at_bottom;
        else if (scroll) this.#atBottom = scroll.to === "bottom";
        else if (view.phase === "initial" || (hasGrown && !isAtBottom)) this.#atBottom = false;
        const isOpened = before.phase === "initial" && event.event === "page";
        const newest = view.rows.findLast(({ seq }) => seq !== undefined)?.seq ?? 0;
        const isWhole = view.connection === "live" && view.after === "end" && newEnd >= Math.max(newest, this.#newestTold);
        if (isOpened || isWhole) this.#isAbsent = false;
        const follows = isAtBottom && this.#atBottom && !this.#isAbsent && view.phase !== "initial" && view.after === "end";
        if (follows) must(view.toast === null, "a toast for a reader who follows", view.toast);
        this.#reading.check(event, effects, before, view, { isAtBottom, isAbsent: wasAbsent, isWhole });
    }

    /** Checks that a cut removes only what the reader is far from, and that the window does not grow beyond its maximum. */
    #checkCut(event, effects, before, view) {
        const scroll = effects.find(({ effect }) => effect === "scroll");
        const isReplaced = view.phase === "initial" || before.phase === "initial" || view.epoch !== before.epoch
            || event.event === "restore" || (event.event === "page" && scroll !== undefined);
        if (isReplaced) this.#isUnsettled = false;
        if (event.event === "fetch_failed") this.#isUnsettled = true;
        if (event.event === "page" || event.event === "fetch_failed") this.#awaited.delete(event.request);
        for (const { effect, request } of effects) if (effect === "fetch") this.#awaited.add(request);
        const [had, has] = [windowOf(before.rows), windowOf(view.rows)];
        this.#noteReader(event, scroll, isReplaced, had, has);
        if (has.last < has.first) return;
        const size = has.last - has.first + 1;
        if (!isReplaced && had.last >= had.first) {
            const [front, end] = [has.first > had.first, has.last < had.last];
            const margin = 2 * this.#limit;
            const isFar = has.first <= Math.max(had.first, this.#readerAt - margin) && has.last >= Math.min(had.last, this.#readerAt + margin);
            must(isFar, "a cut near the reader", span(had), span(has), this.#readerAt);
            if (front || end) {
                must(size >= this.#maximum - Math.floor(this.#maximum / 4), "a cut of too much", span(had), span(has));
                must(!front || view.before === "idle", "a cut edge is", view.before);
                must(!end || view.after === "idle", "a cut edge is", view.after);
            }
        }
        const isQuiet = this.#awaited.size === 0 && this.#readerAt !== null && !this.#isUnsettled && view.connection === "live";
        if (isQuiet) must(size <= this.#maximum + 1, "the window grows", span(has));
    }

    #noteReader(event, scroll, isReplaced, had, has) {
        if (isReplaced) this.#readerAt = null;
        if (event.event === "near") this.#readerAt = event.edge === "before" ? had.first : had.last;
        if (event.event === "viewport") this.#readerAt = event.at_bottom ? had.last : event.last_visible ?? this.#readerAt;
        if (scroll?.to === "bottom") this.#readerAt = has.last;
        else if (scroll) this.#readerAt = Math.min(Math.max(this.#seqAt(scroll.to, has), has.first), has.last);
    }

    /** Returns the `seq` of a scroll's target. */
    #seqAt(key, { rows }) {
        const index = rows.findIndex((row) => row.key === key);
        return rows.slice(index).find(({ seq }) => seq !== undefined).seq;
    }

    /** Checks the view after the network has healed and the reader has gone to the newest message. */
    checkHead(view) {
        const { head, rev, epoch } = this.#server;
        must(view.connection === "live", "the connection is", view.connection);
        must(view.epoch === epoch && view.rev === rev, "the position is", view.epoch, view.rev, "and not", epoch, rev);
        must(view.after === "end", "the edge after is", view.after);
        must(view.toast === null, "the toast stays", view.toast);
        must(view.rows.findLast(({ seq }) => seq !== undefined)?.seq === head, "the newest message is missing", head);
        const unsent = view.rows.filter(({ seq, state }) => seq === undefined && state);
        must(unsent.length === 0, "the outbox is not empty", unsent);
        must(this.#posting === null, "a POST is under way", this.#posting);
        must(view.read >= this.#server.read, "the mark of another device is missing", view.read, this.#server.read);
    }

    /** Checks the view on the way through the whole room, and notes its rows for `checkAll`. */
    checkPart(view) {
        for (const row of view.rows.filter(({ seq }) => seq !== undefined)) {
            const message = this.#server.messages[row.seq - 1];
            const key = message.sender === "alice" ? `me/${message.client_message_id}` : String(message.seq);
            must(row.key === key, "another row", row, message);
            must((this.#seen.get(key) ?? row.seq) === row.seq, "a message is shown twice", row);
            this.#seen.set(key, row.seq);
            if (this.#lost.has(`${this.#server.epoch}/${message.seq}`)) continue;
            must(row.rev === message.rev, "an old snapshot", row, message);
        }
    }

    /** Checks the view after the reader has seen all messages, and is at the newest one. */
    checkAll(view) {
        this.checkPart(view);
        const { messages } = this.#server;
        must(this.#seen.size === messages.length, "not the whole room was shown", this.#seen.size, messages.length);
        for (const id of this.#sent) {
            const copies = messages.filter((message) => message.sender === "alice" && message.client_message_id === id);
            if (copies.length === 0 && this.#ofEarlierEpochs.has(id)) continue;
            must(copies.length === 1, "a send is not stored once", id, copies);
            must(this.#seen.has(`me/${id}`), "a send is not shown", id);
        }
        must(view.after === "end", "the edge after is", view.after);
        must(view.read === (messages.at(-1)?.seq ?? view.read), "the mark is not at the newest", view.read);
        must(view.unread === 0, "unread is left", view.unread);
    }
}

/** Returns the first and last `seq` of the window, and its rows. The last is lower than the first if it is empty. */
function windowOf(rows) {
    return { first: rows.find(({ seq }) => seq !== undefined)?.seq ?? 1, last: last(rows), rows };
}

/** Returns the last `seq` of the window. Own sends stored beyond a gap are drawn below it. */
function last(rows) {
    const seqs = rows.map(({ seq }) => seq).filter((seq) => seq !== undefined);
    const hole = seqs.findIndex((seq, index) => index > 0 && seq > seqs[index - 1] + 1);
    return (hole < 0 ? seqs.at(-1) : seqs[hole - 1]) ?? 0;
}

const span = ({ first, last }) => [first, last];
