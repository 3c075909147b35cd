/**
 * An open room, which hosts the timeline machine. It performs the effects and reports their results, stores the window and the
 * outbox, and passes on each view, once per frame.
 *
 * @module room
 */

import { API, RequestError } from "./api.js";
import { utcOffsets } from "./calendar.js";
import { Socket } from "./socket.js";
import { isTemporary, Timeline } from "./timeline.js";

/** Number of messages in a page. */
const PAGE_LIMIT = 30;
/** Maximum number of messages in the window. What is farther from the reader is loaded again when it is needed. */
const WINDOW_LIMIT = 2000;
/** Interval of the machine's clock ticks, in milliseconds. Its waits are whole seconds. */
const TICK_MILLISECONDS = 500;
/** Delay before the window is stored, in milliseconds, so that a burst of messages is one write. */
const SAVE_MILLISECONDS = 800;
/** Delay before the read mark is sent, in milliseconds, so that scrolling causes few requests. */
const MARK_MILLISECONDS = 300;
/** Pauses before a request for the read mark is repeated, in milliseconds. They double each time. */
const FIRST_MARK_PAUSE = 1000;
const LONGEST_MARK_PAUSE = 30000;
/** Minimum time between two typing notices, in milliseconds (docs/live.md). */
const TYPING_MILLISECONDS = 3000;
/** Maximum random delay before a socket is opened again, in milliseconds. It spreads the clients of a restarted server. */
const JITTER_MILLISECONDS = 1000;

/** The close codes of sockets and the codes of refused pages that end the room for good, with the reason to show. */
const ENDINGS = new Map(/** @type {[number | string, string][]} */ ([
    [4401, "token"], ["token_expired", "token"], ["token_invalid", "token"], ["token_missing", "token"],
    [4403, "removed"], ["not_a_member", "removed"], ["room_not_found", "removed"], ["room_not_allowed", "removed"],
    ["banned", "banned"], [4404, "deleted"], ["room_deleted", "deleted"],
]));

/** The events that may start a wait of the machine. It begins at the time that the machine knows. */
const STARTING_WAITS = new Set(["fetch_failed", "send_failed", "disconnected"]);

/** True if the page is in front of the user. */
const isInFront = () => !document.hidden && document.hasFocus();

export class Room {
    #api;
    #store;
    #timeline = new Timeline();
    /** @type {import("./timeline.js").Event} The machine's first event. */
    #beginning;
    /** @type {{query: string, abort: AbortController, page: Promise<object>} | null} A page that was requested before the machine asked for it. */
    #early = null;
    #handlers;
    #socket = null;
    #isClosed = false;
    #hasConnected = false;
    #drawing = 0;
    #saving = 0;
    /** The timer of the next request for the read mark; 0 if there is none. */
    #marking = 0;
    #markFailures = 0;
    /** The read mark to send; 0 if the server has it. */
    #mark = 0;
    /** True if the next `live` asks for the user's read mark, which may have moved on another device meanwhile. */
    #asksForMark = false;
    #ticking = 0;
    #typedAt = 0;
    /** The epoch of the window that this object has stored, if that window reached the newest message. */
    #newestStored = null;
    #scrollTo = null;
    /** @type {Map<string, {draft: object, at: number, order: number}>} The sends in the store, by id. */
    #unsent = new Map();
    /** The highest order of a send in the store. */
    #order = 0;
    #stored;
    /** @type {Promise<void>} Resolves once what was stored has been shown. A send waits for it, so that it does not overtake. */
    #isRestored = new Promise((resolve) => (this.#stored = resolve));
    /** The detail of the last ban that the server has told. */
    #ban = "";

