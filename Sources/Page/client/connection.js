/**
 * The one socket of a client, and the subscriptions of its rooms and of the list of rooms on it (docs/live.md).
 *
 * @module connection
 */

import { after, stop } from "./defaults.js";
import { asClientError, ClientError } from "./errors.js";
import { Observers } from "./observers.js";
import { LONGEST_PAUSE, pauseAfter } from "./requests.js";
import { Socket } from "./socket.js";

/**
 * @typedef {import("./types.js").Frame} Frame
 *
 * @typedef {object} Subscriber A room with a screen.
 * @property {string} id
 * @property {() => void} connected The server has accepted the subscription.
 * @property {() => void} disconnected
 * @property {(frame: Frame) => void} take
 * @property {(error: ClientError) => void} end The room cannot be read any more.
 *
 * @typedef {object} Follower The list of the user's rooms.
 * @property {() => void} willConnect Called before the client subscribes to the rooms.
 * @property {() => void} connected
 * @property {() => void} disconnected
 * @property {() => void} connectionFailed
 * @property {(frame: Frame, since: number | null) => void} take `since` is the position of a room's own subscription.
 * @property {(error: ClientError) => void} end
 * @property {(room: string) => boolean} wants True if the list needs a room's changes, also without a screen.
 * @property {() => string[]} others The rooms that the list needs and `mine` does not have.
 * @property {(isOpen: (room: string) => boolean) => string | null} oldest A room whose changes matter least; null if there is none.
 *
 * @typedef {object} Marks Two marks in the sequence of the server's frames: one after all frames of an earlier subscription, and one
 *   after the answer that refuses the request. To set a mark, the client unsubscribes from a room that does not exist. The server
 *   answers with an error that names the room.
 * @property {string} first
 * @property {string} last
 * @property {boolean} isBetween
 * @property {Frame[]} frames The room's frames between the marks. They belong to the subscription unless it is refused.
 *
 * @typedef {object} Subscription
 * @property {Subscriber} room
 * @property {number} since
 * @property {string} epoch
 * @property {"wanted" | "requested" | "subscribed"} phase
 * @property {boolean} isReplaying True until `live`.
 * @property {number | null} replayed The revision of the replay's latest message.
 * @property {boolean} isResuming True while the rest of a replay that was cut off is requested. The room has not heard of the cut.
 * @property {Marks | null} marks Null if no other subscription to the room can be on its way.
 */

/** Maximum random delay before the first attempt after a lost connection, in milliseconds. It spreads the clients of a server. */
const JITTER_MILLISECONDS = 1000;
/** Time for which the socket stays open after the last room was closed, in milliseconds. */
const LINGER_MILLISECONDS = 5000;
/** Time before a token's expiry at which the client asks for another, in milliseconds; of short-lived ones a quarter of the rest. */
const RENEWAL_MILLISECONDS = 60000;
/** The longest time that a timer can take, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** The prefix of the room ids in marks. */
const MARK = "backscroll.mark.";
/** Errors after which a subscription may be requested again. */
const TEMPORARY = new Set(["unavailable", "overloaded", "rate_limited", "internal_error"]);
/** Errors that leave the subscription as it is. */
const WITHOUT_EFFECT = new Set(["not_subscribed", "unknown_type", "invalid_field"]);
/** The close codes after which another attempt cannot succeed. */
const FINAL = new Set([4400, 4403, 4404]);

/** @param {any} frame An error frame. */
const errorOf = ({ code, message, retry_after: retryAfter }) =>
    new ClientError(code, message ?? "", { status: code.startsWith("token_") ? 401 : TEMPORARY.has(code) ? 503 : 403, retryAfter });

/** @type {import("./types.js").ConnectionView} */
const CLOSED = Object.freeze({ state: "closed", error: null });

export class Connection {
    #host;
    #observers = new Observers();
    /** @type {import("./types.js").ConnectionView} */
    #view = CLOSED;
    /** @type {Map<string, Subscription>} */
    #subscriptions = new Map();
    /** @type {Follower | null} */
    #follower = null;
    /** True once this socket has asked for `mine`, and then also after that has ended. */
    #hasFollowed = false;
    #isFollowing = false;
    /**
     * The rooms that this socket has no space for.
     *
     * @type {Set<string>}
     */
    #givenUp = new Set();
    /** @type {Socket | null} The socket, also while it opens. */
    #socket = null;
    /** True between the request for a token and the socket. */
    #isPreparing = false;
    /**
     * The pause before the next attempt.
     *
     * @type {import("./defaults.js").Timer | null}
     */
    #pause = null;
    /** Attempts since the server last served something. */
    #attempts = 0;
    /** True if the next attempt needs no pause. */
    #isHurried = true;
    /** The time before which the server wants no further attempt. */
    #notBefore = 0;
    /** @type {import("./defaults.js").Timer | null} */
    #lingering = null;
    /** @type {import("./defaults.js").Timer | null} */
    #renewing = null;
    /**
     * The error of the last frame, if that was an error of the whole socket.
     *
     * @type {ClientError | null}
     */
    #lastError = null;
    #marks = 0;
    #isInBackground = false;
    #isClosed = false;

