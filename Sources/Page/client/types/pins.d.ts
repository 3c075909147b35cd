export class Pins {
    /**
     * @param {import("./client.js").Client} client
     * @param {import("./room.js").Room} room An open room, or one that will be opened.
     */
    constructor(client: import("./client.js").Client, room: import("./room.js").Room);
    /**
     * The pinned messages, the one that was pinned last first. Another array has other messages.
     *
     * @returns {readonly Message[]}
     */
    get view(): readonly import("./timeline-events.js").Message[];
    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener: () => void): import("./types.js").Unsubscribe;
    /**
     * Pins a message.
     *
     * @param {number} seq
     * @returns {Promise<Message>}
     * @throws {import("./errors.js").ClientError} `forbidden` if the user may not, `too_many_pins` if the room has 50.
     */
    pin(seq: number): Promise<Message>;
    /**
     * Takes a message off the list.
     *
     * @param {number} seq
     * @returns {Promise<Message>}
     */
    unpin(seq: number): Promise<Message>;
    /** Ends the list; the room stays open. */
    close(): void;
    #private;
}
export type Message = import("./types.js").Message;
