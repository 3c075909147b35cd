/** Checks what the reader is told after every event: day lines, the unread line, the number of unread messages, the place of a reset. */

import { must } from "./must.js";

/** The number at which the server stops counting. */
const UNREAD_CAP = 1000;

export class ReadingInvariants {
    #server;
    /** The offsets of the last `start` or `utc_offsets`. */
    #offsets = [[null, 0]];
    /** The time of each send, by id. */
    #sentAt = new Map();
    /** True if the present send had been sent before: it may be ignored. */
    #isRepeated = false;
    /** The highest known `seq` in this epoch, and at the first `live` since the opening; infinite before it. */
    #head = 0;
    #openingHead = Infinity;
    /** True if a page or a store gave the number 1,000 and nothing has said another one since. */
    #isCapped = false;
    /** The last visible message in this window, undefined while only the machine knows it, and the place of the last opening. */
    #lastVisible = null;
    /** The requests for pages that replace the window. */
    #replacing = new Set();
    #openedAt = null;

    constructor(server) {
        this.#server = server;
    }

    /**
     * @param {{isAtBottom: boolean, isAbsent: boolean, isWhole: boolean}} reader The reader's place before the event, and whether
     *   the later view has all messages that frames have told.
     */
    check(event, effects, before, view, reader) {
        this.#checkReset(event, effects, before, view, reader);
        this.#note(event, effects, before, view);
        this.#checkDays(view);
        this.#checkLine(event, effects, before, view, reader);
        this.#checkUnread(event, before, view, reader);
    }