    /**
     * @typedef {object} Handlers
     * @property {(view: object, scrollTo: string | null) => void} onView Called before the next frame after a change, with the
     *   scroll target for the drawn view.
     * @property {(message: object) => void} onMessage Called with each message of a frame, also outside the window.
     * @property {(detail: string | null) => void} onBan Called with the reason and the end of a ban that the user meets on
     *   writing, and with null after a message was accepted.
     * @property {(why: "token" | "removed" | "banned" | "deleted", detail: string) => void} onEnd Called once when the room can
     *   no longer be shown.
     *
     * @param {Handlers} handlers
     */
    constructor(api, store, id, handlers) {
        this.#api = api;
        this.#store = store;
        this.id = id;
        this.#handlers = handlers;
        /** @type {Map<string, number>} The read marks of other users, as far as notices have reported them. */
        this.readers = new Map();
        this.#beginning = {
            event: "start", me: api.user, room: id, limit: PAGE_LIMIT, utc_offsets: utcOffsets(), window: WINDOW_LIMIT,
        };
        this.#handle(this.#beginning);
    }

    /** Shows the stored window, then opens the room. Unsent messages are sent in the order in which they were written. */
    async open(at) {
        if (!this.#store.isOpen) this.#fetchEarly(at);
        const [kept, unsent] = await Promise.all([this.#store.window(this.id), this.#store.unsent(this.id)]);
        this.#order = Math.max(0, ...unsent.map(({ order }) => order));
        this.#stored();
        if (this.#isClosed) return;
        this.#tick();
        this.setActive(isInFront());
        for (const send of unsent) {
            this.#unsent.set(send.draft.client_message_id, send);
            this.#handle({ event: "send", draft: send.draft, at: send.at });
        }
        if (kept) {
            // An earlier version of the page may have stored something else.
            try {
                this.#handle({ event: "restore", ...kept });
                this.#forgetStored(kept.messages);
            } catch {
                this.#store.forgetWindow(this.id);
            }
        }
        this.#handle({ event: "open", at });
        this.#early?.abort.abort();
        this.#early = null;
        this.#ticking = setInterval(() => this.#tick(), TICK_MILLISECONDS);
    }

    /** Ends the room's socket and work. No callback is called afterwards. */
    close() {
        if (this.#isClosed) return;
        this.save();
        this.#isClosed = true;
        this.#early?.abort.abort();
        this.#socket?.close();
        clearInterval(this.#ticking);
        clearTimeout(this.#marking);
        cancelAnimationFrame(this.#drawing);
    }

    get view() {
        return this.#timeline.view;
    }

    /** Returns a message of the window by its `seq`. */
    message(seq) {
        return this.#timeline.message(seq);
    }

    /** Returns the row of the newest own message in the window up to `seq`. */
    lastOwnRow(seq) {
        return this.#timeline.lastOwnRow(seq);
    }

    /** Stores and sends at once what waits for a while, because the page may be closed. */
    save() {
        if (this.#mark > 0) this.#agreeOnMark();
        if (this.#saving) this.#save();
    }

    /** Tries at once what waits for the network, and finds out if the socket still works. */
    wake() {
        this.#socket?.wake();
        if (this.#markFailures > 0) this.#agreeOnMark();
        // Becoming active ends all waits except those that the server asked for.
        this.setActive(false);
        this.setActive(isInFront());
    }

    /** Shows the messages under the days of the device's present time zone. */
    zoneChanged() {
        this.#handle({ event: "utc_offsets", utc_offsets: utcOffsets() });
    }

    // The reader's actions

    async send(draft) {
        const at = Date.now();
        await this.#isRestored;
        this.#keepUnsent({ draft, at });
        this.#handle({ event: "send", draft, at });
    }

    retry(id) {
        const send = this.#unsent.get(id);
        // It goes to the end of the outbox.
        if (send) this.#keepUnsent(send);
        this.#handle({ event: "retry", client_message_id: id });
    }

    #keepUnsent({ draft, at }) {
        const send = { draft, at, order: ++this.#order };
        this.#unsent.set(draft.client_message_id, send);
        this.#store.addUnsent(this.id, send);
    }

    discard(id) {
        this.#forgetUnsent(id);
        this.#handle({ event: "discard", client_message_id: id });
    }

    jump(to) {
        this.#handle({ event: "jump", to });
    }

    near(edge) {
        this.#handle({ event: "near", edge });
    }

    /** Tells the machine where the reader is. The view is drawn again only if that changes it. */
    setViewport(atBottom, lastVisible) {
        const before = this.view;
        this.#take({ event: "viewport", at_bottom: atBottom, last_visible: lastVisible });
        const after = this.view;
        const isSame = after.chunks === before.chunks && after.unread === before.unread && after.toast?.count === before.toast?.count;
        if (!isSame) this.#draw();
    }

    setActive(active) {
        this.#tick();
        this.#handle({ event: "active", active });
    }

    /** Tells the others that the user is typing, at most once in three seconds. */
    type() {
        if (Date.now() - this.#typedAt < TYPING_MILLISECONDS) return;
        this.#typedAt = Date.now();
        this.#socket?.send({ type: "typing" });
    }

    // The machine

    #tick() {
        this.#handle({ event: "time", now: Date.now() });
    }

    #handle(event) {
        this.#take(event);
        this.#draw();
    }

    #take(event) {
        if (this.#isClosed) return;
        if (STARTING_WAITS.has(event.event)) this.#take({ event: "time", now: Date.now() });
        const { effects } = this.#timeline.handle(event);
        for (const effect of effects) this.#carryOut(effect);
    }

    #carryOut(effect) {
        switch (effect.effect) {
            case "fetch": return void this.#fetch(effect);
            case "subscribe": return this.#subscribe(effect);
            case "post": return void this.#post(effect.draft);
            case "mark_read": return this.#markRead(effect.seq);
            case "scroll": this.#scrollTo = effect.to;
        }
    }

    #draw() {
        if (this.#drawing || this.#isClosed) return;
        const draw = () => {
            this.#drawing = 0;
            if (this.#isClosed) return;
            const scrollTo = this.#scrollTo;
            this.#scrollTo = null;
            this.#handlers.onView(this.view, scrollTo);
        };
        // A page in the background has no animation frames, but its title and badges must change.
        if (document.hidden) queueMicrotask(() => this.#drawing === -1 && draw());
        this.#drawing = document.hidden ? -1 : requestAnimationFrame(draw);
    }

    async #fetch({ request, query }) {
        try {
            const page = await (this.#takeEarly(query) ?? this.#api.page(this.id, query));
            this.#forgetStored(page.messages);
            const isOpening = this.view.phase === "initial";
            this.#handle({ event: "page", request, page });
            // The subscription begins where the page was read, and the page has the mark.
            if (isOpening && page.read !== undefined) this.#asksForMark = false;
            this.#saveSoon();
        } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            const { status, code, retryAfter } = error;
            this.#endIf(ENDINGS.get(code), error.message);
            this.#handle({ event: "fetch_failed", request, status, code, retry_after: retryAfter });
        }
    }

    /**
     * Requests the page that the machine will ask for if the store has no window. The answer arrives while the store opens, which
     * takes longer than the request.
     */
    #fetchEarly(at) {
        const machine = new Timeline();
        machine.handle(this.#beginning);
        const { query } = /** @type {any} */ (machine.handle({ event: "open", at }).effects.find(({ effect }) => effect === "fetch"));
        const abort = new AbortController();
        this.#early = { query: JSON.stringify(query), abort, page: this.#api.page(this.id, query, abort.signal) };
        // An error is handled where the answer is taken.
        this.#early.page.catch(() => {});
    }

    /** The early page, if it was requested with this query. */
    #takeEarly(query) {
        if (this.#early?.query !== JSON.stringify(query)) return null;
        const { page } = this.#early;
        this.#early = null;
        return page;
    }

    async #post(draft) {
        const id = draft.client_message_id;
        try {
            const message = await this.#api.send(this.id, draft);
            this.#forgetUnsent(id);
            this.#noteBan(null);
            this.#handle({ event: "sent", client_message_id: id, message });
        } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            const { status, code, retryAfter } = error;
            this.#handle({ event: "send_failed", client_message_id: id, status, code, retry_after: retryAfter });
            if (code === "banned") this.#noteBan(error.message);
            // The message stays in the store until the user has signed in again.
            if (status === 401) this.#endIf("token");
        }
    }

    #noteBan(detail) {
        if (!this.#isClosed) this.#handlers.onBan(detail);
    }

    #forgetUnsent(id) {
        if (this.#unsent.delete(id)) this.#store.removeUnsent(this.id, id);
    }

    /** Removes own sends from the store once they are known to be stored, whatever event shows it. */
    #forgetStored(messages) {
        if (!this.#unsent.size) return;
        for (const { sender, client_message_id: id } of messages) if (sender === this.#api.user) this.#forgetUnsent(id);
    }

    // The socket

    #subscribe({ since, epoch }) {
        this.#socket?.close();
        this.#asksForMark = true;
        const open = () => {
            if (this.#isClosed || this.#socket !== slot) return;
            this.#ban = "";
            this.#socket = new Socket(this.#api.socket(API.path(this.id, "live"), { since: `${epoch}:${since}` }), {
                opened: () => this.#handle({ event: "connected" }),
                frame: (frame) => this.#takeFrame(frame),
                silent: () => this.#api.renewConnections(),
                closed: (code, reason) => {
                    this.#endIf(ENDINGS.get(reason) ?? ENDINGS.get(code), this.#ban);
                    this.#handle({ event: "disconnected" });
                },
            });
        };
        // During the delay this object stands for the socket, so that a later subscription ends it.
        const slot = { close() {}, send() {}, wake: open };
        this.#socket = slot;
        if (!this.#hasConnected) {
            this.#hasConnected = true;
            open();
        } else {
            setTimeout(open, Math.random() * JITTER_MILLISECONDS);
        }
    }

    #takeFrame(frame) {
        // If the user may no longer read, the socket is closed next. A user who may only not write goes on reading.
        if (frame.type === "error" && frame.code === "banned") {
            this.#ban = frame.message;
            this.#noteBan(frame.message);
        }
        if (frame.type === "read" && frame.user !== this.#api.user) {
            this.readers.set(frame.user, Math.max(frame.seq, this.readers.get(frame.user) ?? 0));
        }
        if (frame.type === "message") {
            this.#forgetStored([frame.message]);
            this.#handlers.onMessage(frame.message);
        }
        // The notice is shown for some seconds from now on.
        if (frame.type === "typing") this.#tick();
        this.#handle({ event: "frame", frame });
        if (frame.type === "message" || frame.type === "live") this.#saveSoon();
        if (frame.type === "live" && this.#asksForMark) this.#agreeOnMark();
    }

    #endIf(why, detail = "") {
        if (!why || this.#isClosed) return;
        if (why !== "token") {
            this.#store.forgetWindow(this.id);
            clearTimeout(this.#saving);
            clearTimeout(this.#marking);
            this.#saving = this.#marking = this.#mark = 0;
        }
        this.close();
        this.#handlers.onEnd(why, detail);
    }

    // Delayed writes: the kept window and the read mark

    #saveSoon() {
        this.#saving ||= setTimeout(() => this.#save(), SAVE_MILLISECONDS);
    }

    #save() {
        clearTimeout(this.#saving);
        this.#saving = 0;
        if (this.#isClosed) return;
        // A reader who scrolls back far loses the end of the window. The room still opens at its newest messages.
        const isNewest = this.view.after === "end";
        if (!isNewest && this.#newestStored === this.view.epoch) return void this.#store.saveRead(this.id, this.view);
        this.#newestStored = isNewest ? this.view.epoch : null;
        this.#store.saveWindow(this.id, this.view);
    }

    #markRead(seq) {
        this.#mark = Math.max(this.#mark, seq);
        this.#agreeAfter(MARK_MILLISECONDS);
    }

    #agreeAfter(milliseconds) {
        if (!this.#isClosed) this.#marking ||= setTimeout(() => this.#agreeOnMark(), milliseconds);
    }

    /**
     * Sends the read mark, or asks for it if the server has it. The answer has the user's mark on all devices, and the number of
     * unread messages. A request that cannot be served now is repeated.
     */
    async #agreeOnMark() {
        clearTimeout(this.#marking);
        this.#marking = 0;
        this.#asksForMark = false;
        const mark = this.#mark;
        if (mark > 0) this.#saveSoon();
        try {
            const { epoch, head, read, unread } = await (mark > 0 ? this.#api.markRead(this.id, mark) : this.#api.room(this.id));
            this.#markFailures = 0;
            if (this.#mark === mark) this.#mark = 0;
            if (this.#isClosed || epoch !== this.view.epoch) return;
            this.#handle({ event: "marked", read, unread, head });
            this.#saveSoon();
            // The mark was not sent before the page was closed.
            if (mark === 0 && read < this.view.read) this.#markRead(this.view.read);
        } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            if (!isTemporary(error.status)) {
                if (this.#mark === mark) this.#mark = 0;
                return;
            }
            const pause = Math.min(FIRST_MARK_PAUSE * 2 ** this.#markFailures, LONGEST_MARK_PAUSE);
            this.#markFailures++;
            this.#agreeAfter(error.retryAfter === undefined ? pause : error.retryAfter * 1000);
        }
    }
}