    /**
     * @param {object} host
     * @param {(token: string | null) => import("./types.js").WebSocketLike} host.open Opens a socket.
     * @param {import("./requests.js").Identity} host.identity
     * @param {() => void} host.silent A connection was found dead.
     * @param {(user: string, isBlocked: boolean) => void} host.blocked The user has blocked another one, or has ended that.
     * @param {() => void} host.reached The server has answered after a lost connection.
     */
    constructor(host) {
        this.#host = host;
    }

    /** @returns {import("./types.js").ConnectionView} The same object until it changes. */
    get view() {
        return this.#view;
    }

    /**
     * Calls a function after each change of the view.
     *
     * @param {() => void} listener
     * @returns {import("./types.js").Unsubscribe}
     */
    subscribe(listener) {
        return this.#observers.add(listener);
    }

    /**
     * Notes the result of a request: null, or the error of a refused user.
     *
     * @template {ClientError | null} Result
     * @param {Result} error
     */
    noteAnswer(error) {
        if (error !== null || this.#view.error?.status === 401) this.#show(this.#view.state, error);
        return error;
    }

    /**
     * @param {import("./types.js").ConnectionView["state"]} state
     * @param {ClientError | null} [error]
     */
    #show(state, error = this.#view.error) {
        if (this.#isClosed || (state === this.#view.state && error === this.#view.error)) return;
        this.#view = Object.freeze({ state, error });
        this.#observers.tell();
    }

    close() {
        this.#show("closed", null);
        this.#isClosed = true;
        this.#socket?.close();
        this.#socket = null;
        for (const timer of [this.#pause, this.#lingering, this.#renewing]) stop(timer);
        this.#subscriptions.clear();
        this.#follower = null;
    }

    // Subscriptions

    /**
     * Subscribes a room from a position on. An earlier subscription of the room ends.
     *
     * @param {Subscriber} room
     * @param {number} since
     * @param {string} epoch
     */
    add(room, since, epoch) {
        if (this.#isClosed) return;
        const known = this.#subscriptions.get(room.id);
        this.#subscriptions.set(room.id, {
            room, since, epoch, phase: "wanted", isReplaying: true, replayed: null, isResuming: false, marks: null,
        });
        if (!this.#socket?.isOpen) return this.#connect();
        this.#request(room.id, this.#hasFollowed || (known !== undefined && known.phase !== "wanted"));
    }

    /**
     * Ends the subscription of a room whose screen is closed. The list goes on with it if it has the room.
     *
     * @param {Subscriber} room
     */
    remove(room) {
        const known = this.#subscriptions.get(room.id);
        if (known?.room !== room) return;
        this.#subscriptions.delete(room.id);
        const isNeeded = this.#isFollowing && this.#follower?.wants(room.id);
        if (known.phase !== "wanted" && !isNeeded) this.send({ type: "unsubscribe", room: room.id });
        // If the room had been unsubscribed from, `mine` does not add it again. If not, the server refuses this, which changes nothing.
        else if (isNeeded) this.send({ type: "subscribe", room: room.id });
        this.#lingerIfIdle();
    }

    /**
     * Subscribes the list to the user's rooms.
     *
     * @param {Follower} follower
     */
    follow(follower) {
        if (this.#isClosed) return;
        this.#follower = follower;
        if (this.#socket?.isOpen) this.#requestOwnRooms();
        else this.#connect();
    }

    /** Ends the subscription of the list. Rooms with screens stay. */
    unfollow() {
        const follower = this.#follower;
        this.#follower = null;
        if (this.#isFollowing && follower) {
            this.send({ type: "unsubscribe", rooms: "mine" });
            for (const room of follower.others()) if (!this.#subscriptions.has(room)) this.send({ type: "unsubscribe", room });
        }
        this.#isFollowing = false;
        this.#lingerIfIdle();
    }

    /**
     * Sends a frame if the socket is open.
     *
     * @param {object} frame
     */
    send(frame) {
        this.#socket?.send(frame);
    }

    /**
     * Tells the others that the user types.
     *
     * @param {string} room
     */
    sendTyping(room) {
        if (this.#subscriptions.get(room)?.phase === "subscribed") this.send({ type: "typing", room });
    }

    /** Finds out if the socket still works, or connects now, because the network or the reader has come back. */
    wake() {
        this.#socket?.wake();
        if (this.#pause === null || this.#notBefore > Date.now()) return;
        stop(this.#pause);
        this.#pause = null;
        this.#attempts = 0;
        this.#isHurried = true;
        this.#connect();
    }

    /** Ends the socket, because the network is gone. Attempts go on. */
    lose() {
        this.#socket?.lose();
    }

    /** @param {boolean} isInBackground */
    setBackground(isInBackground) {
        this.#isInBackground = isInBackground;
        if (isInBackground) this.#socket?.noteBackground();
    }

    /** Notes that the server serves the client, so that the next pause is short. */
    noteServed() {
        this.#attempts = 0;
        this.#notBefore = 0;
        this.#show(this.#socket?.isOpen ? "open" : this.#view.state, null);
    }

    /**
     * @param {string} id
     * @param {boolean} mayHaveAnother True if frames of another subscription to the room may be on their way.
     */
    #request(id, mayHaveAnother) {
        const subscription = this.#subscriptions.get(id);
        if (!subscription) return;
        const { since, epoch } = subscription;
        subscription.phase = "requested";
        subscription.marks = null;
        if (!mayHaveAnother) return this.send({ type: "subscribe", room: id, since, epoch });
        const mark = `${MARK}${++this.#marks}.${Math.random().toString(36).slice(2)}`;
        subscription.marks = { first: `${mark}.1`, last: `${mark}.2`, isBetween: false, frames: [] };
        this.send({ type: "unsubscribe", room: id });
        this.send({ type: "unsubscribe", room: `${mark}.1` });
        this.send({ type: "subscribe", room: id, since, epoch });
        this.send({ type: "unsubscribe", room: `${mark}.2` });
    }

    /** Subscribes to the user's rooms. Rooms with screens must be subscribed to first, so that they get their replay. */
    #requestOwnRooms() {
        if (!this.#follower || this.#isFollowing) return;
        this.#isFollowing = this.#hasFollowed = true;
        this.#follower.willConnect();
        this.send({ type: "subscribe", rooms: "mine" });
        for (const room of this.#follower.others()) if (!this.#subscriptions.has(room)) this.send({ type: "subscribe", room });
        this.#follower.connected();
    }

    // The socket

    get #isNeeded() {
        return !this.#isClosed && (this.#follower !== null || this.#subscriptions.size > 0);
    }

    #connect() {
        if (!this.#isNeeded || this.#socket || this.#isPreparing || this.#pause !== null) return;
        let wait = this.#attempts > 0 ? pauseAfter(this.#attempts) : this.#isHurried ? 0 : Math.random() * JITTER_MILLISECONDS;
        this.#isHurried = false;
        wait = Math.max(wait, this.#notBefore - Date.now());
        if (wait <= 0) return void this.#open();
        this.#show("waiting");
        this.#pause = after(Math.min(wait, LONGEST_TIMER), () => {
            this.#pause = null;
            if (this.#isNeeded) this.#open();
        });
    }

    async #open() {
        this.#attempts++;
        this.#isPreparing = true;
        this.#show("connecting");
        /** @type {string | null} */
        let text = null;
        let opened;
        try {
            // Without tokens, the socket opens in the same turn.
            text = this.#host.identity.hasTokens ? await this.#host.identity.token() : null;
            if (this.#isNeeded) opened = this.#host.open(text);
        } catch (error) {
            this.#isPreparing = false;
            return this.#ended(1006, "", error instanceof ClientError ? error : new ClientError("unreachable", String(error)), null);
        }
        this.#isPreparing = false;
        if (!opened) return this.#show("closed");
        this.#lastError = null;
        this.#hasFollowed = this.#isFollowing = false;
        this.#givenUp.clear();
        this.#socket = new Socket(opened, {
            opened: () => this.#opened(),
            frame: (frame) => this.#take(frame),
            silent: () => this.#host.silent(),
            closed: (code, reason) => this.#ended(code, reason, this.#lastError, text),
            isInBackground: () => this.#isInBackground,
        });
        this.#lingerIfIdle();
    }

    #opened() {
        this.#show("open");
        for (const [id, { phase }] of this.#subscriptions) if (phase === "wanted") this.#request(id, false);
        this.#requestOwnRooms();
        this.#renewLater();
        this.#host.reached();
    }

    /**
     * Handles the end of a socket, or an attempt that has failed (docs/live.md, "Ends").
     *
     * @param {number} code
     * @param {string} reason
     * @param {ClientError | null} lastError
     * @param {string | null} token
     */
    #ended(code, reason, lastError, token) {
        this.#socket = null;
        stop(this.#renewing);
        this.#renewing = null;
        const isRefused = code === 4401 || lastError?.status === 401;
        const error = lastError ?? (reason || isRefused
            ? new ClientError(reason || "token_expired", `The server has closed the socket: ${reason}`, { status: isRefused ? 401 : 0 })
            : null);
        if (error?.retryAfter !== undefined) this.#notBefore = Date.now() + error.retryAfter * 1000;
        if (isRefused && token !== null) this.#host.identity.forget(token);
        const wasFollowing = this.#isFollowing;
        this.#isFollowing = false;
        const ended = [...this.#subscriptions.values()].filter(({ phase }) => phase !== "wanted");
        const isFinal = FINAL.has(code) || error?.code === "banned" || (isRefused && !this.#host.identity.hasTokens);
        if (isFinal) {
            const final = error ?? new ClientError(`closed_${code}`, "The server has closed the socket.", { status: 403 });
            const rooms = [...this.#subscriptions.values()];
            this.#subscriptions.clear();
            this.#show("closed", final);
            for (const { room } of rooms) room.end(final);
            const follower = this.#follower;
            this.#follower = null;
            return follower?.end(final);
        }
        this.#show("waiting", error ?? new ClientError("unreachable", "The connection was lost."));
        if (wasFollowing) this.#follower?.disconnected();
        else this.#follower?.connectionFailed();
        for (const subscription of ended) if (!this.#resume(subscription)) this.#lose(subscription);
        if (ended.length === 0) this.#endResuming();
        this.#connect();
        if (this.#pause === null && !this.#socket && !this.#isPreparing) this.#show("closed");
    }

    /**
     * Tells a room that its subscription has ended. It asks for another one at once, or after a pause.
     *
     * @param {Subscription} subscription
     */
    #lose(subscription) {
        if (this.#subscriptions.get(subscription.room.id) !== subscription) return;
        this.#subscriptions.delete(subscription.room.id);
        subscription.room.disconnected();
    }

    /**
     * Continues a replay that has brought messages on the next socket, without a pause for its failures. Otherwise each part of a
     * long replay on a bad network would wait longer than the one before. Returns false for other ends.
     *
     * @param {Subscription} subscription
     */
    #resume(subscription) {
        const { replayed, since, isReplaying } = subscription;
        if (!isReplaying || replayed === null || replayed <= since) return false;
        Object.assign(subscription, { since: replayed, replayed: null, phase: "wanted", isResuming: true, marks: null });
        this.#attempts = 0;
        return true;
    }

    /** Tells the rooms whose replay cannot be continued now. */
    #endResuming() {
        for (const subscription of [...this.#subscriptions.values()]) if (subscription.isResuming) this.#lose(subscription);
    }

    #lingerIfIdle() {
        stop(this.#lingering);
        this.#lingering = null;
        if (this.#isNeeded || !this.#socket) return;
        this.#lingering = after(LINGER_MILLISECONDS, () => {
            if (this.#isNeeded) return;
            this.#socket?.close();
            this.#socket = null;
            stop(this.#renewing);
            this.#isHurried = true;
            this.#show("closed", null);
        });
    }

    /** Sends another token before the present one expires, so that the socket stays open. */
    #renewLater() {
        const { expiry } = this.#host.identity;
        if (expiry === null) return;
        const left = expiry - Date.now();
        const wait = Math.max(left - RENEWAL_MILLISECONDS, left * 0.75, 1000);
        stop(this.#renewing);
        this.#renewing = after(Math.min(wait, LONGEST_TIMER), async () => {
            try {
                if (wait <= LONGEST_TIMER) this.send({ type: "token", token: await this.#host.identity.renew() });
            } catch (error) {
                // The socket ends with the token. Then the client asks again.
                asClientError(error);
            }
            if (this.#socket) this.#renewLater();
        });
    }

    // Frames

    /** @param {Frame} frame */
    #take(frame) {
        if (frame.type === "block") return this.#host.blocked(frame.user, frame.blocked);
        const room = frame.room ?? (frame.type === "message" ? frame.message?.room : undefined);
        if (frame.type === "error" && room?.startsWith(MARK)) return this.#reach(room);
        this.#lastError = frame.type === "error" && room === undefined ? errorOf(frame) : null;
        const subscription = room === undefined ? undefined : this.#subscriptions.get(room);
        if (this.#isFollowing) this.#follower?.take(frame, subscription && !subscription.marks ? subscription.since : null);
        if (!subscription) {
            if (frame.type === "error") this.#takeForList(frame, room);
        } else if (!subscription.marks) {
            this.#takeFor(subscription, frame);
        } else if (subscription.marks.isBetween) {
            if (frame.type === "error" && frame.code === "already_subscribed") this.#request(subscription.room.id, true);
            else subscription.marks.frames.push(frame);
        }
    }

    /**
     * Handles the server's answer to a mark. At the last one of a room its request is known to be accepted.
     *
     * @param {string} mark
     */
    #reach(mark) {
        for (const subscription of this.#subscriptions.values()) {
            const { marks } = subscription;
            if (marks?.first === mark) marks.isBetween = true;
            if (marks?.last !== mark) continue;
            subscription.marks = null;
            for (const frame of marks.frames) {
                // The room may have asked for another subscription meanwhile, to which these do not belong.
                if (this.#subscriptions.get(subscription.room.id) === subscription && !subscription.marks) this.#takeFor(subscription, frame);
            }
            return;
        }
    }

    /**
     * Handles a frame of a room's own subscription.
     *
     * @param {Subscription} subscription
     * @param {Frame} frame
     */
    #takeFor(subscription, frame) {
        const { room } = subscription;
        if (frame.type === "error") return this.#refuse(subscription, frame);
        if (frame.type === "subscribed") {
            const { isResuming } = subscription;
            Object.assign(subscription, { phase: "subscribed", isResuming: false });
            if (!isResuming) room.connected();
        } else if (frame.type === "live") {
            subscription.isReplaying = false;
            this.noteServed();
        } else if (frame.type === "message" && subscription.isReplaying && subscription.phase === "subscribed") {
            subscription.replayed = frame.message.rev;
        }
        // Frames before `subscribed` belong to an earlier subscription of this socket.
        if (subscription.phase === "subscribed") room.take(frame);
    }

    /**
     * Handles an error of one room (docs/live.md, "Many rooms on one socket").
     *
     * @param {Subscription} subscription
     * @param {any} frame
     */
    #refuse(subscription, frame) {
        const { room } = subscription;
        const error = errorOf(frame);
        if (WITHOUT_EFFECT.has(error.code)) return;
        if (error.code === "already_subscribed") return this.#request(room.id, true);
        if (error.code === "too_many_subscriptions" && this.#makeSpace(room.id)) return;
        // A user who may only not write goes on reading. The room finds out.
        if (error.code === "banned" && subscription.phase === "subscribed") return room.take(frame);
        this.#subscriptions.delete(room.id);
        if (error.code === "cursor_unknown") return room.take(frame);
        if (!TEMPORARY.has(error.code)) return room.end(error);
        after((error.retryAfter ?? 0) * 1000, () => {
            if (!this.#subscriptions.has(room.id)) room.disconnected();
        });
    }

    /**
     * Gives up one of the user's rooms, so that the socket has space for a room with a screen. Returns false if there is none.
     *
     * @param {string} id
     */
    #makeSpace(id) {
        const oldest = this.#follower?.oldest((room) => this.#subscriptions.has(room) || this.#givenUp.has(room)) ?? null;
        if (oldest === null) return false;
        this.#givenUp.add(oldest);
        this.send({ type: "unsubscribe", room: oldest });
        this.#request(id, true);
        return true;
    }

    /**
     * Asks again for the user's rooms, or one of them, after a temporary error.
     *
     * @param {any} frame
     * @param {string | undefined} room
     */
    #takeForList(frame, room) {
        if (!this.#isFollowing || !TEMPORARY.has(frame.code)) return;
        const socket = this.#socket;
        after(Math.min(frame.retry_after * 1000 || pauseAfter(1), LONGEST_PAUSE), () => {
            if (this.#socket !== socket || !this.#isFollowing || (room !== undefined && this.#subscriptions.has(room))) return;
            this.send(room === undefined ? { type: "subscribe", rooms: "mine" } : { type: "subscribe", room });
        });
    }
}
