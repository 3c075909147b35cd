/**
 * What may disturb the user in each room of the list of rooms (docs/javascript.md).
 *
 * @module notify
 */

import { after, stop } from "./defaults.js";
import { Observers } from "./observers.js";
import { has, pathPart } from "./requests.js";

/**
 * @typedef {import("./types.js").NotifySettings} NotifySettings
 * @typedef {import("./types.js").RoomSummary} RoomSummary
 */

/** The longest time that a timer can take, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** What holds without settings. @type {Readonly<NotifySettings>} */
const EVERYTHING = Object.freeze({ level: "all", room_mentions: true });

/** @param {RoomSummary | undefined} room */
const endOf = (room) => (room?.notify?.until === undefined ? Infinity : Date.parse(room.notify.until));

export class Notify {
    #client;
    #rooms;
    #observers = new Observers();
    #unsubscribe;
    /** @type {import("./defaults.js").Timer | null} The timer of the settings that end next. */
    #ending = null;

    /** @param {import("./client.js").Client} client Its list of rooms is open, or will be opened. */
    constructor(client) {
        this.#client = client;
        this.#rooms = client.rooms;
        this.#unsubscribe = this.#rooms.subscribe(() => {
            this.#awaitEnd();
            this.#observers.tell();
        });
        this.#awaitEnd();
    }

    /**
     * Calls a function after changes of the list of rooms, and when settings end, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener) {
        return this.#observers.add(listener);
    }

    /**
     * Returns what may disturb the user in a room now, by this device's clock.
     *
     * @param {string} id
     * @returns {Readonly<NotifySettings>}
     */
    get(id) {
        const room = this.#rooms.get(id);
        return room?.notify && endOf(room) > Date.now() ? room.notify : EVERYTHING;
    }

    /**
     * Sets what may disturb the user in a room. It replaces all that was set before, on all devices.
     *
     * @param {string} id
     * @param {{level: NotifySettings["level"], until?: string | Date, room_mentions?: boolean}} settings
     * @returns {Promise<NotifySettings>}
     */
    async set(id, settings) {
        const set = await this.#client.request("PUT", `/v1/rooms/${pathPart(id)}/notify`, { body: settings, isValid: has("level") });
        // The server also tells the list, if that is connected.
        this.#rooms.refresh(id);
        return set;
    }

    /**
     * Returns how many of a room's unread messages may disturb: what its badge shows loudly.
     *
     * @param {string} id
     * @returns {number}
     */
    unread(id) {
        const room = this.#rooms.get(id);
        const { level } = this.get(id);
        return (level === "all" ? room?.unread : level === "mentions" ? room?.unread_mentions : 0) ?? 0;
    }

    /** The sum over all listed rooms: for a badge. */
    get total() {
        return this.#rooms.view.rooms.reduce((sum, { room }) => sum + this.unread(room), 0);
    }

    /** Ends the timer and the notices. The list of rooms stays open. */
    close() {
        this.#unsubscribe();
        stop(this.#ending);
    }

    /** Waits for the settings that end next. */
    #awaitEnd() {
        stop(this.#ending);
        this.#ending = null;
        const now = Date.now();
        const next = Math.min(...this.#rooms.view.rooms.map(endOf).filter((end) => end > now));
        if (next === Infinity) return;
        this.#ending = after(Math.min(next - now, LONGEST_TIMER), () => {
            this.#awaitEnd();
            this.#observers.tell();
        });
    }
}
