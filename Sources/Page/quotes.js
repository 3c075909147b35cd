/**
 * The quoted messages of a room: those in its window, and those outside it, which are requested one by one. A quote shows the
 * message as it is now, also after an edit or a deletion.
 *
 * @module quotes
 */

import { ClientError } from "./client/index.js";

/** @typedef {import("./client/index.js").Message} Message */

/** Maximum number of quoted messages to keep that are outside the window. */
const MAXIMUM_QUOTED = 500;

export class Quotes {
    #load;
    #inWindow;
    #redraw;
    /** @type {Map<number, Set<string>>} The keys of the rows that quote a message, by its `seq`. */
    #rows = new Map();
    /** @type {Map<number, Message | null | undefined>} The messages as the rows show them. */
    #shown = new Map();
    /** @type {Map<number, Message | null>} Messages from outside the window, oldest request first; null if one cannot be read. */
    #kept = new Map();
    /** @type {Set<number>} The messages that are being requested. */
    #loading = new Set();
    /** @type {Set<number>} The messages whose request had no answer. */
    #missed = new Set();

    /**
     * @param {{load: (seq: number) => Promise<Message>, inWindow: (seq: number) => Message | undefined,
     *   redraw: (keys: Iterable<string>) => void}} host `load` requests a message; `inWindow` returns one of the window; `redraw`
     *   redraws rows that quote a changed message, and is called between two drawings only.
     */
    constructor({ load, inWindow, redraw }) {
        this.#load = load;
        this.#inWindow = inWindow;
        this.#redraw = redraw;
    }

    /**
     * Returns a message for a row that quotes it. The row is redrawn when it comes or changes.
     *
     * @param {number} seq
     * @param {string} key The row's.
     * @returns {Message | null | undefined} Null if the message cannot be read, undefined while that is not known.
     */
    message(seq, key) {
        const rows = this.#rows.get(seq);
        if (rows) rows.add(key);
        else this.#rows.set(seq, new Set([key]));
        const message = this.known(seq);
        this.#shown.set(seq, message);
        if (message === undefined && !this.#loading.has(seq) && !this.#missed.has(seq)) this.#request(seq);
        return message;
    }

    /**
     * Takes a message of a frame: outside the window it may be quoted.
     *
     * @param {Message} message
     */
    take(message) {
        const kept = this.#kept.get(message.seq);
        if (kept === undefined && !this.#loading.has(message.seq)) return;
        if (!kept || kept.rev < message.rev) this.#keep(message.seq, message);
    }

    /**
     * Redraws the rows whose quoted messages have changed, and forgets the rows that are not drawn.
     *
     * @param {(key: string) => boolean} isDrawn
     */
    update(isDrawn) {
        const changed = new Set();
        for (const [seq, rows] of this.#rows) {
            for (const key of rows) if (!isDrawn(key)) rows.delete(key);
            if (!rows.size) {
                this.#rows.delete(seq);
                this.#shown.delete(seq);
                continue;
            }
            const [known, shown] = [this.known(seq), this.#shown.get(seq)];
            // A message that has left the window may change there, too.
            if (known === undefined && shown) this.#keep(seq, shown);
            if (known !== undefined && known?.rev !== shown?.rev) for (const key of rows) changed.add(key);
        }
        if (changed.size) this.#redraw(changed);
    }

    /** Requests what could not be reached, because the connection is back. */
    retry() {
        const missed = [...this.#missed];
        this.#missed.clear();
        for (const seq of missed) if (this.#rows.has(seq)) this.#request(seq);
    }

    /** Forgets the messages, because the room has another history. */
    clear() {
        this.#kept.clear();
        this.#shown.clear();
    }

    /**
     * Returns a message if it is known already.
     *
     * @param {number} seq
     */
    known(seq) {
        const [inWindow, kept] = [this.#inWindow(seq), this.#kept.get(seq)];
        return inWindow && inWindow.rev >= (kept?.rev ?? 0) ? inWindow : kept;
    }

    /** @param {number} seq */
    async #request(seq) {
        this.#loading.add(seq);
        try {
            const message = await this.#load(seq);
            if ((this.#kept.get(seq)?.rev ?? 0) < message.rev) this.#keep(seq, message);
        } catch (error) {
            if (!(error instanceof ClientError)) throw error;
            if ([403, 404, 410].includes(error.status)) this.#keep(seq, null);
            else this.#missed.add(seq);
        }
        this.#loading.delete(seq);
        const rows = this.#rows.get(seq);
        if (rows) this.#redraw(rows);
    }

    /**
     * @param {number} seq
     * @param {Message | null} message
     */
    #keep(seq, message) {
        this.#kept.set(seq, message);
        // The messages that were read first are the farthest from the screen.
        const [oldest] = this.#kept.keys();
        if (this.#kept.size > MAXIMUM_QUOTED) this.#kept.delete(oldest);
    }
}
