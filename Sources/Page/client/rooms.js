/**
 * The user's rooms, latest activity first, with their unread count and newest message, and the users whom the user blocks. The
 * client's socket keeps both current.
 *
 * @module rooms
 */

import { after, soon, stop } from "./defaults.js";
import { asClientError, ClientError, closedError, ENDS_OF_ACCESS } from "./errors.js";
import { Observers, toldFailure, until } from "./observers.js";
import { listOf, pauseAfter } from "./requests.js";

/**
 * @typedef {import("./types.js").Message} Message
 * @typedef {import("./types.js").RoomSummary} RoomSummary
 * @typedef {import("./types.js").RoomsView} RoomsView
 * @typedef {import("./types.js").Frame} Frame
 *
 * @typedef {RoomSummary & {visited?: number}} ListedRoom With the time at which a user who is no member has visited the room.
 *
 * @typedef {object} Entry
 * @property {ListedRoom} room
 * @property {number} at The time of the latest activity, in milliseconds since 1970. A room without messages has that of the room
 *   below it in the server's list.
 * @property {number} place Its place among those with the same time.
 */

/** Maximum number of rooms to list. */
const MAXIMUM_ROOMS = 1000;
/** Number of rooms in one part of the list. */
const PART = 200;
/** Maximum number of listed rooms that the user has visited without being a member. The oldest visits are dropped first. */
const MAXIMUM_VISITED = 20;
/** Delay before rooms are looked up, in milliseconds, so that a burst of changes causes few requests. */
const LOOK_UP_MILLISECONDS = 250;
/** Delay before the list is stored, in milliseconds. */
const SAVE_MILLISECONDS = 100;
/** Maximum number of messages and settings of a room that are kept while its state is being loaded. */
const KEPT_MESSAGES = 100;
/** The number at which the server stops counting unread messages: it means that many or more. */
const UNREAD_CAP = 1000;

/**
 * True for an open room that the user has visited without being a member. An id that nobody has used looks like an empty one, and
 * is not listed: it may be mistyped.
 *
 * @param {ListedRoom} room
 */
const isVisited = ({ role, visited, head, title }) => !role && visited !== undefined && (head > 0 || title !== undefined);

/** @param {Message | undefined} message */
const timeOf = (message) => (message ? Date.parse(message.created_at) : NaN);

/** @type {RoomsView} */
const EMPTY = Object.freeze({
    rooms: Object.freeze([]), isListed: false, isLive: false, hasMore: false, unread: 0, hasMoreUnread: false, ending: null,
});

export class Rooms {
    #host;
    #observers = new Observers();
    /** @type {RoomsView} */
    #view = EMPTY;
    #isDirty = false;
    #isTelling = false;
    /** @type {Map<string, Entry>} */
    #entries = new Map();
    #me = "";
    /** @type {import("./storage.js").Storage | null} */
    #storage = null;
    /** @type {Promise<void> | null} */
    #starting = null;
    #isListed = false;
    #isConnected = false;
    /** True once the list has been loaded on this socket. */
    #isCurrent = false;
    #hasMore = false;
    /** @type {ClientError | null} */
    #ending = null;
    /** @type {ClientError | null} */
    #failure = null;
    #failures = 0;
    /**
     * Those who wait for the list.
     *
     * @type {Set<() => void>}
     */
    #waiting = new Set();
    /** The number of the list that is being loaded; 0 if none is. */
    #listing = 0;
    #listings = 0;
    /**
     * By room, the revision after which this socket reports every change.
     *
     * @type {Map<string, number>}
     */
    #starts = new Map();
    /**
     * Messages and settings that came while a room's state was being loaded.
     *
     * @type {Map<string, (Message | Frame)[]>}
     */
    #kept = new Map();
    /**
     * The rooms that must be looked up.
     *
     * @type {Set<string>}
     */
    #stale = new Set();
    /**
     * The rooms that are being looked up.
     *
     * @type {Set<string>}
     */
    #lookedUp = new Set();
    /**
     * Rooms of this socket that the user is not a member of.
     *
     * @type {Set<string>}
     */
    #strange = new Set();
    #isLookingUp = false;
    /** @type {Set<import("./defaults.js").Timer>} */
    #timers = new Set();
    /** @type {import("./defaults.js").Timer | null} */
    #saving = null;
    /** @type {import("./connection.js").Follower} */
    #follower;