    #note(event, effects, before, view) {
        if (view.epoch !== before.epoch || view.phase === "initial") this.#lastVisible = null;
        if (view.epoch !== before.epoch) this.#head = 0;
        switch (event.event) {
            case "start":
                this.#offsets = event.utc_offsets ?? [[null, event.utc_offset]];
                break;
            case "utc_offsets":
                this.#offsets = event.utc_offsets;
                break;
            case "send": {
                const id = event.draft.client_message_id;
                this.#isRepeated = this.#sentAt.has(id);
                if (!before.rows.some(({ key }) => key === `me/${id}`)) this.#sentAt.set(id, event.at);
                if (before.phase === "initial") this.#openedAt = "last";
                break;
            }
            case "open":
                this.#openedAt = event.at;
                this.#openingHead = Infinity;
                break;
            case "restore":
                this.#openingHead = Infinity;
                break;
            case "viewport":
                if (view.phase !== "initial") this.#lastVisible = event.last_visible;
                break;
            case "page":
                this.#head = Math.max(this.#head, event.page.head);
                if (before.phase === "initial") this.#openingHead = Infinity;
                break;
            case "frame":
                if (before.connection === "offline") break;
                this.#head = Math.max(this.#head, event.frame.message?.seq ?? event.frame.head ?? 0);
                if (event.frame.type === "live" && this.#openingHead === Infinity) this.#openingHead = this.#head;
                break;
        }
        // A page that replaces the window drops the reader's place, if it is still wanted.
        if (event.event === "page" && this.#replacing.has(event.request)) this.#lastVisible = undefined;
        for (const { effect, request, query } of effects) {
            if (effect === "fetch" && query.before === undefined && query.after === undefined) this.#replacing.add(request);
        }
    }

    /** Checks that each day line stands where the offset in force at the time of its message, or of its send, says. */
    #checkDays(view) {
        if (view.epoch !== null && view.epoch !== this.#server.epoch) return;
        const should = [];
        let latest = "";
        for (const row of view.rows) {
            if (row.state === undefined) continue;
            const at = row.seq === undefined
                ? this.#sentAt.get(row.key.slice(3))
                : Date.parse(this.#server.messages[row.seq - 1].created_at);
            const minutes = this.#offsets.findLast(([from]) => from === null || from <= at)[1];
            const day = `day/${new Date(at + minutes * 60_000).toISOString().slice(0, 10)}`;
            if (day > latest) should.push(day);
            if (day > latest) latest = day;
            should.push(row.key);
        }
        const is = view.rows.filter(({ key }) => key !== "unread").map(({ key }) => key);
        must(is.join() === should.join(), "day lines", is, should);
        const line = view.rows.findIndex(({ key }) => key === "unread");
        must(line < 0 || !view.rows[line + 1].key.startsWith("day/"), "the unread line stands above a day line");
    }

    /** Checks that the line moves only where the reader has read, and never while the reader follows. */
    #checkLine(event, effects, before, view, { isAtBottom, isAbsent }) {
        if (view.epoch !== before.epoch) return;
        const [was, is] = [lineOf(before), lineOf(view)];
        const isNewWindow = before.phase === "initial" || view.phase === "initial" || event.event === "restore";
        const isRemoved = event.event === "open" || event.event === "send" || (event.event === "jump" && event.to === "last");
        if (isRemoved) {
            const mayStay = event.event === "open" || (event.event === "send" && this.#isRepeated);
            must(is === null || mayStay, "the line stays after", event);
            return;
        }
        if (isNewWindow || was === is) return;
        const isThere = was !== null && view.rows.some(({ seq }) => seq === was);
        if (event.event === "page" && !isThere) return;
        // The page of a jump to the mention places the line before its first unread message, which it may not have.
        const first = event.event === "page" && effects.some(({ effect }) => effect === "scroll") ? event.page.first_unread : undefined;
        if (first !== undefined && is === (view.rows.some(({ seq }) => seq === first) ? first : null)) return;
        if (isThere) {
            const isPassed = (view.read ?? 0) >= was && (is === null || is > was);
            must(isPassed || (is !== null && is < was), "the line left unread messages", was, is, view.read);
        }
        const isFrame = event.event === "frame" && event.frame.type === "message";
        if (isFrame && isAtBottom && !isAbsent) must(is === null || is <= this.#openingHead, "a line while following", was, is);
    }

    #checkUnread(event, before, view, { isWhole }) {
        if (event.event === "marked") this.#checkMarked(event, before, view);
        const stored = view.rows.filter(({ seq }) => seq !== undefined);
        const reachesBack = view.before === "end" || (stored.length > 0 && stored[0].seq <= view.read + 1);
        const isCounted = isWhole && view.read !== null && reachesBack;
        if (isCounted) {
            const unread = stored.filter(({ seq, mine, state }) => seq > view.read && !mine && state !== "deleted").length;
            must(view.unread === unread, "unread is", view.unread, "and not", unread);
        }
        const said = event.event === "page" ? event.page.unread : event.unread;
        const isSaying = ["page", "restore", "marked"].includes(event.event) && said !== undefined;
        if (this.#isCapped && !isCounted && !isSaying && view.epoch === before.epoch && view.after !== "end") {
            must(view.unread === UNREAD_CAP, "counted beyond the cap", event, view.unread);
        }
        if (isSaying && said === UNREAD_CAP && view.unread === UNREAD_CAP) this.#isCapped = true;
        else if (view.unread !== UNREAD_CAP || isCounted) this.#isCapped = false;
    }

    /** Checks that an answer with the room's head moves the mark, and that one without it matters only at the maximum. */
    #checkMarked({ read, unread, head }, before, view) {
        const isBehind = read < (before.read ?? 0);
        if (isBehind || (head === undefined && !this.#isCapped)) {
            must(view.unread === before.unread && view.read === before.read, "marked changed", before.unread, view.unread);
            return;
        }
        must(view.read === read, "the mark is", view.read, "and not", read);
    }

    /** Checks that a reset opens the room where the reader was. */
    #checkReset(event, effects, before, view, { isAtBottom, isAbsent }) {
        const isReset = before.epoch !== null && view.epoch === null && before.phase !== "initial";
        if (!isReset) return;
        const { query } = effects.find(({ effect }) => effect === "fetch");
        // Only the machine knows when an absence ends whose messages were dropped or lost, and whether an edge that loads is a gap.
        const isUncertain = (isAbsent && before.connection === "live") || before.after === "loading" || before.after === "failed";
        if (isUncertain || this.#lastVisible === undefined) {
            this.#openedAt = query.around === "unread" ? "read" : query.around ?? "last";
            return;
        }
        const place = isAtBottom && !isAbsent ? "last" : this.#lastVisible ?? this.#openedAt ?? "last";
        const should = place === "last" ? undefined : place === "read" ? "unread" : place;
        must(query.around === should, "a reset opened", query, "and not", place);
        this.#openedAt = place;
    }
}

/** The message below the unread line; null if there is no line. */
function lineOf({ rows }) {
    const line = rows.findIndex(({ key }) => key === "unread");
    return line < 0 ? null : rows[line + 1].seq;
}
