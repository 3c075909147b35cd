/**
 * The timeline: a chat screen as a state machine.
 *
 * A chat screen opens in the middle of a room, loads pages both ways, takes live messages, shows the user's own sends
 * before they are stored, and survives lost connections. `Timeline` makes the decisions, and its host carries them out.
 * It takes one event at a time, and returns effects (what to do) and the view (what to show). It has no DOM, network or
 * clock; the same events always give the same result. The host performs the effects and reports their results as
 * events. It answers each `fetch` and each `post` with exactly one event.
 *
 *     const timeline = new Timeline();
 *     timeline.handle({ event: "start", me: "alice", room: "lobby", limit: 30, utc_offset: 0 });
 *     const { effects, view } = timeline.handle({ event: "open", at: "read" });
 *     // effects: [{ effect: "fetch", request: 1, query: { around: "unread", limit: 30 } }]
 *
 * The parts of its state, each with a section below:
 *
 * - The window: messages without gaps (`MessageWindow`), its two edges, and messages that are *held* or *late*.
 * - The position: `epoch` and `rev`, at which the next `subscribe` continues.
 * - The reading state: the read mark, the unread line, the unread count, and messages that arrived unseen.
 * - The outbox: own sends that are not known to be stored.
 * - The blocked users, and their messages that the user has asked to see.
 *
 * Without `window` in `start` nothing is ever removed from the window, so it grows with each page that the reader loads.
 * With `window: N` the machine cuts it, so that memory does not grow with the room: see `#cut`.
 *
 * "Rule" with a number refers to the rules in docs/timeline.md, which the cases in Tests/Timeline/cases also refer to.
 *
 * For ports: everything here is synchronous and single-threaded, and owns its state. `Map` and `Set` are dictionaries
 * that keep the order of insertion; only the outbox and the typing users depend on that order.
 *
 * @module timeline
 */

import { check, MalformedEvent, MARGIN_PAGES } from "./timeline-events.js";
import { MessageWindow } from "./timeline-window.js";

export { MalformedEvent };

/**
 * @typedef {import("./timeline-events.js").Event} Event
 * @typedef {import("./timeline-events.js").Message} Message
 * @typedef {import("./timeline-events.js").Page} Page
 * @typedef {import("./timeline-events.js").Place} Place
 * @typedef {import("./timeline-events.js").Edge} Edge
 * @typedef {import("./timeline-events.js").Query} Query
 * @typedef {import("./timeline-events.js").Frame} Frame
 * @typedef {import("./timeline-events.js").PostedDraft} PostedDraft
 * @typedef {import("./timeline-window.js").Entry} Entry
 *
 * @typedef {{effect: "fetch", request: number, query: Query}
 *   | {effect: "subscribe", since: number, epoch: string}
 *   | {effect: "post", draft: PostedDraft}
 *   | {effect: "mark_read", seq: number}
 *   | {effect: "scroll", to: string}} Effect
 *
 * @typedef {object} Row A line of the list. An unchanged row is the same object in the next view.
 * @property {string} key Unique among the rows, and never changes.
 * @property {number} [seq] Only stored messages have `seq` and `rev`.
 * @property {number} [rev]
 * @property {"stored" | "deleted" | "queued" | "sending" | "failed"} [state] Absent for day lines and the unread line.
 * @property {string | null} [code] The error's code if `state` is `failed`.
 * @property {true} [mine]
 * @property {true} [folded] True for a message of a blocked user, to be drawn as such and not with its content (rule 23).
 * @property {Message} [message] The message, if the row is a stored one.
 * @property {PostedDraft} [draft] The draft, if the row is a send that is not known to be stored.
 *
 * @typedef {object} View
 * @property {readonly Row[]} rows Oldest first.
 * @property {readonly (readonly Row[])[]} chunks The same rows in arrays of some hundred. An unchanged array is the
 *   same object in the next view, so that a host can find changes without examining each row.
 * @property {"idle" | "loading" | "failed" | "end"} before
 * @property {"idle" | "loading" | "failed" | "end"} after
 * @property {"offline" | "catching_up" | "live"} connection
 * @property {string | null} epoch
 * @property {number} rev
 * @property {number} unread
 * @property {number | null} read
 * @property {{count: number, seq: number} | null} toast
 * @property {string[]} typing
 * @property {number | null} online
 * @property {"initial" | "prepending" | "appending" | "idle"} phase
 */

/**
 * @template {Event["event"]} Name
 * @typedef {Extract<Event, {event: Name}>} EventOf
 */

/** @typedef {{until: number, asked: boolean}} Wait The end of a wait, and whether the server has asked for it. */

/** Maximum number of messages held beyond a gap (rule 7). With more, the window is no longer at the head. */
const MAXIMUM_HELD = 200;

/** The time for which a typing notice is shown, in milliseconds (rule 21). */
const TYPING_MILLISECONDS = 6000;

/** The number at which the server stops counting unread messages: it means that many or more (rule 15). */
const UNREAD_CAP = 1000;

/** Maximum wait between two attempts, in seconds (rules 11, 18, 20). */
const MAXIMUM_BACKOFF_SECONDS = 30;

/** The order of the effects of one event. */
const EFFECT_ORDER = ["fetch", "subscribe", "post", "mark_read", "scroll"];

const UNREAD_LINE = { key: "unread" };

/** A fetch, a POST or a connection that is retried until it succeeds, with its wait after a failure. */
class Attempt {
    /** @type {number | null} The request under way; null if there is none. Only fetches use it. */
    request = null;
    /** The `seq` that the last request started from. Only the edge after uses it. */
    from = 0;
    /** True after a failure, until the next attempt begins. */
    hasFailed = false;
    /** @type {Wait | null} The wait before the next attempt; null if there is none. */
    wait = null;
    #failures = 0;

    get state() {
        if (this.request !== null) return "loading";
        return this.hasFailed ? "failed" : "idle";
    }

    /** @param {number} request */
    begin(request) {
        this.request = request;
        this.hasFailed = false;
        this.wait = null;
    }

    /** Ends the attempt. The next one starts only on demand. */
    fail() {
        this.request = null;
        this.hasFailed = true;
    }