    /** @param {import("./room.js").RoomHost} host */
    constructor(host) {
        this.#host = host;
        this.#follower = {
            willConnect: () => {
                this.#starts.clear();
                this.#kept.clear();
                this.#strange.clear();
            },
            connected: () => {
                this.#isConnected = true;
                this.#load();
            },
            disconnected: () => {
                this.#isConnected = this.#isCurrent = false;
                this.#changed();
            },
            // Requests may work all the same.
            connectionFailed: () => {
                if (!this.#isListed && this.#listing === 0) this.#load();
            },
            take: (frame, since) => this.#take(frame, since),
            end: (error) => this.#end(error),
            wants: (id) => this.#entries.has(id) || !this.#isCurrent,
            others: () => [...this.#entries.values()].flatMap(({ room }) => (isVisited(room) ? room.room : [])),
            oldest: (isOpen) => this.#sorted().reverse().find(({ room }) => !isOpen(room.room))?.room.room ?? null,
        };
    }

    /**
     * The rooms now: the same object until they change.
     *
     * @returns {RoomsView}
     */
    get view() {
        if (!this.#isDirty) return this.#view;
        this.#isDirty = false;
        const rooms = Object.freeze(this.#sorted().map(({ room }) => room));
        const isUnchanged = rooms.length === this.#view.rooms.length && rooms.every((room, index) => room === this.#view.rooms[index]);
        const next = {
            rooms: isUnchanged ? this.#view.rooms : rooms, isListed: this.#isListed, isLive: this.#isConnected && this.#isCurrent,
            hasMore: this.#hasMore, unread: rooms.reduce((sum, { unread }) => sum + unread, 0),
            hasMoreUnread: rooms.some(({ unread }) => unread >= UNREAD_CAP), ending: this.#ending,
        };
        const names = /** @type {(keyof RoomsView)[]} */ (Object.keys(next));
        if (names.some((name) => next[name] !== this.#view[name])) this.#view = Object.freeze(next);
        return this.#view;
    }

    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener) {
        return this.#observers.add(listener);
    }

    /**
     * Loads the list, and keeps it current. Returns when the stored list, or the first part of the server's, is shown.
     *
     * @returns {Promise<this>}
     * @throws {ClientError} The server's refusal; after a temporary error the list goes on trying.
     */
    async open() {
        if (this.#ending) throw this.#ending;
        this.#failures = 0;
        this.#starting ??= this.#start();
        await until(this.#waiting, () => this.#ending ?? (this.#isListed ? null : toldFailure(this.#failure, this.#failures)));
        return this;
    }

    /** Ends the list. Open rooms stay open. */
    close() {
        this.#end(closedError("list of rooms"));
    }

    /**
     * Returns a listed room.
     *
     * @param {string} id
     * @returns {RoomSummary | undefined}
     */
    get(id) {
        return this.#entries.get(id)?.room;
    }

    // Requests. They work without an open list; an open one shows their effect.

    /**
     * Creates a room.
     *
     * @param {string} id
     * @param {import("./types.js").RoomSettings} [settings]
     * @returns {Promise<RoomSummary>}
     */
    make(id, settings = {}) {
        return this.change(id, settings);
    }

    /**
     * Returns the direct room with another user. It is made if there is none.
     *
     * @param {string} user
     * @returns {Promise<RoomSummary>}
     */
    async direct(user) {
        return this.#takeAnswer(await this.#host.requests.direct(user));
    }

    /**
     * Changes the title or visibility of a room.
     *
     * @param {string} id
     * @param {import("./types.js").RoomSettings} settings
     * @returns {Promise<RoomSummary>}
     */
    async change(id, settings) {
        return this.#takeAnswer(await this.#host.requests.setRoom(id, settings));
    }

    /**
     * Deletes a room.
     *
     * @param {string} id
     */
    async delete(id) {
        await this.#host.requests.deleteRoom(id);
        this.#remove(id);
    }

    /**
     * Loads a room's present state.
     *
     * @param {string} id
     * @returns {Promise<RoomSummary>}
     */
    async summary(id) {
        return this.#takeAnswer(await this.#host.requests.room(id));
    }

    /**
     * Returns the messages that mention the user, or a room that the user is in, newest first.
     *
     * @param {{cursor?: string, limit?: number}} [options]
     * @returns {Promise<{messages: Message[], hasMore: boolean, cursor?: string}>}
     */
    async mentions(options = {}) {
        const { limit = 50, cursor: after } = options;
        const query = { limit, cursor: after };
        const { messages, has_more: hasMore, cursor } = await this.#host.requests.request("GET", "/v1/mentions", listOf("messages", query));
        return { messages, hasMore, cursor };
    }

    /**
     * Moves the read mark from the list; an open room does so by itself.
     *
     * @param {string} id
     * @param {number} seq
     * @returns {Promise<RoomSummary>}
     */
    async markRead(id, seq) {
        return this.#takeAnswer(await this.#host.requests.markRead(id, seq));
    }

    /**
     * @param {string} id
     * @returns {Promise<RoomSummary>}
     */
    async join(id) {
        await this.#host.requests.setMember(id, await this.#host.identity.user(), "member");
        return this.summary(id);
    }

    /** @param {string} id */
    async leave(id) {
        await this.#host.requests.removeMember(id, await this.#host.identity.user());
        this.#remove(id);
    }

    /**
     * Returns members of a room, ordered by id, from one on.
     *
     * @param {string} id
     * @param {{after?: string, profiles?: boolean}} [options] With `profiles`, each has the user's `profile`, if there is one.
     */
    async members(id, options = {}) {
        const { after, profiles } = options;
        const { members, has_more: hasMore } = await this.#host.requests.members(id, { after, profiles: profiles ? "true" : undefined });
        return { members, hasMore };
    }

    /**
     * Adds a user to a room, or changes the role.
     *
     * @param {string} user
     * @param {string} id
     * @param {import("./types.js").Role} [role]
     */
    async add(user, id, role = "member") {
        return this.#host.requests.setMember(id, user, role);
    }

    /**
     * Removes a user from a room.
     *
     * @param {string} user
     * @param {string} id
     */
    async remove(user, id) {
        await this.#host.requests.removeMember(id, user);
        if (user === this.#host.identity.knownUser) this.#remove(id);
    }

    /**
     * Lists an open room although the user is no member, so that the user can return to it.
     *
     * @param {string} id
     * @returns {Promise<RoomSummary>}
     */
    async visit(id) {
        const summary = await this.#host.requests.room(id);
        const known = this.#entries.get(id)?.room;
        /** @type {ListedRoom} */
        const visit = { ...known, ...summary, visited: Date.now() };
        if (this.#starting === null || summary.role || !isVisited(visit)) return this.#takeAnswer(summary);
        this.#put(visit);
        const visits = [...this.#entries.values()].filter(({ room }) => isVisited(room));
        visits.sort((one, other) => (other.room.visited ?? 0) - (one.room.visited ?? 0));
        for (const { room } of visits.slice(MAXIMUM_VISITED)) {
            this.#remove(room.room);
            this.#host.connection.send({ type: "unsubscribe", room: room.room });
        }
        // If the room's screen has a subscription, the server refuses this one, which changes nothing.
        if (!known && this.#isConnected) this.#host.connection.send({ type: "subscribe", room: id });
        this.refresh(id);
        return visit;
    }

    /**
     * Looks a room up soon.
     *
     * @param {string} id
     */
    refresh(id) {
        if (this.#starting === null) return;
        this.#stale.add(id);
        this.#lookUpSoon();
    }

    /**
     * Takes the state of a room from the answer to a request. The client calls it.
     *
     * @param {RoomSummary} summary
     */
    note(summary) {
        if (this.#starting !== null && this.#entries.has(summary.room)) this.#takeAnswer(summary);
    }

    /**
     * Takes the number of unread messages that an open room knew when it was left. The client calls it.
     *
     * @param {string} id
     * @param {number} unread
     */
    noteUnread(id, unread) {
        const entry = this.#entries.get(id);
        if (!entry || entry.room.unread === unread) return;
        entry.room = { ...entry.room, unread };
        this.#changed();
    }

    // Loading

    async #start() {
        let me = this.#host.identity.knownUser;
        while (me === null) {
            try {
                me = await this.#host.identity.user();
            } catch (error) {
                this.#fail(this.#host.connection.noteAnswer(asClientError(error)));
                await this.#sleep(pauseAfter(this.#failures));
            }
            if (this.#ending) return;
        }
        this.#me = me;
        this.#storage = this.#host.storage(me);
        const stored = await this.#storage.rooms();
        if (this.#ending) return;
        for (const room of stored) this.#entries.set(room.room, { room, at: 0, place: 0 });
        this.#rank(stored);
        if (stored.length) this.#isListed = true;
        this.#changed();
        this.#host.connection.follow(this.#follower);
    }

    /**
     * @param {number} milliseconds
     * @returns {Promise<void>}
     */
    #sleep(milliseconds) {
        return new Promise((resolve) => this.#later(milliseconds, resolve));
    }

    /**
     * @param {number} milliseconds
     * @param {() => void} work
     */
    #later(milliseconds, work) {
        const timer = after(milliseconds, () => {
            this.#timers.delete(timer);
            work();
        });
        this.#timers.add(timer);
        return timer;
    }

    /** @param {ClientError} error */
    #fail(error) {
        this.#failure = error;
        this.#failures++;
        this.#changed();
    }

    /**
     * Loads the list, after the client has subscribed to the rooms. In this order no change is missed.
     *
     * @returns {Promise<void>}
     */
    async #load() {
        const number = (this.#listing = ++this.#listings);
        /** @type {RoomSummary[]} */
        const listed = [];
        /** @type {string | undefined} */
        let cursor;
        for (let failures = 0; ; ) {
            try {
                const answer = await this.#host.requests.rooms(PART, cursor);
                if (number !== this.#listing || this.#ending) return;
                failures = this.#failures = 0;
                listed.push(...answer.rooms);
                for (const room of answer.rooms) this.#put(room);
                this.#isListed = true;
                cursor = answer.has_more ? answer.cursor : undefined;
                this.#rank(listed);
                this.#changed();
                if (cursor === undefined || listed.length >= MAXIMUM_ROOMS) break;
            } catch (error) {
                const failure = asClientError(error);
                if (number !== this.#listing || this.#ending) return;
                // The history has changed between two parts.
                if (failure.code === "cursor_unknown") return void this.#load();
                this.#fail(failure);
                if (failure.code === "banned") return this.#end(failure);
                if (!failure.isTemporary) {
                    this.#listing = 0;
                    return;
                }
                await this.#sleep(pauseAfter(++failures, failure));
                if (number !== this.#listing || this.#ending) return;
            }
        }
        this.#listing = 0;
        this.#hasMore = cursor !== undefined;
        this.#isCurrent = this.#isConnected;
        if (this.#isCurrent) this.#host.connection.noteServed();
        const present = new Set(listed.map(({ room }) => room));
        for (const id of new Set([...this.#entries.keys(), ...this.#starts.keys(), ...this.#kept.keys()])) {
            if (present.has(id)) continue;
            const entry = this.#entries.get(id);
            const isNamed = this.#starts.has(id) || this.#kept.has(id) || (entry !== undefined && isVisited(entry.room));
            // Rooms of this socket may have moved to the front meanwhile.
            if (!isNamed) this.#entries.delete(id);
            else if (!this.#strange.has(id)) this.#stale.add(id);
        }
        this.#kept.clear();
        this.#changed();
        this.#lookUpSoon();
    }

    /**
     * Gives rooms the order of the server's list.
     *
     * @param {RoomSummary[]} listed
     */
    #rank(listed) {
        let at = 0;
        for (let place = listed.length - 1; place >= 0; place--) {
            const entry = this.#entries.get(listed[place].room);
            if (!entry) continue;
            const time = timeOf(entry.room.last_message);
            if (!Number.isNaN(time)) at = time;
            Object.assign(entry, { at, place });
        }
    }

    #sorted() {
        return [...this.#entries.values()]
            .filter(({ room }) => room.role || isVisited(room))
            .sort((one, other) => other.at - one.at || one.place - other.place)
            .slice(0, MAXIMUM_ROOMS);
    }

    /**
     * Adds or updates a room from an answer.
     *
     * @param {ListedRoom} answer
     */
    #put(answer) {
        const id = answer.room;
        const known = this.#entries.get(id);
        const isOfEpoch = known?.room.epoch === answer.epoch;
        this.#stale.delete(id);
        /** @type {ListedRoom} */
        let room = { ...answer, visited: answer.visited ?? known?.room.visited };
        if (room.visited === undefined || room.role) delete room.visited;
        if (!room.role && !isVisited(room)) {
            this.#entries.delete(id);
            this.#strange.add(id);
            return;
        }
        this.#strange.delete(id);
        const isAhead = known !== undefined && isOfEpoch && known.room.rev > room.rev;
        if (isAhead) {
            // Frames that are newer than the answer came before it.
            const { title, visibility, role } = room;
            room = { ...known.room, title, visibility, role };
            this.#stale.add(id);
        } else if (!room.last_message && room.head > 0 && isOfEpoch && known?.room.last_message) {
            room.last_message = known.room.last_message;
        }
        const entry = { room, at: known?.at ?? 0, place: known?.place ?? 0 };
        const time = timeOf(room.last_message);
        if (!Number.isNaN(time) && time !== entry.at) Object.assign(entry, { at: time, place: 0 });
        else if (!known && Number.isNaN(time)) {
            // A new room comes first. If this device's clock is wrong, the next list corrects its place.
            entry.at = Math.max(Date.now(), ...[...this.#entries.values()].map(({ at }) => at + 1));
        }
        this.#entries.set(id, entry);
        for (const message of this.#kept.get(id) ?? []) this.#apply(id, message);
        if ((this.#starts.get(id) ?? 0) > room.rev) this.#stale.add(id);
    }

    /**
     * @template {RoomSummary} T
     * @param {T} summary
     * @returns {T}
     */
    #takeAnswer(summary) {
        if (this.#starting === null || this.#ending) return summary;
        this.#put(summary);
        const listed = this.#entries.get(summary.room)?.room;
        if (listed && listed.head > 0 && listed.last_message?.seq !== listed.head) this.#stale.add(summary.room);
        this.#changed();
        this.#lookUpSoon();
        return summary;
    }

    /** @param {string} id */
    #remove(id) {
        for (const rooms of [this.#entries, this.#kept, this.#starts]) rooms.delete(id);
        this.#stale.delete(id);
        this.#changed();
    }

    // Frames

    /**
     * @param {Frame} frame
     * @param {number | null} since
     */
    #take(frame, since) {
        if (this.#ending) return;
        if (frame.type === "subscribed") {
            const start = since ?? frame.rev ?? 0;
            this.#starts.set(frame.room, start);
            const known = this.#entries.get(frame.room)?.room;
            if (known && known.epoch !== frame.epoch) {
                // Another history has other rooms.
                if (this.#listing === 0) this.#load();
                return;
            }
            if (!known) {
                if (this.#listing === 0 && !this.#strange.has(frame.room)) this.#stale.add(frame.room);
            } else if (start > known.rev) this.#stale.add(frame.room);
        } else if (frame.type === "message") {
            this.#takeMessage(frame.message);
        } else if (frame.type === "notify") {
            this.#keep(frame.room, frame);
            this.#apply(frame.room, frame);
        } else if (frame.type === "read" && frame.user === this.#me) {
            this.#takeRead(frame.room, frame.seq);
        } else if (frame.type === "error" && frame.room !== undefined) {
            // A user who may only not write keeps the room.
            if (frame.code === "banned") this.#stale.add(frame.room);
            else if (ENDS_OF_ACCESS.has(frame.code)) this.#remove(frame.room);
        } else {
            return;
        }
        this.#changed();
        this.#lookUpSoon();
    }

    /** @param {Message} message */
    #takeMessage(message) {
        const id = message.room;
        if (id === undefined) return;
        this.#keep(id, message);
        if (this.#entries.has(id)) this.#apply(id, message);
        // The first message in a new room makes its sender the owner.
        else if (this.#listing === 0 && !this.#lookedUp.has(id) && (!this.#strange.has(id) || message.sender === this.#me)) this.#stale.add(id);
    }

    /**
     * Keeps what comes while the room's state is being loaded.
     *
     * @param {string} id
     * @param {Message | Frame} change
     */
    #keep(id, change) {
        if (this.#listing === 0 && !this.#lookedUp.has(id)) return;
        const kept = this.#kept.get(id) ?? [];
        if (kept.length < KEPT_MESSAGES) this.#kept.set(id, [...kept, change]);
        else this.#stale.add(id);
    }

    /**
     * @param {string} id
     * @param {any} message A message, or the frame with what may disturb the user.
     */
    #apply(id, message) {
        const entry = this.#entries.get(id);
        if (!entry) return;
        if (message.type) {
            const { level, until, room_mentions } = message;
            entry.room = { ...entry.room, notify: { level, until, room_mentions } };
            return;
        }
        if (message.rev <= entry.room.rev) return;
        const room = { ...entry.room };
        // A replay and a slow socket leave out changes that a later one includes; a deletion may be among them.
        if (message.rev > room.rev + 1) this.#stale.add(id);
        room.rev = message.rev;
        const isUnread = message.sender !== this.#me && message.seq > room.read;
        const isMention = message.mentions_room || message.mentions?.includes(this.#me);
        if (message.seq > room.head) {
            room.head = message.seq;
            if (isUnread && !message.deleted) {
                room.unread = Math.min(room.unread + 1, UNREAD_CAP);
                room.first_unread ??= message.seq;
                const { blocks } = this.#host;
                // If the blocked users are not known, only the server can count it.
                if (isMention && !blocks.isKnown) this.#stale.add(id);
                else if (isMention && !blocks.view.has(message.sender)) {
                    room.unread_mentions = Math.min((room.unread_mentions ?? 0) + 1, UNREAD_CAP);
                    room.first_unread_mention ??= message.seq;
                }
            }
        } else if (isUnread && (message.deleted || (message.edited_at && (isMention || room.unread_mentions)))) {
            // It was counted, unless it had been deleted before. An edit may have made it a mention, or have ended it.
            this.#stale.add(id);
        }
        if (message.seq >= (room.last_message?.seq ?? 0)) {
            room.last_message = message;
            Object.assign(entry, { at: timeOf(message), place: 0 });
        }
        entry.room = room;
    }

    /**
     * @param {string} id
     * @param {number} seq
     */
    #takeRead(id, seq) {
        const entry = this.#entries.get(id);
        if (!entry || seq <= entry.room.read) return;
        const room = { ...entry.room, read: seq };
        if (seq >= room.head) {
            room.unread = room.unread_mentions = 0;
            delete room.first_unread;
            delete room.first_unread_mention;
        } else if (room.first_unread !== undefined && seq >= room.first_unread) {
            this.#stale.add(id);
        }
        entry.room = room;
    }

    // Looking up rooms

    #lookUpSoon() {
        if (this.#isLookingUp || this.#listing !== 0 || this.#ending || !this.#stale.size) return;
        this.#isLookingUp = true;
        this.#later(LOOK_UP_MILLISECONDS, () => this.#lookUpStale());
    }

    async #lookUpStale() {
        let pause = 0;
        while (pause === 0 && this.#listing === 0 && !this.#ending && this.#stale.size) {
            const [id] = this.#stale;
            const error = await this.#lookUp(id);
            if (error) pause = pauseAfter(++this.#failures, error);
        }
        if (this.#ending) return;
        this.#later(pause, () => {
            this.#isLookingUp = false;
            this.#lookUpSoon();
        });
    }

    /**
     * Loads a room's state, and its newest message if it is not known. Returns the error if it is temporary.
     *
     * @param {string} id
     */
    async #lookUp(id) {
        this.#stale.delete(id);
        this.#lookedUp.add(id);
        try {
            const summary = await this.#host.requests.room(id);
            const known = this.#entries.get(id)?.room;
            const isKnown = known?.epoch === summary.epoch && (known.last_message?.seq ?? 0) >= summary.head;
            const isListed = summary.role !== undefined || known?.visited !== undefined;
            const newest = isKnown || !isListed || !summary.head ? undefined : (await this.#host.requests.page(id, { limit: 1 })).messages.at(-1);
            this.#failures = 0;
            this.#lookedUp.delete(id);
            const message = newest && newest.seq >= summary.head ? newest : known?.epoch === summary.epoch ? known.last_message : undefined;
            this.#put(message ? { ...summary, last_message: message } : summary);
            this.#kept.delete(id);
            // If the socket has a subscription already, the server refuses this one, which changes nothing.
            if (!known && this.#entries.has(id) && this.#isConnected) this.#host.connection.send({ type: "subscribe", room: id });
        } catch (error) {
            const failure = asClientError(error);
            this.#lookedUp.delete(id);
            if (failure.code === "closed") return null;
            if (failure.isTemporary) {
                this.#stale.add(id);
                return failure;
            }
            this.#remove(id);
        }
        this.#changed();
        return null;
    }

    // The view

    /** @param {ClientError} error */
    #end(error) {
        if (this.#ending) return;
        this.#ending = error;
        for (const timer of this.#timers) stop(timer);
        this.#host.connection.unfollow();
        this.#save();
        this.#changed();
    }

    #changed() {
        this.#isDirty = true;
        if (this.#storage && !this.#ending) this.#saving ??= after(SAVE_MILLISECONDS, () => this.#save());
        if (this.#isTelling) return;
        this.#isTelling = true;
        const before = this.#view;
        soon(() => {
            this.#isTelling = false;
            for (const look of [...this.#waiting]) look();
            if (this.view !== before) this.#observers.tell();
        });
    }

    #save() {
        stop(this.#saving);
        this.#saving = null;
        if (this.#isListed) this.#storage?.saveRooms(this.#sorted().map(({ room }) => room));
    }
}

/** The users whom the user blocks, the same on all devices. */
export class Blocks {
    #requests;
    #observers = new Observers();
    /** @type {ReadonlySet<string>} */
    #view = new Set();
    #isOpen = false;
    /** True once all blocked users have been loaded. Until then the view has only those that this client was told of. */
    isKnown = false;
    /** Number of changes that were told, so that a list that was read before one is read again. */
    #changes = 0;

    /** @param {import("./requests.js").Requests} requests */
    constructor(requests) {
        this.#requests = requests;
    }

    /**
     * The blocked users now: the same set until it changes.
     *
     * @returns {ReadonlySet<string>}
     */
    get view() {
        return this.#view;
    }

    /**
     * Calls a function after each change, until the returned function is called.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener) {
        return this.#observers.add(listener);
    }

    /**
     * Loads the blocked users, and keeps them current while the list of rooms is open.
     *
     * @returns {Promise<this>}
     */
    async open() {
        this.#isOpen = true;
        for (;;) {
            const changes = this.#changes;
            const users = new Set();
            let answer, last;
            do {
                answer = await this.#requests.blocks(last);
                for (const { user } of answer.blocks) users.add((last = user));
            } while (answer.has_more);
            if (changes !== this.#changes) continue;
            this.isKnown = true;
            this.#show(users);
            return this;
        }
    }

    /**
     * Blocks a user: direct messages end, and the app folds the user's other messages.
     *
     * @param {string} user
     */
    async block(user) {
        await this.#requests.setBlock(user, true);
        this.note(user, true);
    }

    /**
     * Ends a block.
     *
     * @param {string} user
     */
    async unblock(user) {
        await this.#requests.setBlock(user, false);
        this.note(user, false);
    }

    /**
     * Takes a change that the server has told. The client calls it.
     *
     * @param {string} user
     * @param {boolean} isBlocked
     */
    note(user, isBlocked) {
        this.#changes++;
        const users = new Set(this.#view);
        if (isBlocked) users.add(user);
        else users.delete(user);
        this.#show(users);
    }

    /** Loads the blocked users again, because changes may have been missed. The client calls it. */
    renew() {
        if (this.#isOpen) this.open().catch(() => {});
    }

    /** @param {Set<string>} users */
    #show(users) {
        // A view that is not known may lack a user whose block has ended.
        if (this.isKnown && users.size === this.#view.size && [...users].every((user) => this.#view.has(user))) return;
        this.#view = users;
        this.#observers.tell();
    }
}
