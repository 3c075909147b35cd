/**
 * The user's rooms, latest activity first, with their unread count and newest message. A socket with `mine` keeps them current.
 *
 * @module inbox
 */

import { RequestError } from "./api.js";
import { Socket } from "./socket.js";

/** Maximum number of rooms to list. */
const MAXIMUM_ROOMS = 500;
/** Pauses before the next attempt to connect, in milliseconds. They double each time, and have a random part. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30000;
/** Maximum number of listed rooms that the user has visited without being a member. The oldest visits are dropped first. */
const MAXIMUM_VISITED = 20;
/** Delay before rooms are looked up, in milliseconds, so that a burst of messages causes one request. */
const REFRESH_MILLISECONDS = 250;
/** Delay before the changed list is drawn, in milliseconds, so that a burst of messages is drawn once. */
const CHANGE_MILLISECONDS = 30;

/** Delay before the list is loaded again after a failure, in milliseconds. */
const RELOAD_MILLISECONDS = 5000;
/** The number at which the server stops counting unread messages. */
const UNREAD_CAP = 1000;

/**
 * True for an open room that the user has visited without being a member. An id that nobody has used looks like an empty one, and
 * is not listed: it may be mistyped.
 */
const isVisited = ({ role, visited, head, title }) => !role && visited !== undefined && (head > 0 || title !== undefined);

export class Inbox {
    #api;
    #store;
    #onChange;
    #onToken;
    #onConnect;
    /** @type {Map<string, object>} The rooms by id, as `GET /v1/rooms` returns them. */
    #rooms = new Map();
    #socket = null;
    #pause = FIRST_PAUSE;
    #timer = 0;
    #stale = new Set();
    /** @type {Set<string> | null} The rooms that the socket has named while the list is being loaded, which may have them. */
    #named = null;
    #reloading = 0;
    #refreshing = 0;
    #changing = 0;
    #isClosed = false;

    /**
     * @param {import("./api.js").API} api
     * @param {import("./store.js").Store} store
     * @param {{onChange: (rooms: object[]) => void, onToken: () => void, onConnect: () => void}} app `onChange` is called with
     *   the rooms, latest activity first; `onToken` when a new token is needed; `onConnect` when the server is reached.
     */
    constructor(api, store, { onChange, onToken, onConnect }) {
        this.#api = api;
        this.#store = store;
        this.#onChange = onChange;
        this.#onToken = onToken;
        this.#onConnect = onConnect;
    }

