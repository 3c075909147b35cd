/**
 * A WebSocket with JSON frames and four callbacks. It never reconnects by itself.
 *
 * @module socket
 */

/** Maximum time for a socket to open, in milliseconds. After that the attempt has failed. */
const OPENING_MILLISECONDS = 15000;
/** Interval at which a socket checks the clock, in milliseconds. */
const WATCH_MILLISECONDS = 15000;
/**
 * A gap between two checks that means that the device has slept, in milliseconds. Pages in the background may pause for a
 * minute.
 */
const SLEEP_MILLISECONDS = 150000;

export class Socket {
    #socket;
    #handlers;
    #timer;
    /** The time of the last check of the clock; 0 until the socket is open. */
    #seen = 0;
    #abort = new AbortController();

    /**
     * @param {WebSocket} socket A socket that is about to open.
     * @param {{opened(): void, frame(frame: object): void, closed(code: number): void}} handlers `closed` is called once, as
     *   the last.
     */
    constructor(socket, handlers) {
        this.#socket = socket;
        this.#handlers = handlers;
        this.#timer = setTimeout(() => this.#end(1006), OPENING_MILLISECONDS);
        socket.onopen = () => {
            clearTimeout(this.#timer);
            this.#seen = Date.now();
            this.#watch();
            this.#handlers?.opened();
        };
        socket.onmessage = ({ data }) => {
            let frame;
            try {
                frame = JSON.parse(data);
            } catch {
                return this.#end(1007);
            }
            this.#handlers?.frame(frame);
        };
        socket.onclose = ({ code }) => this.#end(code);
        // A user who comes back after a sleep does not wait for the next check of the clock.
        for (const name of ["visibilitychange", "resume"]) {
            document.addEventListener(name, () => this.#seen && this.#watch(), { signal: this.#abort.signal });
        }
    }

    /** Sends a frame if the socket is open. */
    send(frame) {
        if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(frame));
    }

    /** Closes the socket without calling the handlers. */
    close() {
        this.#handlers = null;
        this.#end(1000);
    }

    /** Ends the socket if the device has slept: the server has given it up, and no event may ever report that. */
    #watch() {
        clearTimeout(this.#timer);
        if (Date.now() - this.#seen > SLEEP_MILLISECONDS) return this.#end(1006);
        this.#seen = Date.now();
        this.#timer = setTimeout(() => this.#watch(), WATCH_MILLISECONDS);
    }

    #end(code) {
        clearTimeout(this.#timer);
        this.#abort.abort();
        const handlers = this.#handlers;
        this.#handlers = null;
        this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
        this.#socket.close();
        handlers?.closed(code);
    }
}
