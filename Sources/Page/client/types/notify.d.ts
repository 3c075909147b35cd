export class Notify {
    /** @param {import("./client.js").Client} client Its list of rooms is open, or will be opened. */
    constructor(client: import("./client.js").Client);
    /**
     * Calls a function after changes of the list of rooms, and when settings end, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener: () => void): import("./types.js").Unsubscribe;
    /**
     * Returns what may disturb the user in a room now, by this device's clock.
     *
     * @param {string} id
     * @returns {Readonly<NotifySettings>}
     */
    get(id: string): Readonly<NotifySettings>;
    /**
     * Sets what may disturb the user in a room. It replaces all that was set before, on all devices.
     *
     * @param {string} id
     * @param {{level: NotifySettings["level"], until?: string | Date, room_mentions?: boolean}} settings
     * @returns {Promise<NotifySettings>}
     */
    set(id: string, settings: {
        level: NotifySettings["level"];
        until?: string | Date;
        room_mentions?: boolean;
    }): Promise<NotifySettings>;
    /**
     * Returns how many of a room's unread messages may disturb: what its badge shows loudly.
     *
     * @param {string} id
     * @returns {number}
     */
    unread(id: string): number;
    /** The sum over all listed rooms: for a badge. */
    get total(): number;
    /** Ends the timer and the notices. The list of rooms stays open. */
    close(): void;
    #private;
}
export type NotifySettings = import("./types.js").NotifySettings;
export type RoomSummary = import("./types.js").RoomSummary;