    async open() {
        const kept = await this.#store.rooms();
        if (this.#isClosed) return;
        for (const room of kept) this.#rooms.set(room.room, room);
        if (this.#rooms.size) this.#tellChange();
        this.#connect();
    }

    close() {
        this.#socket?.close();
        clearTimeout(this.#timer);
        clearTimeout(this.#refreshing);
        clearTimeout(this.#changing);
        clearTimeout(this.#reloading);
        this.#isClosed = true;
    }

    get(room) {
        return this.#rooms.get(room);
    }

    /** Connects now if it is waiting for its next attempt, because the network or the user has come back. */
    wake() {
        this.#socket?.wake();
        if (!this.#timer) return;
        clearTimeout(this.#timer);
        this.#timer = 0;
        this.#pause = FIRST_PAUSE;
        this.#connect();
    }

    /** Requests a room's state soon: its unread count, or the room itself, may have changed. */
    refresh(room) {
        this.#stale.add(room);
        this.#refreshing ||= setTimeout(() => this.#refreshStale(), REFRESH_MILLISECONDS);
    }

    /** Takes the number of unread messages that the open room knew when it was left. The list hears of it some time later. */
    noteUnread(id, unread) {
        const room = this.#rooms.get(id);
        if (!room || room.unread === unread) return;
        room.unread = unread;
        this.#changed();
    }

    /** Lists an open room although the user is no member, so that the user can return to it. */
    visit(summary) {
        const known = this.#rooms.get(summary.room);
        const visit = { ...known, ...summary, visited: Date.now() };
        if (!isVisited(visit)) return;
        this.#rooms.set(summary.room, visit);
        const visited = [...this.#rooms.values()].filter(isVisited).sort((one, other) => other.visited - one.visited);
        for (const { room } of visited.slice(MAXIMUM_VISITED)) {
            this.#rooms.delete(room);
            this.#socket?.send({ type: "unsubscribe", room });
        }
        if (!known) this.#socket?.send({ type: "subscribe", room: summary.room });
        this.refresh(summary.room);
    }

    /** Connects. It subscribes before it loads the list, so that no message is missed in between. */
    #connect() {
        this.#socket = new Socket(this.#api.socket("/v1/live"), {
            opened: () => {
                this.#pause = FIRST_PAUSE;
                this.#socket.send({ type: "subscribe", rooms: "mine" });
                // `mine` only has rooms that the user is a member of.
                for (const { room } of [...this.#rooms.values()].filter(isVisited)) this.#socket.send({ type: "subscribe", room });
                this.#named = new Set();
                this.#load();
                this.#onConnect();
            },
            frame: (frame) => this.#take(frame),
            silent: () => this.#api.renewConnections(),
            closed: (code) => {
                if (code === 4401) return this.#onToken();
                this.#timer = setTimeout(() => {
                    this.#timer = 0;
                    this.#connect();
                }, this.#pause * (0.5 + Math.random()));
                this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
            },
        });
    }

    async #load() {
        const rooms = new Map();
        clearTimeout(this.#reloading);
        this.#named ??= new Set();
        let isWhole = true;
        try {
            let cursor;
            do {
                const answer = await this.#api.rooms(cursor);
                for (const room of answer.rooms) rooms.set(room.room, room);
                cursor = answer.has_more ? answer.cursor : undefined;
            } while (cursor && rooms.size < MAXIMUM_ROOMS);
            isWhole = cursor === undefined;
        } catch (error) {
            if (!(error instanceof RequestError)) throw error;
            if (error.status === 401) this.#onToken();
            else if (!this.#isClosed) this.#reloading = setTimeout(() => this.#load(), RELOAD_MILLISECONDS);
            return;
        }
        if (this.#isClosed) return;
        // Rooms beyond the end of a long list are not listed.
        if (isWhole) for (const id of this.#named ?? []) if (!rooms.has(id)) this.refresh(id);
        this.#named = null;
        // A frame that came meanwhile is newer.
        for (const [id, room] of this.#rooms) {
            const loaded = rooms.get(id);
            if (loaded && loaded.epoch === room.epoch && loaded.rev < room.rev) rooms.set(id, room);
            if (!loaded && isVisited(room)) {
                rooms.set(id, room);
                this.refresh(id);
            }
        }
        this.#rooms = rooms;
        this.#changed();
    }

    #take(frame) {
        if (frame.type === "message") {
            const { message } = frame;
            const room = this.#rooms.get(message.room);
            if (!room) return this.refresh(message.room);
            if (message.rev <= room.rev) return;
            room.rev = message.rev;
            if (message.seq >= (room.last_message?.seq ?? 0)) room.last_message = message;
            if (message.seq > room.head) {
                room.head = message.seq;
                if (message.sender !== this.#api.user) room.unread = Math.min(room.unread + 1, UNREAD_CAP);
            }
            this.#changed();
            // The server knows how an edit or a deletion changes the unread count.
            this.refresh(message.room);
        } else if (frame.type === "read" && frame.user === this.#api.user) {
            this.refresh(frame.room);
        } else if (frame.type === "subscribed" && !this.#rooms.has(frame.room)) {
            if (this.#named) this.#named.add(frame.room);
            else this.refresh(frame.room);
        } else if (frame.type === "error") {
            if (frame.code.startsWith("token_")) return this.#onToken();
            const isOver = ["not_a_member", "room_not_found", "room_not_allowed", "room_deleted", "banned"].includes(frame.code);
            if (isOver && this.#rooms.delete(frame.room)) this.#changed();
        }
    }

    async #refreshStale() {
        const rooms = [...this.#stale];
        this.#stale.clear();
        this.#refreshing = 0;
        if (this.#isClosed) return;
        for (const id of rooms) {
            try {
                const known = this.#rooms.get(id);
                const summary = await this.#api.room(id);
                if (known && summary.epoch === known.epoch && summary.rev < known.rev) continue;
                const isCurrent = known?.last_message?.seq === summary.head;
                const lastMessage = isCurrent || !summary.head
                    ? known?.last_message : (await this.#api.page(id, { limit: 1 })).messages.at(-1);
                this.#rooms.set(id, { ...known, role: undefined, ...summary, last_message: lastMessage });
            } catch (error) {
                if (error instanceof RequestError && [403, 404, 410].includes(error.status)) this.#rooms.delete(id);
            }
        }
        this.#changed();
    }

    /** Draws and stores the list soon. */
    #changed() {
        if (!this.#isClosed) this.#changing ||= setTimeout(() => this.#tellChange(), CHANGE_MILLISECONDS);
    }

    #tellChange() {
        this.#changing = 0;
        const time = (room) => room.last_message?.created_at ?? "9";
        const rooms = [...this.#rooms.values()].filter((room) => room.role || isVisited(room)).sort((one, other) => (time(one) < time(other) ? 1 : -1));
        this.#store.saveRooms(rooms.slice(0, MAXIMUM_ROOMS));
        this.#onChange(rooms);
    }
}