    /**
     * Waits `retryAfter` seconds, or 1, 2, 4 … 30 by the number of failures since the last success. A failure with a
     * `retry_after` counts too (rule 11 leaves this open).
     *
     * @param {number} now
     * @param {number | null} [retryAfter]
     */
    failAndWait(now, retryAfter = null) {
        this.fail();
        this.#failures++;
        const asked = retryAfter !== null;
        const seconds = retryAfter ?? Math.min(2 ** (this.#failures - 1), MAXIMUM_BACKOFF_SECONDS);
        this.wait = { until: now + seconds * 1000, asked };
    }

    succeed() {
        this.request = null;
        this.hasFailed = false;
        this.wait = null;
        this.#failures = 0;
    }
}

/**
 * Returns true if the same request may succeed later (rules 11 and 18). 401 is among them: a token has ended, and the host gets
 * another.
 *
 * @param {number} status The status of the answer; 0 if no answer came.
 */
export function isTemporary(status) {
    return status === 0 || status === 401 || status === 408 || status === 429 || (status >= 500 && status <= 599);
}

/**
 * Returns the part of a view's toast that is unread; null if there is none. The user may have read the rest on another device.
 *
 * @param {Pick<View, "toast" | "read" | "unread">} view
 */
export function unreadToast({ toast, read, unread }) {
    if (toast === null || unread === 0 || toast.seq <= (read ?? 0)) return null;
    return { count: Math.min(toast.count, unread), seq: toast.seq };
}

const bySeq = (/** @type {Message} */ one, /** @type {Message} */ other) => one.seq - other.seq;

export class Timeline {
    #me = "";
    #room = "";
    #limit = 0;
    /** @type {[number | null, number][]} The minutes east of UTC, each from its time on; ascending, the first from ever. */
    #utcOffsets = [[null, 0]];
    /** Maximum number of messages in the window before it is cut. */
    #maximum = Infinity;
    #isStarted = false;

    /**
     * Null until a page or stored messages have come.
     *
     * @type {MessageWindow}
     */
    #window = /** @type {any} */ (null);
    /** @type {Record<Edge, Attempt>} */
    #edges = { before: new Attempt(), after: new Attempt() };
    /** @type {Map<number, Message>} Messages after a window at the head that do not touch it yet (rules 6 and 7). */
    #held = new Map();
    /** @type {Map<number, Message>} Messages outside the window that came during a fetch (rule 8). */
    #late = new Map();
    /** @type {{at: Place, fetch: Attempt}} The opening whose page has not arrived; null if there is none. */
    #opening = /** @type {any} */ (null);
    /**
     * @type {{to: Place, fetch: Attempt | null}} The jump in progress; null if there is none. Without its own fetch, the edge after
     *   loads for it.
     */
    #jump = /** @type {any} */ (null);
    /** True from `restore` until its window is replaced, or until the first `open` (rule 3). */
    #isRestored = false;
    #hadWindow = false;
    /** @type {Place | null} The place of the last opening (rule 20). */
    #openedAt = null;

    /** @type {string | null} */
    #epoch = null;
    #rev = 0;
    /** The highest known `seq` of the room. */
    #head = 0;
    /** The `head` of the last `subscribed`. By `live`, frames have told of all messages up to it that were new. */
    #subscribedHead = 0;

    /** @type {number | null} */
    #read = null;
    #unread = 0;
    /** True if `#unread` is the server's maximum, so that the number may be higher (rule 15). */
    #isUnreadCapped = false;
    /**
     * The unread line: its place once known, or how far the search for it has come since the opening; null for none (rule 2).
     *
     * - `isTaken`: a message that came later has it.
     * - `wasAtBottom`: the reader has been at the bottom since the line came there.
     *
     * @type {{at?: number, isTaken?: boolean, mark: number, searched: number, wasAtBottom: boolean}} With `at` and `isTaken` once it
     *   is placed. `mark` and `searched` matter before.
     */
    #line = /** @type {any} */ (null);
    /**
     * The room's highest known `seq` at the first `live` since the opening; null before it (rule 2).
     *
     * @type {number | null}
     */
    #openingHead = null;
    /** @type {View["toast"]} */
    #toast = null;
    #atBottom = false;
    /** True from `disconnected` or `restore` until nothing of what was missed is held (rule 13). */
    #isAbsent = false;
    /**
     * The messages that this event has appended at the bottom: the first one of others, if any (rule 13). Null if it has
     * appended none.
     *
     * @type {{other: number | null} | null}
     */
    #appended = null;
    /** @type {number | null} */
    #lastVisible = null;
    /**
     * The `seq` at which the reader was last known to be: by a `viewport`, the target of a `scroll`, or the edge of a
     * `near`. Null while that is unknown. Only the cut depends on it.
     *
     * @type {number | null}
     */
    #readerAt = null;
    #isActive = true;
    /** The newest message that no longer counts as new (rule 14). */
    #newest = 0;
    /** @type {Set<number>} The new messages after `#newest`, so that each is counted once. */
    #arrived = new Set();
    #newestArrived = 0;
    /** @type {Set<number>} The held messages that `#toast` has counted. */
    #toasted = new Set();

    /** @type {Map<string, {draft: PostedDraft, at: number, row: Row}>} By client_message_id, in the order of sending. */
    #outbox = new Map();
    /** @type {Set<string>} Sends of this outbox that are stored but may not be in the window yet. */
    #landed = new Set();
    /** @type {{id: string, isOutdated: boolean} | null} The POST under way; outdated if its epoch is over. */
    #post = null;
    #posting = new Attempt();

    /** @type {Map<string, Set<number>>} The blocked users, each with the messages that the user has asked to see. */
    #blocked = new Map();

    /** The socket of the last `subscribe`. */
    #socket = "closed";
    #isLive = false;
    /** True from `connected` to `live`, even across a lost connection: messages come by `rev`, not by `seq` (rule 7). */
    #isReplaying = false;
    /** True if the connection was lost since `live` or `start` (rule 20). */
    #wasCut = false;
    #connecting = new Attempt();
    /**
     * @type {Map<string, number>} The users shown as typing, in the order in which they began, with the time at which that
     *   ends.
     */
    #typing = new Map();
    /** @type {number | null} */
    #online = null;

    /** The latest `now`, and the milliseconds that have passed by the differences of `now`. */
    /** @type {number | null} */
    #now = null;
    #elapsed = 0;

    #requests = 0;
    /** @type {Effect[]} */
    #effects = [];
    /** @type {View | null} The present view, once it has been read. */
    #view = null;
    /** @type {Map<number, Row>} */
    #dayLines = new Map();

    /**
     * Handles an event.
     *
     * @param {Event} event
     * @returns {{effects: Effect[], readonly view: View}} The view is created when it is read, so that a host can handle many
     *   events between two frames of the screen and draw once. It is always the view after the latest event.
     * @throws {MalformedEvent} The event is unknown or malformed; nothing has changed.
     */
    handle(event) {
        check(event);
        if (this.#isStarted === (event.event === "start")) {
            throw new MalformedEvent(this.#isStarted ? "start comes once" : "the first event must be start");
        }
        this.#effects = [];
        this.#appended = null;
        this.#view = null;
        this.#take(event);
        this.#settle();
        const order = (/** @type {Effect} */ { effect }) => EFFECT_ORDER.indexOf(effect);
        const effects = this.#effects.sort((one, other) => order(one) - order(other));
        const timeline = this;
        return {
            effects,
            get view() {
                return timeline.view;
            },
        };
    }

    /** @param {Event} event */
    #take(event) {
        switch (event.event) {
            case "start": return this.#start(event);
            case "open": return this.#open(event.at);
            case "restore": return this.#restore(event);
            case "page": return this.#takePage(event);
            case "fetch_failed": return this.#takeFetchFailure(event);
            case "connected": return this.#takeConnected();
            case "disconnected": return this.#takeDisconnected();
            case "frame": return this.#takeFrame(event.frame);
            case "near": return this.#near(event.edge);
            case "viewport": return this.#takeViewport(event);
            case "active": return this.#takeActive(event.active);
            case "send": return this.#send(event);
            case "sent": return this.#takeSent(event);
            case "send_failed": return this.#takeSendFailure(event);
            case "marked": return this.#takeMarked(event);
            case "retry": return this.#retrySend(event.client_message_id);
            case "discard": return this.#discardSend(event.client_message_id);
            case "jump": return this.#jumpTo(event.to);
            case "time": return this.#takeTime(event.now);
            case "utc_offsets": return this.#takeOffsets(event.utc_offsets);
            case "blocked": return this.#takeBlocked(event.users);
            case "show": return this.#show(event.seq);
        }
    }

    /** @param {EventOf<"start">} event */
    #start({ me, room, limit, utc_offset, utc_offsets, window }) {
        this.#me = me;
        this.#room = room;
        this.#limit = limit;
        this.#utcOffsets = utc_offsets ?? [[null, utc_offset ?? 0]];
        this.#maximum = window ?? Infinity;
        this.#isStarted = true;
    }

    /** Applies the rules that depend on the state only, after any event. */
    #settle() {
        const window = this.#window;
        if (window) {
            this.#findLine();
            this.#showAppended();
            if (!window.hasAfter && this.#jump && !this.#jump.fetch) {
                this.#jump = /** @type {any} */ (null);
                this.#scroll(this.#bottom);
            }
            // Rule 11: an edge that has become an end forgets its failure. An edge with a gap behind it is no end.
            const { before, after } = this.#edges;
            if (!window.hasBefore && before.hasFailed) before.succeed();
            if (!window.hasAfter && this.#held.size === 0 && after.hasFailed) after.succeed();
            if (this.#holdsAllUnread()) this.#setUnread(window.unread, false);
            this.#cut();
            this.#noteLineSeen();
        }
        if (this.#isLive && this.#held.size === 0) this.#isAbsent = false;
        if (this.#follows) this.#toast = null;
        if (this.#isLive && !this.#isGapOpen()) this.#ageArrivals();
        if (!this.#isFetching()) this.#late.clear();
        if (this.#held.size === 0 && this.#late.size === 0) this.#landed.clear();
        if (this.#toasted.size > this.#held.size) {
            for (const seq of this.#toasted) if (!this.#held.has(seq)) this.#toasted.delete(seq);
        }
        this.#postNext();
    }

    /** @param {{to: string, seq: number}} target */
    #scroll({ to, seq }) {
        this.#effects = this.#effects.filter(({ effect }) => effect !== "scroll");
        this.#effects.push({ effect: "scroll", to });
        this.#atBottom = to === "bottom";
        this.#readerAt = seq;
    }

    // The targets of `scroll`: what it names, and the `seq` there.

    get #bottom() {
        return { to: "bottom", seq: this.#window.last };
    }

    get #unreadLine() {
        return { to: "unread", seq: /** @type {number} */ (this.#line.at) };
    }

    /** @param {number} seq */
    #rowOf(seq) {
        return { to: this.#known(seq).row.key, seq };
    }

    /**
     * Removes messages that the reader is far from, once the window has more than the maximum.
     *
     * - The cut begins on the longer side of the window, seen from the reader. It leaves three quarters of the maximum, so
     *   that cuts are rare, and at least two pages between the reader and the new edge. `near` loads what was removed again.
     * - The room goes on at the new edge, whose earlier failure is forgotten. After a cut of the end the window is no longer at
     *   the head, so rules 5, 15 and 16 apply as to any such window: new messages are not inserted, `unread` counts on from what
     *   was counted before the cut, and the outbox is drawn again when the head is reached.
     * - Nothing of the removed messages is kept. A page that has them again is requested later than they were changed, so it has
     *   these changes. Own messages get the same keys, and the unread line its place.
     * - Requests under way must find the window that they were made for. So there is no cut during an opening or a jump, none at
     *   an edge that loads, and none of the end of a window at the head while messages beyond it are held (rules 6 to 9). Nor is
     *   there one before the reader's place is known.
     */
    #cut() {
        const window = this.#window;
        if (window.count <= this.#maximum || this.#readerAt === null || this.#opening || this.#jump) return;
        const place = Math.min(Math.max(this.#readerAt, window.first), window.last);
        const [count, before, after] = [window.count, place - window.first, window.last - place];
        // After a burst of messages, cutting one side down to the margin may not be enough.
        if (before >= after) this.#cutEdge("before", before) && this.#cutEdge("after", after);
        else this.#cutEdge("after", after) && this.#cutEdge("before", before);
        if (window.count === count) return;
        const { days } = window;
        for (const day of this.#dayLines.keys()) if (!days.has(day)) this.#dayLines.delete(day);
    }

    /**
     * Cuts one side of the window, if it has more than the maximum.
     *
     * @param {number} length The number of messages between the reader and that edge.
     * @param {Edge} edge
     * @returns {boolean} False if the edge must stay for now.
     */
    #cutEdge(edge, length) {
        const window = this.#window;
        if (window.count <= this.#maximum) return true;
        const isGap = edge === "after" && !window.hasAfter && this.#held.size > 0;
        if (this.#edges[edge].request !== null || isGap) return false;
        const kept = this.#maximum - Math.floor(this.#maximum / 4);
        const count = Math.min(window.count - kept, length - MARGIN_PAGES * this.#limit);
        if (count <= 0) return true;
        if (edge === "before") window.keep(window.first + count, window.last);
        else window.keep(window.first, window.last - count);
        this.#edges[edge] = new Attempt();
        return true;
    }

    // Opening (rules 1 to 3)

    /** @param {Place} at */
    #open(at) {
        if (!this.#isRestored) return this.#beginOpening(at);
        this.#isRestored = false;
        this.#openedAt = at;
        this.#startLine({});
        this.#findLine();
        const target = this.#placeInWindow(at);
        if (target === null) return this.#beginOpening(at);
        // Rule 3: the place lies in the restored window. This `open` ends an earlier opening and jump, too.
        this.#opening = /** @type {any} */ (null);
        this.#jump = /** @type {any} */ (null);
        this.#toast = null;
        this.#scroll(target);
    }

    /**
     * Drops the window and fetches the page that becomes the next one. The position, the mark and the outbox stay.
     *
     * @param {Place} at
     */
    #beginOpening(at) {
        this.#window = /** @type {any} */ (null);
        this.#isRestored = false;
        this.#forgetViewport();
        this.#edges = { before: new Attempt(), after: new Attempt() };
        this.#held.clear();
        this.#late.clear();
        this.#landed.clear();
        for (const shown of this.#blocked.values()) shown.clear();
        this.#jump = /** @type {any} */ (null);
        this.#line = /** @type {any} */ (null);
        this.#toast = null;
        // Rule 1: the connection is offline until the page's `subscribe`, even for an `error` of the earlier socket.
        // Its position no longer matters, and a reset would lose the place that the user asked for.
        this.#closeSocket();
        this.#isReplaying = false;
        this.#connecting.wait = null;
        this.#opening = { at, fetch: new Attempt() };
        this.#openedAt = at;
        this.#fetchOpening();
    }

    #fetchOpening() {
        this.#fetch(this.#opening.fetch, queryFor(this.#opening.at));
    }

    /** @param {Page} page */
    #openWith(page) {
        const { at } = this.#opening;
        this.#opening = /** @type {any} */ (null);
        // An opening's page sets the position, so a page of another epoch needs no reset (rule 20). Only the state of
        // the earlier epoch is dropped.
        if (this.#epoch !== null && this.#epoch !== page.epoch) this.#forgetEpoch();
        this.#epoch = page.epoch;
        this.#rev = page.rev;
        this.#becomeWindow(page);
        this.#startLine(page);
        this.#findLine();
        this.#subscribe();
        this.#scroll(this.#placeNearest(at, page));
        this.#isAbsent = false;
    }

    /** @param {EventOf<"restore">} event */
    #restore({ messages, has_before, has_after, rev, epoch, read, unread }) {
        if (this.#hadWindow || messages.length === 0) return;
        const run = newestRun(messages);
        this.#epoch = epoch;
        this.#rev = rev;
        this.#becomeWindow({
            messages: run,
            has_before: has_before || messages.some(({ seq }) => seq < run[0].seq),
            has_after,
            head: run.at(-1).seq,
            read,
            unread,
        });
        this.#startLine({});
        this.#isRestored = true;
        this.#isAbsent = true;
        this.#subscribe();
    }

    /** Drops everything except the outbox, and opens the room again (rule 20). */
    #reset() {
        const place = this.#follows ? "last" : this.#lastVisible ?? this.#openedAt ?? "last";
        const at = this.#opening?.at ?? place;
        this.#forgetEpoch();
        this.#beginOpening(at);
    }

    /** Drops the state that belongs to one epoch. */
    #forgetEpoch() {
        this.#window = /** @type {any} */ (null);
        this.#held.clear();
        this.#late.clear();
        this.#landed.clear();
        this.#epoch = null;
        this.#rev = 0;
        this.#head = 0;
        this.#subscribedHead = 0;
        this.#newest = 0;
        this.#arrived.clear();
        this.#newestArrived = 0;
        this.#toasted.clear();
        this.#read = null;
        this.#setUnread(0, false);
        this.#toast = null;
        this.#typing.clear();
        this.#online = null;
        if (this.#post) this.#post.isOutdated = true;
    }

    /**
     * Returns the target of a `scroll` to a place in the window; null if the place is unknown or outside the window.
     *
     * @param {Place} place
     */
    #placeInWindow(place) {
        const window = this.#window;
        // Only the server knows the place of the mention.
        if (place === "mention") return null;
        if (place === "last") return window.hasAfter ? null : this.#bottom;
        if (place === "read") {
            if (this.#isLineDrawn()) return this.#unreadLine;
            // The place is the mark, or the first unread message after it. If the mark is unknown or outside the
            // window, the unread messages may be elsewhere.
            const mark = this.#read;
            if (mark === null || mark > window.last) return null;
            if (!window.hasAfter && window.reachesBackTo(mark)) return this.#bottom;
            return window.has(mark) ? this.#rowOf(mark) : null;
        }
        return window.has(place) ? this.#rowOf(place) : null;
    }

    /**
     * Returns the target of the `scroll` to a place once its page has become the window (rule 1).
     *
     * @param {Place} place
     * @param {Page} page
     */
    #placeNearest(place, { first_unread_mention }) {
        const window = this.#window;
        if (place === "mention") {
            // The mark may have passed the page's mention.
            const mention = first_unread_mention ?? 0;
            place = mention > (this.#read ?? 0) ? mention : "read";
        }
        if (window.isEmpty || place === "last") return this.#bottom;
        if (place === "read") {
            if (this.#isLineDrawn()) return this.#unreadLine;
            if (!window.hasAfter) return this.#bottom;
        }
        const seq = place === "read" ? this.#read ?? 0 : place;
        return this.#rowOf(Math.min(Math.max(seq, window.first), window.last));
    }

    // The window (rules 4 to 9)

    /**
     * The entry of a message of the window.
     *
     * @param {number} seq
     */
    #known(seq) {
        return /** @type {Entry} */ (this.#window.at(seq));
    }

    /**
     * Makes a page the window: that of an opening or a jump, or restored messages.
     *
     * Snapshots from elsewhere may be newer than those of the page (rules 4 and 8). Messages after the page came after the page
     * was read, so they are placed as if they came now.
     *
     * @param {Omit<Page, "rev" | "epoch" | "read"> & {read?: number | null}} page
     */
    #becomeWindow(page) {
        const messages = page.messages.map((message) => this.#latest(message));
        const first = messages[0]?.seq ?? (page.has_after ? 1 : page.head + 1);
        const last = first + messages.length - 1;
        const beyond = new Map();
        const window = this.#window;
        if (window) {
            for (let seq = Math.max(window.first, last + 1); seq <= window.last; seq++) {
                beyond.set(seq, this.#known(seq).message);
            }
        }
        for (const message of [...this.#held.values(), ...this.#late.values()]) {
            if (message.seq > last) keepLatest(beyond, message);
        }

        this.#isRestored = false;
        this.#hadWindow = true;
        this.#jump = /** @type {any} */ (null);
        this.#forgetViewport();
        this.#edges = { before: new Attempt(), after: new Attempt() };
        this.#held.clear();
        this.#window = new MessageWindow(messages, {
            first,
            hasBefore: page.has_before,
            hasAfter: page.has_after,
            me: this.#me,
            mark: this.#read,
            entry: (message, isTwice) => this.#entry(message, isTwice),
        });
        messages.forEach((message) => this.#land(message));
        this.#readFrom(page);
        this.#head = Math.max(this.#head, page.head);
        this.#newest = Math.max(this.#newest, page.head);
        for (const message of [...beyond.values()].sort(bySeq)) {
            this.#place(message, !this.#isReplaying || this.#isLanded(message));
        }
    }

    /**
     * Takes a snapshot from a frame, or from the answer to a POST, which is never part of a replay.
     *
     * @param {Message} message
     */
    #learn(message, mayAppend = !this.#isReplaying) {
        this.#head = Math.max(this.#head, message.seq);
        // Rule 8: the page of a fetch under way may have an older snapshot of this message.
        if (!this.#place(message, mayAppend) && this.#isFetching()) keepLatest(this.#late, message);
    }

    /**
     * Places a snapshot (rules 5 to 7).
     *
     * @param {Message} message
     * @param {boolean} [mayAppend] False in a replay, where messages wait for `live`.
     * @returns {boolean} False if it belongs neither in the window nor after it.
     */
    #place(message, mayAppend = !this.#isReplaying) {
        this.#land(message);
        const window = this.#window;
        if (!window) {
            // A send that is stored before the opening's page arrives keeps its row until then.
            if (this.#isLanded(message)) keepLatest(this.#held, message);
            return true;
        }
        if (message.seq < window.first) return false;
        if (message.seq <= window.last) {
            window.replace(message);
            return true;
        }
        if (window.hasAfter) {
            // A held message must be the latest snapshot.
            if (this.#held.has(message.seq)) keepLatest(this.#held, message);
            return false;
        }
        if (mayAppend && message.seq === window.last + 1) {
            this.#append(message);
            if (!this.#isReplaying) this.#appendHeld();
            return true;
        }
        return this.#hold(message);
    }

    /** @param {Message} message */
    #hold(message) {
        keepLatest(this.#held, message);
        if (this.#held.size > MAXIMUM_HELD) {
            this.#dropHeld();
            return false;
        }
        if (this.#isLive) this.#fetchGap();
        return true;
    }

    /**
     * Rule 7: drops the held messages, because there are too many. The reader's place stays. A reader at the bottom goes to the
     * newest message, or in an absence to the first unread one.
     */
    #dropHeld() {
        const wasAtBottom = this.#isAtBottom;
        this.#window.hasAfter = true;
        if (this.#isFetching()) this.#held.forEach((message) => keepLatest(this.#late, message));
        this.#held.clear();
        if (!wasAtBottom) return;
        if (this.#isAbsent) this.#fetchJump("read");
        else this.#jumpTo("last");
    }

    /** Rule 6: fetches the missing messages, unless that fetch is under way or has failed. */
    #fetchGap() {
        if (this.#edges.after.state === "idle") this.#fetchEdge("after");
    }

    #isGapOpen() {
        return this.#held.size > 0 && !this.#window?.hasAfter && this.#edges.after.state !== "idle";
    }

    /** @param {Message} message */
    #append(message) {
        const latest = this.#latest(message);
        // Rule 14: in an absence, what was held comes again.
        if (this.#held.delete(message.seq) && this.#isAbsent) this.#noteArrival(latest, true);
        const isAtBottom = this.#isAtBottom;
        this.#window.append(latest);
        if (!isAtBottom) {
            this.#atBottom = false;
            return;
        }
        this.#appended ??= { other: null };
        if (latest.sender !== this.#me) this.#appended.other ??= latest.seq;
    }

    /** Scrolls to what this event has appended at the bottom: to its end, or after an absence to its first unread (rule 13). */
    #showAppended() {
        if (this.#appended === null) return;
        const { other } = this.#appended;
        if (!this.#isAbsent || other === null) this.#scroll(this.#bottom);
        else this.#scroll(this.#isLineDrawn() ? this.#unreadLine : this.#rowOf(other));
    }

    /** Appends the held messages that touch the window. */
    #appendHeld() {
        const window = this.#window;
        let message;
        while ((message = this.#held.get(window.last + 1))) {
            this.#append(message);
            if (window.last >= this.#head) window.hasAfter = false;
        }
    }

    /**
     * Returns the snapshot of this message with the highest known `rev` (rule 4).
     *
     * @param {Message} message
     */
    #latest(message) {
        const { seq } = message;
        let latest = message;
        for (const other of [this.#window?.at(seq)?.message, this.#held.get(seq), this.#late.get(seq)]) {
            if (other && other.rev > latest.rev) latest = other;
        }
        return latest;
    }

    /** @param {Page} page */
    #extendBefore(page) {
        const window = this.#window;
        const last = page.messages.at(-1)?.seq ?? window.first - 1;
        if (last < window.first - 1 || last > window.last) return;
        const first = page.messages[0]?.seq ?? last + 1;
        const messages = page.messages.map((/** @type {Message} */ message) => this.#latest(message));
        messages.forEach((/** @type {Message} */ message) => this.#land(message));
        for (const message of messages) if (message.seq >= window.first) window.replace(message);
        if (first <= window.first) window.hasBefore = page.has_before;
        window.prepend(messages.filter(({ seq }) => seq < window.first));
    }

    /**
     * Adds a page to the edge after.
     *
     * @param {Page} page
     * @param {number} from The `last` of the request.
     */
    #extendAfter(page, from) {
        const window = this.#window;
        // A window at the head fetches only missing messages (rule 6).
        const isGap = !window.hasAfter;
        const first = page.messages[0]?.seq ?? from + 1;
        const last = page.messages.at(-1)?.seq ?? from;
        if (first >= window.first && first <= window.last + 1) {
            for (const snapshot of page.messages) {
                const message = this.#latest(snapshot);
                this.#land(message);
                if (isGap) this.#noteArrival(message);
                if (message.seq > window.last) {
                    this.#append(message);
                } else {
                    this.#held.delete(message.seq);
                    window.replace(message);
                }
            }
            this.#head = Math.max(this.#head, page.head);
            if (!isGap) this.#newest = Math.max(this.#newest, last);
            // A page that ends before the window does not show whether the room goes on after the window.
            const isNewest = last >= window.last;
            if (!this.#isReplaying) this.#appendHeld();
            if (isNewest) {
                // The message after the page may be held already: it has been appended, or will be at `live`.
                const isHeld = window.last > last ? window.last >= this.#head : this.#held.has(last + 1);
                window.hasAfter = page.has_after && !isHeld;
            }
            if (!window.hasAfter) this.#placeLate();
        }
        const hasAdvanced = window.last > from;
        // Rule 6: the page does not have the missing messages. Own sends keep their rows, because they are known to be
        // stored.
        if (isGap && !hasAdvanced) {
            for (const message of this.#held.values()) if (!this.#isLanded(message)) this.#held.delete(message.seq);
        }
        // The page was read before a later gap arose, so that gap is fetched by itself.
        if (hasAdvanced && this.#isLive && !window.hasAfter && this.#held.size > 0) this.#fetchGap();
        // Rule 16: decides again, until the head is reached. A page that adds nothing ends the jump, which would otherwise
        // never end.
        if (this.#jump && !this.#jump.fetch && window.hasAfter) {
            if (hasAdvanced) this.#goToLast();
            else this.#jump = /** @type {any} */ (null);
        }
    }

    /** Places the messages that came during a fetch, after its page has brought the window to the head. */
    #placeLate() {
        const late = [...this.#late.values()].filter(({ seq }) => seq > this.#window.last).sort(bySeq);
        for (const message of late) if (this.#place(message)) this.#late.delete(message.seq);
    }

    // Paging (rules 10 to 12)

    /** @param {Edge} edge */
    #near(edge) {
        const window = this.#window;
        if (!window) {
            // Without a window both edges show the opening's fetch.
            if (this.#opening?.fetch.state === "failed") this.#fetchOpening();
            return;
        }
        this.#readerAt = edge === "before" ? window.first : window.last;
        const { state } = this.#edges[edge];
        const goesOn = edge === "before" ? window.hasBefore : window.hasAfter;
        if (state === "failed" || (state === "idle" && goesOn)) this.#fetchEdge(edge);
    }

    /** @param {Edge} edge */
    #fetchEdge(edge) {
        const window = this.#window;
        const query = edge === "before" ? { before: window.first } : { after: window.last };
        this.#fetch(this.#edges[edge], query);
        if (edge === "after") this.#edges.after.from = window.last;
    }

    /**
     * @param {Attempt} attempt
     * @param {Omit<Query, "limit">} query
     */
    #fetch(attempt, query) {
        this.#requests++;
        attempt.begin(this.#requests);
        this.#effects.push({ effect: "fetch", request: this.#requests, query: { ...query, limit: this.#limit } });
    }

    /**
     * Returns the fetch that waits for this answer; null if its window, opening or jump has ended.
     *
     * @param {number} request
     */
    #waitingFor(request) {
        const { before, after } = this.#edges;
        if (this.#opening?.fetch.request === request) return { purpose: "opening", attempt: this.#opening.fetch };
        if (this.#jump?.fetch?.request === request) return { purpose: "jump", attempt: this.#jump.fetch };
        if (before.request === request) return { purpose: "before", attempt: before };
        if (after.request === request) return { purpose: "after", attempt: after };
        return null;
    }

    #isFetching() {
        return this.#opening?.fetch.request != null || this.#jump?.fetch?.request != null
            || this.#edges.before.request !== null || this.#edges.after.request !== null;
    }

    /** @param {EventOf<"page">} event */
    #takePage({ request, page }) {
        const waiting = this.#waitingFor(request);
        if (!waiting) return;
        const { purpose, attempt } = waiting;
        if (purpose === "opening") return this.#openWith(page);
        if (page.epoch !== this.#epoch) return this.#reset();
        attempt.succeed();
        if (purpose === "before") return this.#extendBefore(page);
        if (purpose === "after") return this.#extendAfter(page, attempt.from);
        const { to } = this.#jump;
        this.#rev = Math.max(this.#rev, page.rev);
        this.#becomeWindow(page);
        if (to === "read" || to === "mention") this.#placeLine(page);
        this.#findLine();
        this.#scroll(this.#placeNearest(to, page));
    }

    /** @param {EventOf<"fetch_failed">} event */
    #takeFetchFailure({ request, status, retry_after }) {
        const waiting = this.#waitingFor(request);
        if (!waiting) return;
        const { purpose, attempt } = waiting;
        if (status === 410 && purpose !== "opening") return this.#reset();
        if (isTemporary(status)) return attempt.failAndWait(this.#elapsed, retry_after);
        attempt.fail();
        if (purpose === "jump" || (purpose === "after" && this.#jump && !this.#jump.fetch)) this.#jump = /** @type {any} */ (null);
    }

    // Following and reading (rules 2, 13 to 16)

    /** True while the reader sees the room's newest message (rule 13). */
    get #isAtBottom() {
        return this.#atBottom && this.#isActive && this.#window !== null && !this.#window.hasAfter;
    }

    /** True while new messages scroll the view to the bottom (rule 13). */
    get #follows() {
        return this.#isAtBottom && !this.#isAbsent;
    }

    /** @param {EventOf<"viewport">} event */
    #takeViewport({ at_bottom, last_visible }) {
        if (!this.#window) return;
        this.#atBottom = at_bottom;
        this.#lastVisible = last_visible ?? null;
        this.#readerAt = at_bottom ? this.#window.last : this.#lastVisible ?? this.#readerAt;
        this.#markRead();
    }

    #forgetViewport() {
        this.#atBottom = false;
        this.#appended = null;
        this.#lastVisible = null;
        this.#readerAt = null;
    }

    /** @param {boolean} active */
    #takeActive(active) {
        if (active === this.#isActive) return;
        this.#isActive = active;
        if (!active) return;
        this.#markRead();
        this.#attemptAgain(({ asked }) => !asked);
    }

    /**
     * Moves the read mark (rule 15). Called only when the reader moves or comes back, so that loading alone marks nothing as
     * read.
     */
    #markRead() {
        const seq = this.#lastVisible;
        if (!this.#isActive || seq === null || !this.#window?.has(seq) || seq <= (this.#read ?? 0)) return;
        this.#moveMark(seq);
        this.#effects.push({ effect: "mark_read", seq });
    }

    /** @param {number} seq */
    #moveMark(seq) {
        if (this.#read !== null && seq <= this.#read) return;
        const passed = this.#window ? this.#window.moveMark(seq) : seq - (this.#read ?? 0);
        if (!this.#isUnreadCapped) this.#unread = Math.max(0, this.#unread - passed);
        this.#read = seq;
    }

    /**
     * @param {number} count
     * @param {boolean} mayBeCapped
     */
    #setUnread(count, mayBeCapped) {
        this.#unread = count;
        this.#isUnreadCapped = mayBeCapped && count === UNREAD_CAP;
    }

    /** Sets the mark and the unread count from a page that has become the window (rule 15). */
    /** @param {{read?: number | null, unread?: number | null, head: number}} page */
    #readFrom({ read, unread, head }) {
        const isBehind = (read ?? this.#read ?? 0) < (this.#read ?? 0);
        const isOutdated = head < Math.max(this.#newest, this.#newestArrived);
        if (read != null) this.#moveMark(read);
        if (unread != null && !isBehind && !isOutdated) this.#setUnread(unread, true);
    }

    /**
     * Takes the answer to a `mark_read`, or the state of the room that the host has asked for (rule 15).
     *
     * Without a `head` it matters only while the unread messages are too many to count. With it, the mark moves, and the number
     * counts if it includes exactly the messages that are known.
     *
     * @param {EventOf<"marked">} event
     */
    #takeMarked({ read, unread, head }) {
        const hasHead = head != null;
        if ((!this.#isUnreadCapped && !hasHead) || read < (this.#read ?? 0)) return;
        const isNumberKnown = this.#isUnreadCapped || this.#knowsAllUpTo(head);
        this.#moveMark(read);
        if (isNumberKnown) this.#setUnread(unread, true);
    }

    /**
     * Returns true if the room's newest known message is this one, and no earlier one can still come as new.
     *
     * @param {number | null | undefined} head
     */
    #knowsAllUpTo(head) {
        const known = Math.max(this.#newest, this.#newestArrived, this.#subscribedHead);
        return this.#isLive && this.#held.size === 0 && head === known;
    }

    /** Returns true if the window has all messages after the mark, so that the unread ones can be counted in it. */
    #holdsAllUnread() {
        return this.#read !== null && !this.#window.hasAfter && this.#held.size === 0
            && this.#window.reachesBackTo(this.#read);
    }

    // The unread line (rule 2)

    /**
     * Starts the search for an opening's unread line, or places it where the page says.
     *
     * @param {Pick<Page, "read" | "first_unread">} page
     */
    #startLine(page) {
        this.#line = this.#read === null ? /** @type {any} */ (null) : { mark: this.#read, searched: this.#read, wasAtBottom: false };
        this.#openingHead = this.#isLive ? this.#head : null;
        this.#placeLine(page);
    }

    /**
     * Places the line before a page's `first_unread`, unless the mark has moved past the page's mark.
     *
     * @param {Pick<Page, "read" | "first_unread">} page
     */
    #placeLine({ read, first_unread }) {
        if (first_unread == null || this.#line?.at === first_unread) return;
        if ((read ?? this.#read ?? 0) < (this.#read ?? 0)) return;
        this.#line = { at: first_unread, isTaken: false, mark: 0, searched: 0, wasAtBottom: false };
    }

    /**
     * Places an opening's line once the window reaches from the first message of others back to the mark. The search ends
     * with the messages that were there by the first `live`.
     */
    #findLine() {
        const line = this.#line;
        const window = this.#window;
        if (!line || line.at !== undefined) return;
        const end = this.#openingHead ?? Infinity;
        if (window.reachesBackTo(line.mark)) {
            for (let seq = Math.max(line.searched + 1, window.first); seq <= Math.min(window.last, end); seq++) {
                if (this.#known(seq).message.sender !== this.#me) {
                    this.#line = { ...line, at: seq, isTaken: false };
                    return;
                }
                line.searched = seq;
            }
        }
        if (line.searched >= end) this.#line = /** @type {any} */ (null);
    }

    #isLineDrawn() {
        return this.#line?.at !== undefined && this.#window.has(this.#line.at);
    }

    /**
     * Returns the message that the line stands before, even if it is not drawn; null if there is none. During the search, a
     * message outside the window counts as one of another user.
     */
    #lineSeq() {
        const line = this.#line;
        if (line === null) return null;
        if (line.at !== undefined) return line.at;
        const end = Math.min(this.#openingHead ?? Infinity, this.#head);
        let seq = line.searched + 1;
        while (seq <= end && this.#window.at(seq)?.message.sender === this.#me) seq++;
        return seq <= end ? seq : null;
    }

    /**
     * Gives the line to a new message of others that the reader does not follow, unless it stands before unseen ones.
     *
     * @param {number} seq
     */
    #takeLine(seq) {
        const isMissed = this.#isAbsent && !this.#window.hasAfter;
        if (this.#jump?.to === "last" || (this.#openingHead === null && !isMissed)) return;
        const at = this.#lineSeq();
        if (at !== null) {
            const isPassed = this.#line.wasAtBottom && (this.#read ?? 0) >= at;
            const isLower = this.#line.isTaken && seq < at;
            if (!isPassed && !isLower) return;
        }
        this.#line = { at: seq, isTaken: true, mark: 0, searched: 0, wasAtBottom: false };
    }

    /** Notes that the reader is at the bottom of a window which has the line's message, or begins after it. */
    #noteLineSeen() {
        const line = this.#line;
        if (!line || !this.#isAtBottom) return;
        const isReached = line.at !== undefined ? line.at <= this.#window.last : !this.#window.reachesBackTo(line.mark);
        if (isReached) line.wasAtBottom = true;
    }

    // New messages (rule 14), and jumps (rule 16)

    /**
     * Counts a message from a frame or the page of a gap, if it is new (rules 14, 15 and 21), and may give it the unread line.
     *
     * A message is new if it lies after the newest one known. During a replay or a gap such messages come in any order. So each
     * is remembered, and they all become known at the end.
     *
     * @param {Message} message
     * @param {boolean} comesAgain True if it was held in an absence, and is being appended. It is counted at most once.
     */
    #noteArrival({ seq, sender, deleted }, comesAgain = false) {
        const isNew = seq > this.#newest && !this.#arrived.has(seq);
        if (isNew) {
            this.#arrived.add(seq);
            this.#newestArrived = Math.max(this.#newestArrived, seq);
            this.#typing.delete(sender);
            const isUnread = sender !== this.#me && seq > (this.#read ?? 0) && !deleted;
            if (isUnread && !this.#isUnreadCapped) this.#unread++;
        }
        if (sender === this.#me || !(isNew || comesAgain) || this.#follows) return;
        if (!this.#toasted.has(seq)) {
            this.#toasted.add(seq);
            this.#toast = { count: (this.#toast?.count ?? 0) + 1, seq: Math.max(this.#toast?.seq ?? 0, seq) };
        }
        this.#takeLine(seq);
    }

    #ageArrivals() {
        this.#newest = Math.max(this.#newest, this.#newestArrived);
        this.#arrived.clear();
    }

    /** @param {Place} to */
    #jumpTo(to) {
        const window = this.#window;
        if (!window) return;
        this.#opening = /** @type {any} */ (null);
        if (to === "last") this.#line = /** @type {any} */ (null);
        const target = this.#placeInWindow(to);
        if (target !== null) {
            this.#jump = /** @type {any} */ (null);
            this.#scroll(target);
            return;
        }
        if (to === "last") this.#goToLast();
        else this.#fetchJump(to);
    }

    /** Loads what is missing up to the newest message, or the newest page if that is much. */
    #goToLast() {
        if (this.#head - this.#window.last >= this.#limit) return this.#fetchJump("last");
        this.#jump = { to: "last", fetch: null };
        if (this.#edges.after.request === null) this.#fetchEdge("after");
    }

    /**
     * Fetches the page of a jump, which replaces the window.
     *
     * @param {Place} to
     */
    #fetchJump(to) {
        this.#opening = /** @type {any} */ (null);
        // A second jump to the same place, such as that of a second send, takes over the fetch under way.
        if (this.#jump?.to === to && this.#jump.fetch?.request != null) return;
        this.#jump = { to, fetch: new Attempt() };
        this.#fetchJumpAgain();
    }

    #fetchJumpAgain() {
        this.#fetch(/** @type {Attempt} */ (this.#jump.fetch), queryFor(this.#jump.to));
    }

    // Sending (rules 17 to 19)

    /** @param {EventOf<"send">} event */
    #send({ draft, at }) {
        const id = draft.client_message_id;
        if (this.#outbox.has(id) || this.#window?.hasOwn(id) || this.#heldSends().some(isOf(id))) return;
        this.#outbox.set(id, { draft, at, row: this.#outboxRow(id, draft, "queued") });
        if (this.#window) return this.#jumpTo("last");
        const opening = this.#opening;
        const isOpening = opening?.at === "last" && (opening.fetch.request !== null || opening.fetch.wait !== null);
        if (!isOpening) this.#beginOpening("last");
    }

    #postNext() {
        // Without an epoch, the answer would not say which history the message is in.
        if (this.#post || this.#posting.wait || this.#epoch === null) return;
        for (const [id, send] of this.#outbox) {
            if (send.row.state !== "queued") continue;
            send.row = this.#outboxRow(id, send.draft, "sending");
            this.#post = { id, isOutdated: false };
            this.#effects.push({ effect: "post", draft: send.draft });
            return;
        }
    }

    /**
     * Ends the POST under way. Returns null if the answer belongs to another POST.
     *
     * @param {string} id
     */
    #endPost(id) {
        if (this.#post?.id !== id) return null;
        const post = this.#post;
        this.#post = null;
        return post;
    }

    /** @param {EventOf<"sent">} event */
    #takeSent({ client_message_id: id, message }) {
        const post = this.#endPost(id);
        if (post?.isOutdated) return this.#queueAgain(id);
        if (post) this.#posting.succeed();
        // If the answer gives another place than the one known, it belongs to an epoch that the frames have not reached
        // yet.
        const known = this.#heldSends().find(isOf(id)) ?? message;
        if (known.seq === message.seq) this.#learn(message, true);
    }

    /** @param {EventOf<"send_failed">} event */
    #takeSendFailure({ client_message_id: id, status, code, retry_after }) {
        const post = this.#endPost(id);
        const send = this.#outbox.get(id);
        // A send that turned out to be stored meanwhile is not posted again.
        if (!post || !send) return;
        if (isTemporary(status)) {
            this.#queueAgain(id);
            this.#posting.failAndWait(this.#elapsed, retry_after);
        } else if (post.isOutdated) {
            this.#queueAgain(id);
        } else {
            send.row = { ...this.#outboxRow(id, send.draft, "failed"), code: code ?? null };
        }
    }

    /** @param {string} id */
    #queueAgain(id) {
        const send = this.#outbox.get(id);
        if (send) send.row = this.#outboxRow(id, send.draft, "queued");
    }

    /** @param {string} id */
    #retrySend(id) {
        const send = this.#outbox.get(id);
        if (send?.row.state !== "failed") return;
        this.#outbox.delete(id);
        this.#outbox.set(id, send);
        this.#queueAgain(id);
    }

    /** @param {string} id */
    #discardSend(id) {
        if (this.#outbox.get(id)?.row.state === "failed") this.#outbox.delete(id);
    }

    /**
     * Removes a stored message of this user from the outbox, whatever event has shown it (rule 19).
     *
     * @param {Message} message
     */
    #land(message) {
        const id = message.client_message_id;
        if (message.sender !== this.#me || id === undefined || !this.#outbox.has(id)) return;
        // A wait belongs to the first queued send. It ends if that send turns out to be stored.
        const isWaitedFor = this.#posting.wait && firstQueued(this.#outbox) === id;
        if (isWaitedFor) this.#posting.succeed();
        this.#outbox.delete(id);
        this.#landed.add(id);
    }

    /** @param {Message} message */
    #isLanded(message) {
        return message.sender === this.#me && message.client_message_id !== undefined && this.#landed.has(message.client_message_id);
    }

    /** Own sends stored beyond a gap. They are drawn below the window and above the unsent ones (rule 19). */
    #heldSends() {
        const isShown = (/** @type {Message} */ message) => this.#isLanded(message) && !this.#window?.hasOwn(message.client_message_id ?? "");
        return [...this.#held.values()].filter(isShown).sort(bySeq);
    }

    // Connection (rules 20 and 21)

    #subscribe() {
        this.#closeSocket();
        this.#socket = "opening";
        this.#connecting.wait = null;
        this.#effects.push({ effect: "subscribe", since: this.#rev, epoch: /** @type {string} */ (this.#epoch) });
    }

    #closeSocket() {
        this.#socket = "closed";
        this.#isLive = false;
    }

    #takeConnected() {
        if (this.#socket !== "opening") return;
        this.#socket = "open";
        this.#isReplaying = true;
    }

    #takeDisconnected() {
        if (this.#socket === "closed") return;
        this.#closeSocket();
        this.#isAbsent = true;
        if (this.#wasCut) return this.#connecting.failAndWait(this.#elapsed);
        this.#wasCut = true;
        this.#subscribe();
    }

    /** @param {Frame} frame */
    #takeFrame(frame) {
        const room = frame.room ?? (frame.type === "message" ? frame.message.room : null);
        if ((room ?? this.#room) !== this.#room) return;
        if (frame.type === "error") {
            if (frame.code === "cursor_unknown" && this.#window) this.#reset();
            return;
        }
        if (this.#socket !== "open") return;
        if ((frame.epoch ?? this.#epoch) !== this.#epoch) return this.#reset();
        switch (frame.type) {
            case "subscribed":
                this.#subscribedHead = frame.head ?? 0;
                this.#head = Math.max(this.#head, this.#subscribedHead);
                break;
            case "message":
                this.#rev = Math.max(this.#rev, frame.message.rev);
                this.#noteArrival(frame.message);
                this.#learn(frame.message);
                break;
            case "live":
                this.#rev = Math.max(this.#rev, frame.rev ?? 0);
                this.#takeLive();
                break;
            case "typing":
                if (frame.user !== this.#me) this.#typing.set(frame.user, this.#elapsed + TYPING_MILLISECONDS);
                break;
            case "read":
                if (frame.user === this.#me) this.#moveMark(frame.seq);
                break;
            case "presence":
                this.#online = frame.online;
                break;
        }
    }

    #takeLive() {
        this.#isLive = true;
        this.#isReplaying = false;
        this.#wasCut = false;
        this.#openingHead ??= this.#head;
        this.#connecting.succeed();
        this.#appendHeld();
        if (this.#held.size > 0 && !this.#window.hasAfter) this.#fetchGap();
        this.#attemptAgain(({ asked }) => !asked);
    }

    /** @param {number} now */
    #takeTime(now) {
        // A clock that is set back must not stop the waits. So only differences count, and each counts once.
        if (this.#now !== null) this.#elapsed += Math.max(0, now - this.#now);
        this.#now = now;
        for (const [user, until] of this.#typing) if (until <= this.#elapsed) this.#typing.delete(user);
        this.#attemptAgain(({ until }) => until <= this.#elapsed);
    }

    /** @param {[number | null, number][]} offsets */
    #takeOffsets(offsets) {
        this.#utcOffsets = offsets;
        this.#window?.setDays((message) => this.#dayOf(Date.parse(message.created_at)));
    }

    /**
     * Retries everything that waits, if its wait is over.
     *
     * @param {(wait: Wait) => boolean} isOver
     */
    #attemptAgain(isOver) {
        const hasWaited = (/** @type {Attempt | null | undefined} */ attempt) => Boolean(attempt?.wait && isOver(attempt.wait));
        if (hasWaited(this.#opening?.fetch)) this.#fetchOpening();
        if (hasWaited(this.#jump?.fetch)) this.#fetchJumpAgain();
        if (hasWaited(this.#edges.before)) this.#fetchEdge("before");
        if (hasWaited(this.#edges.after)) this.#fetchEdge("after");
        if (hasWaited(this.#posting)) this.#posting.wait = null;
        if (hasWaited(this.#connecting)) this.#subscribe();
    }

    // Blocked users (rule 23)

    /** @param {string[]} users */
    #takeBlocked(users) {
        this.#blocked = new Map(users.map((user) => [user, this.#blocked.get(user) ?? new Set()]));
        this.#blocked.delete(this.#me);
        const window = this.#window;
        if (!window) return;
        for (let seq = window.first; seq <= window.last; seq++) {
            const { message, row } = this.#known(seq);
            if (Boolean(row.folded) !== this.#isFolded(message)) window.renew(seq);
        }
    }

    /** @param {number} seq */
    #show(seq) {
        const entry = this.#window?.at(seq);
        if (!entry?.row.folded) return;
        this.#blocked.get(entry.message.sender)?.add(seq);
        this.#window.renew(seq);
    }

    /** @param {Message} message */
    #isFolded({ seq, sender, deleted }) {
        return !deleted && this.#blocked.get(sender)?.has(seq) === false;
    }

    // The view

    /**
     * The present view.
     *
     * @returns {View}
     */
    get view() {
        if (this.#view !== null) return this.#view;
        const chunks = this.#rowChunks();
        /** @type {Row[] | null} */
        let rows = null;
        this.#view = {
            get rows() {
                return (rows ??= chunks.flat());
            },
            chunks,
            before: this.#edgeState("before"),
            after: this.#edgeState("after"),
            connection: this.#socket !== "open" ? "offline" : this.#isLive ? "live" : "catching_up",
            epoch: this.#epoch,
            rev: this.#rev,
            unread: this.#unread,
            read: this.#read,
            toast: this.#toast,
            typing: [...this.#typing.keys()],
            online: this.#online,
            phase: this.#phase(),
        };
        return this.#view;
    }

    /**
     * Returns the latest snapshot of a message in the window.
     *
     * @param {number} seq
     * @returns {Message | undefined}
     */
    message(seq) {
        return this.#window?.at(seq)?.message;
    }

    /**
     * Returns the row of the newest own message in the window up to `seq`.
     *
     * @returns {Row | undefined}
     */
    lastOwnRow(seq = Infinity) {
        return this.#window?.lastOwn(seq)?.row;
    }

    /** @param {Edge} edge */
    #edgeState(edge) {
        const window = this.#window;
        if (!window) return this.#opening?.fetch.state ?? "idle";
        const { state } = this.#edges[edge];
        if (state !== "idle") return state;
        return (edge === "before" ? window.hasBefore : window.hasAfter) ? "idle" : "end";
    }

    #phase() {
        if (!this.#window) return "initial";
        if (this.#edges.before.state === "loading") return "prepending";
        const isForJump = this.#jump !== null && this.#jump.fetch === null;
        return this.#edges.after.state === "loading" && !isForJump ? "appending" : "idle";
    }

    /** Returns the rows in chunks, oldest first: those of the window, then the sends that are not known to be in it. */
    #rowChunks() {
        const window = this.#window;
        const lineAt = this.#line?.at;
        const chunks = window?.rowChunks(lineAt, (entries, dayAbove) => this.#withLines(entries, dayAbove)) ?? [];
        // Below a window that is not at the head, the outbox would hide the gap above it.
        if (window?.hasAfter) return chunks;
        /** @type {{row: Row, day: number}[]} */
        const unsettled = this.#heldSends().map((message) => this.#entry(message));
        for (const { row, at } of this.#outbox.values()) unsettled.push({ row, day: this.#dayOf(at) });
        if (unsettled.length === 0) return chunks;
        return [...chunks, this.#withLines(unsettled, window?.latestDay ?? -Infinity)];
    }

    /**
     * Returns these rows with the lines between them: the unread line, and a day line wherever the day is later than all above.
     *
     * @param {readonly {row: Row, day: number}[]} entries
     * @param {number} dayAbove
     */
    #withLines(entries, dayAbove) {
        const lineAt = this.#line?.at;
        /** @type {Row[]} */
        const rows = [];
        for (const { row, day } of entries) {
            if (day > dayAbove) {
                rows.push(this.#dayLine(day));
                dayAbove = day;
            }
            if (row.seq === lineAt && row.seq !== undefined) rows.push(UNREAD_LINE);
            rows.push(row);
        }
        return rows;
    }

    /**
     * @param {Message} message
     * @param {boolean} [isTwice] True if another row has the key of its id.
     */
    #entry(message, isTwice = false) {
        const { seq, rev, sender, client_message_id: id, deleted } = message;
        const isMine = sender === this.#me;
        const key = isMine && id && !isTwice ? ownKey(id) : String(seq);
        /** @type {Row} */
        const row = { key, seq, rev, state: deleted ? "deleted" : "stored", message };
        if (isMine) row.mine = true;
        if (this.#isFolded(message)) row.folded = true;
        return { message, row, day: this.#dayOf(Date.parse(message.created_at)) };
    }

    /**
     * @param {string} id
     * @param {PostedDraft} draft
     * @param {NonNullable<Row["state"]>} state
     * @returns {Row}
     */
    #outboxRow(id, draft, state) {
        return { key: ownKey(id), state, mine: true, draft };
    }

    /**
     * @param {number} milliseconds Since 1970.
     * @returns {number} The days since 1970 by the user's clock at that time.
     */
    #dayOf(milliseconds) {
        const [, minutes] = /** @type {[null, number]} */ (this.#utcOffsets.findLast(([from]) => from === null || from <= milliseconds));
        return Math.floor((milliseconds + minutes * 60_000) / 86_400_000);
    }

    /** @param {number} day */
    #dayLine(day) {
        if (!this.#dayLines.has(day)) {
            this.#dayLines.set(day, { key: `day/${new Date(day * 86_400_000).toISOString().split("T")[0]}` });
        }
        return /** @type {Row} */ (this.#dayLines.get(day));
    }
}

/**
 * Returns the query of a page around a place (rule 1).
 *
 * @param {Place} place
 * @returns {{around?: "unread" | "mention" | number}}
 */
function queryFor(place) {
    if (place === "last") return {};
    return { around: place === "read" ? "unread" : place };
}

/**
 * Returns the longest run of messages without gaps that ends with the newest one, each in its latest snapshot (rule 3).
 *
 * @param {any} messages
 */
function newestRun(messages) {
    const latest = new Map();
    for (const message of messages) keepLatest(latest, message);
    const sorted = [...latest.values()].sort(bySeq);
    let start = sorted.length - 1;
    while (start > 0 && sorted[start - 1].seq === sorted[start].seq - 1) start--;
    return sorted.slice(start);
}

/**
 * Keeps the snapshot with the higher `rev` (rule 4).
 *
 * @param {any} messages
 * @param {Message} message
 */
function keepLatest(messages, message) {
    const known = messages.get(message.seq);
    if (!known || known.rev < message.rev) messages.set(message.seq, message);
}

const ownKey = (/** @type {string} */ id) => `me/${id}`;
const isOf = (/** @type {string} */ id) => (/** @type {Message} */ message) => message.client_message_id === id;

/** @param {Map<string, {row: Row}>} outbox */
function firstQueued(outbox) {
    for (const [id, { row }] of outbox) if (row.state === "queued") return id;
    return null;
}
