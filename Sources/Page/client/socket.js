/**
 * A WebSocket with JSON frames and four callbacks. It never reconnects by itself.
 *
 * A connection can die without a word, for example if a router in between forgets it. Apps do not see the server's pings. So
 * a socket that has heard nothing for a while asks the server for a sign of life, and ends without one.
 *
 * @module socket
 */

import { after, elapsed, stop } from "./defaults.js";

/** Maximum time for a socket to open, in milliseconds. After that the attempt has failed. */
const OPENING_MILLISECONDS = 15000;
/** Time for which an attempt to open survives `wake`, in milliseconds. */
const YOUNG_MILLISECONDS = 2000;
/** Interval at which a socket checks the clocks, in milliseconds. */
const WATCH_MILLISECONDS = 5000;
/** Time without a frame after which a socket asks for one, in milliseconds. */
const SILENCE_MILLISECONDS = 25000;
/** Maximum time to wait for the answer, in milliseconds. */
const ANSWER_MILLISECONDS = 10000;
/** The same after `wake`, when the reader waits for it. */
const WAKE_ANSWER_MILLISECONDS = 4000;
/**
 * A gap between two checks that means that the device has slept, in milliseconds: in front of the reader, and in the background,
 * where an app may pause for a minute.
 */
const SLEEP_MILLISECONDS = 30000;
const BACKGROUND_SLEEP_MILLISECONDS = 150000;
/** The value of `readyState` of a socket that is open. */
const OPEN = 1;

/** A frame of a type that the server does not know. It answers with the error `unknown_type`, and changes nothing. */
const QUESTION = { type: "ping" };

/** @typedef {import("./types.js").Frame} Frame */
/** @param {Frame} frame */
const isAnswer = (frame) => frame.type === "error" && frame.code === "unknown_type";

/**
 * @typedef {object} Handlers
 * @property {() => void} opened
 * @property {(frame: Frame) => void} frame
 * @property {() => void} silent Called before `closed` if the server gave no sign of life.
 * @property {(code: number, reason: string) => void} closed Called once, as the last.
 * @property {() => boolean} isInBackground
 */

export class Socket {
    #socket;
    /** @type {Handlers | null} */
    #handlers;
    #isInBackground;
    #timer;
    #begun = elapsed();
    /** The time of the last check of the wall clock; 0 until the socket is open. */
    #checked = 0;
    /** True if the app has been in the background since that check. */
    #wasInBackground = false;
    /** The time of the last frame. */
    #heard = 0;
    /**
     * The time by which the question must be answered; null if there is none.
     *
     * @type {number | null}
     */
    #deadline = null;

    /**
     * @param {import("./types.js").WebSocketLike} socket A socket that is about to open.
     * @param {Handlers} handlers
     */
    constructor(socket, handlers) {
        this.#socket = socket;
        this.#handlers = handlers;
        this.#isInBackground = handlers.isInBackground;
        this.#timer = after(OPENING_MILLISECONDS, () => this.#end(1006, ""));
        socket.onopen = () => {
            this.#heard = elapsed();
            this.#checked = Date.now();
            this.#wasInBackground = this.#isInBackground();
            this.#watch();
            this.#handlers?.opened();
        };
        socket.onmessage = (/** @type {{data: string}} */ { data }) => {
            // Frames that waited on the socket during a sleep belong to the absence. A new socket brings them as a replay.
            if (this.#hasSlept()) return this.#end(1006, "");
            this.#heard = elapsed();
            this.#deadline = null;
            let frame;
            try {
                frame = JSON.parse(data);
            } catch {
                return this.#end(1007, "");
            }
            if (!isAnswer(frame)) this.#handlers?.frame(frame);
        };
        socket.onclose = (/** @type {{code: number, reason: string}} */ { code, reason }) => this.#end(code, String(reason ?? ""));
        // Node tells no end of a socket that has not opened. Of others the end follows, with its code.
        socket.onerror = () => this.#handlers && this.#checked === 0 && this.#end(1006, "");
    }

    get isOpen() {
        return this.#handlers !== null && this.#socket.readyState === OPEN;
    }

    /**
     * Sends a frame if the socket is open.
     *
     * @param {object} frame
     */
    send(frame) {
        if (this.isOpen) this.#socket.send(JSON.stringify(frame));
    }

    /** Notes that the app has gone to the background, where timers come late. */
    noteBackground() {
        this.#wasInBackground = true;
    }

    /** Finds out soon if the socket still works, because the network or the reader has come back. */
    wake() {
        if (this.#checked === 0) {
            if (elapsed() - this.#begun > YOUNG_MILLISECONDS) this.#end(1006, "");
            return;
        }
        this.#ask(WAKE_ANSWER_MILLISECONDS);
        this.#watch();
    }

    /** Ends the socket now, because the network is gone. */
    lose() {
        this.#end(1006, "");
    }

    /** Closes the socket without calling the handlers. */
    close() {
        this.#handlers = null;
        this.#end(1000, "");
    }

    /** Ends the socket if the device has slept or the server has been silent. Otherwise checks again later. */
    #watch() {
        stop(this.#timer);
        const now = elapsed();
        const isSilent = this.#deadline !== null && now >= this.#deadline;
        if (isSilent) this.#handlers?.silent();
        if (isSilent || this.#hasSlept()) return this.#end(1006, "");
        this.#checked = Date.now();
        this.#wasInBackground = this.#isInBackground();
        if (now - this.#heard >= SILENCE_MILLISECONDS) this.#ask(ANSWER_MILLISECONDS);
        const wait = this.#deadline === null ? WATCH_MILLISECONDS : Math.min(WATCH_MILLISECONDS, this.#deadline - now);
        this.#timer = after(wait, () => this.#watch());
    }

    /**
     * Asks for a sign of life. A question that waits for its answer is not repeated.
     *
     * @param {number} milliseconds
     */
    #ask(milliseconds) {
        const deadline = elapsed() + milliseconds;
        if (this.#deadline === null) this.send(QUESTION);
        this.#deadline = Math.min(this.#deadline ?? deadline, deadline);
    }

    /** True if the device has slept since the last check: the server has given the socket up, and no event may ever report that. */
    #hasSlept() {
        return Date.now() - this.#checked > (this.#wasInBackground ? BACKGROUND_SLEEP_MILLISECONDS : SLEEP_MILLISECONDS);
    }

    /**
     * @param {number} code
     * @param {string} reason
     */
    #end(code, reason) {
        stop(this.#timer);
        const handlers = this.#handlers;
        this.#handlers = null;
        this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
        this.#socket.close();
        handlers?.closed(code, reason);
    }
}
