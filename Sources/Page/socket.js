/**
 * A WebSocket with JSON frames and four callbacks. It never reconnects by itself.
 *
 * A connection can die without a word, for example if a router in between forgets it. Pages do not see the server's pings. So
 * a socket that has heard nothing for a while asks the server for a sign of life, and ends without one.
 *
 * @module socket
 */

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
 * where a page may pause for a minute.
 */
const SLEEP_MILLISECONDS = 30000;
const HIDDEN_SLEEP_MILLISECONDS = 150000;

/** A frame of a type that the server does not know. It answers with the error `unknown_type`, and changes nothing. */
const QUESTION = { type: "ping" };
const isAnswer = ({ type, code }) => type === "error" && code === "unknown_type";

export class Socket {
    #socket;
    #handlers;
    #timer;
    #begun = performance.now();
    /** The time of the last check of the wall clock; 0 until the socket is open. */
    #checked = 0;
    /** True if the page has been hidden since that check. */
    #wasHidden = false;
    /** The time of the last frame. */
    #heard = 0;
    /** The time by which the question must be answered; null if there is none. */
    #deadline = null;
    #abort = new AbortController();

    /**
     * @param {WebSocket} socket A socket that is about to open.
     * @param {{opened(): void, frame(frame: object): void, silent(): void, closed(code: number, reason: string): void}} handlers
     *   `silent` is called before `closed` if the server gave no sign of life. `closed` is called once, as the last.
     */
    constructor(socket, handlers) {
        this.#socket = socket;
        this.#handlers = handlers;
        this.#timer = setTimeout(() => this.#end(1006), OPENING_MILLISECONDS);
        socket.onopen = () => {
            this.#heard = performance.now();
            this.#checked = Date.now();
            this.#wasHidden = document.hidden;
            this.#watch();
            this.#handlers?.opened();
        };
        socket.onmessage = ({ data }) => {
            // Frames that waited on the socket during a sleep belong to the absence. A new socket brings them as a replay.
            if (this.#hasSlept()) return this.#end(1006);
            this.#heard = performance.now();
            this.#deadline = null;
            let frame;
            try {
                frame = JSON.parse(data);
            } catch {
                return this.#end(1007);
            }
            if (!isAnswer(frame)) this.#handlers?.frame(frame);
        };
        socket.onclose = ({ code, reason }) => this.#end(code, reason);
        const hidden = () => (this.#wasHidden ||= document.hidden);
        document.addEventListener("visibilitychange", hidden, { signal: this.#abort.signal });
    }

    /** Sends a frame if the socket is open. */
    send(frame) {
        if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
    }

    /** Finds out soon if the socket still works, because the network or the reader has come back. */
    wake() {
        if (this.#checked === 0) {
            if (performance.now() - this.#begun > YOUNG_MILLISECONDS) this.#end(1006);
            return;
        }
        this.#ask(WAKE_ANSWER_MILLISECONDS);
        this.#watch();
    }

    /** Closes the socket without calling the handlers. */
    close() {
        this.#handlers = null;
        this.#end(1000);
    }

    /** Ends the socket if the device has slept or the server has been silent. Otherwise checks again later. */
    #watch() {
        clearTimeout(this.#timer);
        const now = performance.now();
        const isSilent = this.#deadline !== null && now >= this.#deadline;
        if (isSilent) this.#handlers?.silent();
        if (isSilent || this.#hasSlept()) return this.#end(1006);
        this.#checked = Date.now();
        this.#wasHidden = document.hidden;
        if (now - this.#heard >= SILENCE_MILLISECONDS) this.#ask(ANSWER_MILLISECONDS);
        const wait = this.#deadline === null ? WATCH_MILLISECONDS : Math.min(WATCH_MILLISECONDS, this.#deadline - now);
        this.#timer = setTimeout(() => this.#watch(), wait);
    }

    /** Asks for a sign of life. A question that waits for its answer is not repeated. */
    #ask(milliseconds) {
        const deadline = performance.now() + milliseconds;
        if (this.#deadline === null) this.send(QUESTION);
        this.#deadline = Math.min(this.#deadline ?? deadline, deadline);
    }

    /** True if the device has slept since the last check: the server has given the socket up, and no event may ever report that. */
    #hasSlept() {
        return Date.now() - this.#checked > (this.#wasHidden ? HIDDEN_SLEEP_MILLISECONDS : SLEEP_MILLISECONDS);
    }

    #end(code, reason = "") {
        clearTimeout(this.#timer);
        this.#abort.abort();
        const handlers = this.#handlers;
        this.#handlers = null;
        this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
        this.#socket.close();
        handlers?.closed(code, reason);
    }
}
