/**
 * An open room, which hosts the timeline machine. It performs the effects and reports their results, stores the window and the
 * outbox, and passes on each view, once per frame.
 *
 * @module room
 */

import { API, RequestError } from "./api.js";
import { Socket } from "./socket.js";
import { Timeline } from "./timeline.js";

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
/** Minimum time between two typing notices, in milliseconds (docs/live.md). */
const TYPING_MILLISECONDS = 3000;
/** Maximum random delay before a socket is opened again, in milliseconds. It spreads the clients of a restarted server. */
const JITTER_MILLISECONDS = 1000;

/** The close codes and `error` codes that end the room for good, with the reason to show. */
const ENDINGS = new Map([
    [4401, "token"], ["token_expired", "token"], ["token_invalid", "token"], ["token_missing", "token"],
    [4403, "removed"], ["not_a_member", "removed"], ["room_not_found", "removed"], ["room_not_allowed", "removed"],
    ["banned", "banned"], [4404, "deleted"], ["room_deleted", "deleted"],
]);

export class Room {
    #api;
    #store;
    #timeline = new Timeline();
    /** The machine's first event. */
    #beginning;
    /** @type {{query: string, abort: AbortController, page: Promise<object>} | null} A page that was requested before the machine asked for it. */
    #early = null;
    #onView;
    #onEnd;
    #socket = null;
    #isClosed = false;
    #hasConnected = false;
    #drawing = 0;
    #saving = 0;
    #marking = 0;
    #mark = 0;
    #ticking = 0;
    #typedAt = 0;
    /** The epoch of the window that this object has stored, if that window reached the newest message. */
    #newestStored = null;
    #scrollTo = null;
    /** @type {Set<string>} The ids of the sends in the store. */
    #unsent = new Set();

    /**
     * @param {(view: object, scrollTo: string | null) => void} onView Called before the next frame after a change, with the
     *   scroll target for the drawn view.
     * @param {(why: "token" | "removed" | "banned" | "deleted") => void} onEnd Called once when the room can no longer be shown.
     */
    constructor(api, store, id, onView, onEnd) {
        this.#api = api;
        this.#store = store;
        this.id = id;
        this.#onView = onView;
        this.#onEnd = onEnd;
        /** @type {Map<string, number>} The read marks of other users, as far as notices have reported them. */
        this.readers = new Map();
        this.#beginning = {
            event: "start", me: api.user, room: id, limit: PAGE_LIMIT, utc_offset: -new Date().getTimezoneOffset(),
            window: WINDOW_LIMIT,
        };
        this.#handle(this.#beginning);
    }

    /** Shows the stored window, then opens the room. Unsent messages are sent in the order in which they were written. */
    async open(at) {
        if (!this.#store.isOpen) this.#fetchEarly(at);
        const [kept, unsent] = await Promise.all([this.#store.window(this.id), this.#store.unsent(this.id)]);
        if (this.#isClosed) return;
        this.#tick();
        if (!document.hidden && document.hasFocus()) this.setActive(true);
        for (const { draft, at } of unsent) {
            this.#unsent.add(draft.client_message_id);
            this.#handle({ event: "send", draft, at });
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
        if (this.#saving) this.#save();
        if (this.#marking) this.#sendMark();
        this.#isClosed = true;
        this.#early?.abort.abort();
        this.#socket?.close();
        clearInterval(this.#ticking);
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

    // The reader's actions

    send(draft) {
        const at = Date.now();
        this.#unsent.add(draft.client_message_id);
        this.#store.addUnsent(this.id, draft, at);
        this.#handle({ event: "send", draft, at });
    }

    retry(id) {
        this.#handle({ event: "retry", client_message_id: id });
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

    setViewport(atBottom, lastVisible) {
        this.#handle({ event: "viewport", at_bottom: atBottom, last_visible: lastVisible });
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
        if (this.#isClosed) return;
        const { effects } = this.#timeline.handle(event);
        for (const effect of effects) this.#carryOut(effect);
        this.#draw();
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
        if (this.#drawing) return;
        const draw = () => {
            this.#drawing = 0;
            if (this.#isClosed) return;
            const scrollTo = this.#scrollTo;
            this.#scrollTo = null;
            this.#onView(this.view, scrollTo);
        };
        // A page in the background has no animation frames, but its title and badges must change.
        if (document.hidden) queueMicrotask(() => this.#drawing === -1 && draw());
        this.#drawing = document.hidden ? -1 : requestAnimationFrame(draw);
    }

    async #fetch({ request, query }) {
        try {
            const page = await (this.#takeEarly(query) ?? this.#api.page(this.id, query));
            this.#forgetStored(page.messages);
            this.#handle({ event: "page", request, page });
            this.#saveSoon();
        } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            const { status, code, retryAfter } = error;
            this.#endIf(ENDINGS.get(code));
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
        const { query } = machine.handle({ event: "open", at }).effects.find(({ effect }) => effect === "fetch");
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
            this.#handle({ event: "sent", client_message_id: id, message });
        } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            const { status, code, retryAfter } = error;
            this.#handle({ event: "send_failed", client_message_id: id, status, code, retry_after: retryAfter });
        }
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
        const open = () => {
            if (this.#isClosed || this.#socket !== slot) return;
            this.#socket = new Socket(this.#api.socket(API.path(this.id, "live"), { since: `${epoch}:${since}` }), {
                opened: () => this.#handle({ event: "connected" }),
                frame: (frame) => this.#takeFrame(frame),
                closed: (code) => {
                    this.#endIf(ENDINGS.get(code));
                    this.#handle({ event: "disconnected" });
                },
            });
        };
        // During the delay this object stands for the socket, so that a later subscription ends it.
        const slot = { close() {}, send() {} };
        this.#socket = slot;
        if (!this.#hasConnected) {
            this.#hasConnected = true;
            open();
        } else {
            setTimeout(open, Math.random() * JITTER_MILLISECONDS);
        }
    }

    #takeFrame(frame) {
        if (frame.type === "error") this.#endIf(ENDINGS.get(frame.code));
        if (frame.type === "read" && frame.user !== this.#api.user) {
            this.readers.set(frame.user, Math.max(frame.seq, this.readers.get(frame.user) ?? 0));
        }
        if (frame.type === "message") this.#forgetStored([frame.message]);
        this.#handle({ event: "frame", frame });
        if (frame.type === "message" || frame.type === "live") this.#saveSoon();
    }

    #endIf(why) {
        if (!why || this.#isClosed) return;
        if (why !== "token") this.#store.forgetWindow(this.id);
        clearTimeout(this.#saving);
        this.#saving = 0;
        this.close();
        this.#onEnd(why);
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
        if (!isNewest && this.#newestStored === this.view.epoch) return;
        this.#newestStored = isNewest ? this.view.epoch : null;
        this.#store.saveWindow(this.id, this.view);
    }

    #markRead(seq) {
        this.#mark = Math.max(this.#mark, seq);
        this.#marking ||= setTimeout(() => this.#sendMark(), MARK_MILLISECONDS);
    }

    #sendMark() {
        clearTimeout(this.#marking);
        this.#marking = 0;
        // A lost mark is harmless: the next one includes it.
        this.#api.markRead(this.id, this.#mark).catch(() => {});
        this.#saveSoon();
    }
}
