/**
 * @typedef {object} Handlers
 * @property {() => void} opened
 * @property {(frame: Frame) => void} frame
 * @property {() => void} silent Called before `closed` if the server gave no sign of life.
 * @property {(code: number, reason: string) => void} closed Called once, as the last.
 * @property {() => boolean} isInBackground
 */
export class Socket {
    /**
     * @param {import("./types.js").WebSocketLike} socket A socket that is about to open.
     * @param {Handlers} handlers
     */
    constructor(socket: import("./types.js").WebSocketLike, handlers: Handlers);
    get isOpen(): boolean;
    /**
     * Sends a frame if the socket is open.
     *
     * @param {object} frame
     */
    send(frame: object): void;
    /** Notes that the app has gone to the background, where timers come late. */
    noteBackground(): void;
    /** Finds out soon if the socket still works, because the network or the reader has come back. */
    wake(): void;
    /** Ends the socket now, because the network is gone. */
    lose(): void;
    /** Closes the socket without calling the handlers. */
    close(): void;
    #private;
}
export type Frame = import("./types.js").Frame;
export type Handlers = {
    opened: () => void;
    frame: (frame: Frame) => void;
    /**
     * Called before `closed` if the server gave no sign of life.
     */
    silent: () => void;
    /**
     * Called once, as the last.
     */
    closed: (code: number, reason: string) => void;
    isInBackground: () => boolean;
};
