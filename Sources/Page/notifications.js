/**
 * Notifications of the system for new messages, if the user has asked for them on this device, and the number on the app's icon.
 *
 * @module notifications
 */

import { nameOf } from "./people.js";
import { kept } from "./session.js";
import { summary } from "./text.js";

/** The lock that a page in front of the user holds, so that other pages of this browser stay silent. */
const FRONT = "backscroll.front";
const ICON = "/page/icon.svg";

/**
 * @typedef {import("./client/index.js").RoomSummary} RoomSummary
 * @typedef {import("./client/index.js").Message} Message
 */

/** True if the browser can notify. */
export const canNotify = "Notification" in window;

/** @param {string} me */
const keyOf = (me) => `backscroll.notify.${me}`;

/**
 * True if the user has asked for notifications on this device, and the browser allows them.
 *
 * @param {string} me
 */
export const isNotified = (me) => canNotify && Notification.permission === "granted" && kept.get(keyOf(me)) === "true";

/**
 * Begins or ends notifications. Returns false if the browser does not allow them.
 *
 * @param {string} me
 * @param {boolean} isOn
 */
export async function setNotified(me, isOn) {
    const isAllowed = !isOn || (await Notification.requestPermission()) === "granted";
    kept.set(keyOf(me), isOn && isAllowed ? "true" : null);
    return isAllowed;
}

/**
 * True if a message may disturb a user, by what they have set for its room.
 *
 * @param {RoomSummary} room
 * @param {Message} message
 * @param {string} me
 */
function mayDisturb({ notify }, { mentions, mentions_room: mentionsRoom, silent }, me) {
    if (silent) return false;
    if (!notify) return true;
    const level = notify.until && new Date(notify.until) <= new Date() ? "all" : notify.level;
    return level === "all" || (level === "mentions" && (mentions?.includes(me) || (mentionsRoom === true && notify.room_mentions)) === true);
}

/** Tells the newest message of each room while the page is not in front of the user. */
export class Notifications {
    #me;
    #titleOf;
    #isBlocked;
    #open;
    /** @type {Map<string, number> | null} The newest message of each room that was seen; null until the list is complete. */
    #seen = null;
    /** @type {Map<string, Notification>} */
    #shown = new Map();
    /** @type {(() => void) | null} Ends the lock. */
    #leaveFront = null;
    #abort = new AbortController();

    /**
     * @param {string} me
     * @param {object} app
     * @param {(room: RoomSummary) => string} app.titleOf
     * @param {(user: string) => boolean} app.isBlocked
     * @param {(room: string) => void} app.open Shows a room.
     */
    constructor(me, { titleOf, isBlocked, open }) {
        this.#me = me;
        this.#titleOf = titleOf;
        this.#isBlocked = isBlocked;
        this.#open = open;
        const { signal } = this.#abort;
        for (const type of ["focus", "blur"]) window.addEventListener(type, () => this.#noteFront(), { signal });
        document.addEventListener("visibilitychange", () => this.#noteFront(), { signal });
        this.#noteFront();
    }

    close() {
        this.#abort.abort();
        this.#leaveFront?.();
        for (const notification of this.#shown.values()) notification.close();
        showBadge(0);
    }

    get #isInFront() {
        return !document.hidden && document.hasFocus();
    }

    #noteFront() {
        if (this.#isInFront === (this.#leaveFront !== null) || !navigator.locks) return;
        this.#leaveFront?.();
        this.#leaveFront = null;
        if (!this.#isInFront || this.#abort.signal.aborted) return;
        navigator.locks.request(FRONT, { mode: "shared" }, () => new Promise((resolve) => {
            this.#leaveFront = () => resolve(null);
            this.#noteFront();
        }));
    }

    /**
     * Takes the list of rooms after a change.
     *
     * @param {import("./client/index.js").RoomsView} view
     */
    take({ rooms, isLive }) {
        const before = this.#seen;
        if (!before && !isLive) return;
        this.#seen = new Map(rooms.map(({ room, head }) => [room, head]));
        for (const room of rooms) {
            if (!room.unread) this.#shown.get(room.room)?.close();
            const message = room.last_message;
            if (before && message && message.seq > (before.get(room.room) ?? 0) && room.unread) this.#tell(room, message);
        }
    }

    /**
     * @param {RoomSummary} room
     * @param {Message} message
     */
    async #tell(room, message) {
        const { sender } = message;
        if (!isNotified(this.#me) || sender === this.#me || message.deleted || this.#isBlocked(sender) || !mayDisturb(room, message, this.#me)) return;
        const { held } = (await navigator.locks?.query()) ?? {};
        if (this.#isInFront || held?.some(({ name }) => name === FRONT)) return;
        const words = summary(message);
        const options = { body: room.direct ? words : `${nameOf(sender)}: ${words}`, tag: `${this.#me}/${room.room}`, icon: ICON, data: room.room };
        const title = this.#titleOf(room);
        try {
            const notification = new Notification(title, options);
            notification.onclick = () => {
                window.focus();
                notification.close();
                this.#open(room.room);
            };
            notification.onclose = () => this.#shown.get(room.room) === notification && this.#shown.delete(room.room);
            this.#shown.set(room.room, notification);
        } catch {
            // Phones let only service workers notify. The worker tells the page which one is chosen.
            const registration = await navigator.serviceWorker?.getRegistration("/");
            await registration?.showNotification(title, options);
        }
    }
}

/**
 * Shows a number on the icon of the installed app, where there is one.
 *
 * @param {number} unread
 */
export function showBadge(unread) {
    const shown = unread ? navigator.setAppBadge?.(unread) : navigator.clearAppBadge?.();
    // A page that is not installed may be refused.
    shown?.catch(() => {});
}
